"""What people have in place of a model, and what they are told about it."""

from __future__ import annotations

import os
import re
import socket
import struct
from pathlib import Path

import gguf_bytes as g
import pytest

from mtpdoctor.gguf import Cause, GGUFError, read

GGUF = bytes(g.small().raw)


def refusal(path: Path | str) -> GGUFError:
    with pytest.raises(GGUFError) as caught:
        read(path)
    return caught.value


@pytest.mark.parametrize(
    ("cause", "content", "says", "hint"),
    [
        (Cause.EMPTY, b"", "the file is empty", "complete the download"),
        (Cause.HTML, b"\xef\xbb\xbf\r\n<!DOCTYPE html><html>", "a web page (HTML)", "/resolve/"),
        (Cause.HTML, b"<!-- x --><HTML lang=en>", "a web page (HTML)", "hf download"),
        (Cause.JSON, b'{"error":"Repository not found"}', "“Repository not found”", "hf download"),
        (Cause.JSON, b'{"model_type": "gemma4"}', "this is JSON, not a model", "hf download"),
        (Cause.JSON, b"[" * 5000, "this is JSON, not a model", "hf download"),
        (Cause.TEXT, b"Entry not found", "answer in place of a model: “Entry not found”", "hf"),
        (Cause.TEXT, b"token = hf_secret\n", "this is a text file, not a model (at", "hf"),
        (
            Cause.LFS_POINTER,
            b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 4977169088\n",
            "a Git LFS pointer, a note of a few lines that stands for the model of 4,977,169,088",
            "git lfs pull",
        ),
        (
            Cause.SAFETENSORS,
            struct.pack("<Q", 20) + b'{"__metadata__":{}}   ' + bytes(9),
            "this is a safetensors file",
            "convert_hf_to_gguf.py",
        ),
        (Cause.PYTORCH, b"PK\x03\x04" + bytes(26) + b"archive/data.pkl", "PyTorch", "GGUF"),
        (Cause.PYTORCH, b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "PyTorch", "GGUF"),
        (Cause.ZIP, b"PK\x03\x04" + bytes(40), "a zip archive", "unpack it"),
        (Cause.COMPRESSED, b"\x1f\x8b\x08" + bytes(40), "compressed with gzip", "unpack it"),
        (Cause.COMPRESSED, b"\x28\xb5\x2f\xfd" + bytes(40), "compressed with zstd", "unpack it"),
        (Cause.NOT_GGUF, bytes(9000), "starts with zeros", "complete the download"),
        (Cause.NOT_GGUF, b"\x7fELF\2\1\1" + bytes(9), "7f 45 4c 46, not 47 47 55 46", "hf"),
        (Cause.UNSUPPORTED_VERSION, b"tjgg\3\0\0\0", "this is GGJT", "GGUF conversion"),
        (Cause.UNSUPPORTED_VERSION, b"GGUF\1\0\0\0" + bytes(8), "GGUF version 1 of", "newer"),
        (Cause.UNSUPPORTED_VERSION, b"GGUF\0\0\0\1" + bytes(8), "GGUF version 1 of", "newer"),
        (Cause.UNSUPPORTED_VERSION, b"GGUF\4\0\0\0" + bytes(8), "version 4", "newer mtpdoctor"),
        (Cause.UNSUPPORTED_VERSION, b"GGUF" + bytes(12), "there is 0x0", "damaged"),
        (Cause.TRUNCATED, b"GG", "cut short: 2 bytes are all", "complete the download"),
        (Cause.TRUNCATED, b"GGUF\3\0", "cut short: 6 bytes", "complete the download"),
    ],
)
def test_a_stranger_is_recognised(
    tmp_path: Path, cause: Cause, content: bytes, says: str, hint: str
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    error = refusal(path)

    assert error.cause is cause
    assert error.says.startswith(f"{path}: ")
    assert says in error.says
    assert hint in error.hint


def test_a_secret_in_a_text_file_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_text("token = hf_secret\n")

    assert "hf_secret" not in refusal(path).says


def test_a_quoted_answer_cannot_move_the_cursor(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b'{"error":"a\x1b[2Jb\xe2\x80\xaec"}')

    assert refusal(path).says.replace(str(path), "").isprintable()


def test_a_missing_file(tmp_path: Path) -> None:
    error = refusal(tmp_path / "no.gguf")

    assert error.cause is Cause.MISSING
    assert "there is no such file" in error.says
    assert error.offset is None


def test_a_link_to_nothing_names_what_it_points_to(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.symlink_to("../../blobs/0123abcd")
    error = refusal(path)

    assert error.cause is Cause.MISSING
    assert "a link to ../../blobs/0123abcd, and that file is not there" in error.says


def test_a_link_that_leads_in_a_circle(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.symlink_to(path)

    assert refusal(path).cause is Cause.UNREADABLE


def test_names_that_no_file_can_have() -> None:
    assert refusal("").cause is Cause.MISSING
    assert refusal("a\0b").cause is Cause.UNREADABLE
    assert refusal("x" * 5000).cause is Cause.UNREADABLE


def test_directory_pipe_socket_and_device_are_no_files_and_never_block(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        said = {p: refusal(p) for p in (tmp_path, pipe, tmp_path / "socket", Path("/dev/zero"))}

    assert {error.cause for error in said.values()} == {Cause.NOT_A_FILE}
    for error, kind in zip(
        said.values(), ["directory", "named pipe", "socket", "device"], strict=True
    ):
        assert f"this is a {kind}, not a model file" in error.says


def test_no_permission(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = tmp_path / "model.gguf"
    path.write_bytes(GGUF)
    path.chmod(0)
    error = refusal(path)

    assert error.cause is Cause.PERMISSION
    assert "chmod" in error.hint


def test_permission_is_told_by_its_error_number() -> None:
    from mtpdoctor.gguf.files import _refused

    error = _refused("m.gguf", PermissionError(13, "Permission denied"))

    assert error.cause is Cause.PERMISSION
    assert "not permitted" in error.says


U32_AND_ARRAY: list[g.Pair] = [("k", g.U32, 1), ("a", g.ARR, (g.U32, [1, 2]))]
A: g.Entry = ("a", (5,), 0, 20)
B: g.Entry = ("b", (5,), 0, 20)


@pytest.mark.parametrize(
    ("cause", "image", "says"),
    [
        (Cause.DUPLICATE, g.image([("k", 4, 1), ("k", 4, 2)]), "key 'k' comes twice (at byte 41)"),
        (Cause.DUPLICATE, g.image([], [A, A]), "tensor 'a' comes twice"),
        (Cause.DUPLICATE, g.image([], [("a\0x", (5,), 0, 20), A]), "tensor 'a' comes twice"),
        (Cause.MALFORMED, g.image([("", 4, 1)]), "metadata key 0 has an empty name"),
        (Cause.MALFORMED, g.image([("general.alignment", 4, 0)]), "is 0, and must be a power of"),
        (Cause.MALFORMED, g.image([("general.alignment", 4, 48)]), "is 48, and must be a power of"),
        (Cause.MALFORMED, g.image([("general.alignment", 10, 32)]), "of type u64, and must be u32"),
        (Cause.MALFORMED, g.image([], [("n" * 64, (5,), 0, 20)]), "64 bytes, and ggml allows 63"),
        (Cause.MALFORMED, g.image([], [("t", (1,) * 5, 0, 4)]), "5 dimensions, and ggml allows 4"),
        (Cause.MALFORMED, g.image([], [("t", (33,), 2, 18)]), "rows of 33 elements, and Q4_0"),
        (Cause.ABSURD, g.image([], [("t", (1 << 63,), 0, 4)]), "shape [9223372036854775808]"),
        (Cause.ABSURD, g.image([], [("t", (1 << 32, 1 << 31), 24, 4)]), "claims the shape"),
        (Cause.OVERLAP, g.image([], [A, B], offsets=[0, 0]), "'b' starts inside tensor 'a'"),
        (Cause.MISPLACED, g.image([], [A, B], offsets=[0, 64]), "'b' does not follow tensor 'a'"),
        (Cause.MISPLACED, g.image([], [A], offsets=[32]), "'a' does not follow the header"),
        (Cause.OUT_OF_FILE, g.image([], [A, B], offsets=[0, 1 << 60]), "should start at byte 1,1"),
    ],
)
def test_what_llama_cpp_refuses_is_refused(
    tmp_path: Path, cause: Cause, image: g.Image, says: str
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(image.raw)
    error = refusal(path)

    assert error.cause is cause
    assert says in error.says
    assert error.offset is not None
    assert re.search(r"\(at byte [\d,]+\)$", error.says)


def patched(image: g.Image, kind: str, number: int, nth: int = 0) -> bytes:
    """Return the file with the nth structural place of a kind overwritten."""
    spot = [spot for spot in image.spots if spot.kind == kind][nth]
    raw = bytearray(image.raw)
    raw[spot.at : spot.at + spot.size] = number.to_bytes(spot.size, "little")
    return bytes(raw)


@pytest.mark.parametrize("huge", [1 << 63, (1 << 64) - 1, 1 << 40, 1 << 61])
@pytest.mark.parametrize(
    ("kind", "nth", "says"),
    [
        ("count", 0, "the file claims {:,} tensors"),
        ("count", 1, "the file claims {:,} metadata keys"),
        ("count", 2, "elements of metadata key 'gemma4.attention.sliding_window_pattern'"),
        ("count", 3, "elements of metadata key 'tokenizer.ggml.tokens'"),
        ("key", 0, "metadata key 0 claims a length of {:,} bytes"),
        ("length", 0, "'general.architecture' claims a length of {:,} bytes"),
        ("length", 1, "a string of metadata key 'tokenizer.ggml.tokens' claims a length of {:,}"),
        ("name", 1, "the name of tensor 1 claims a length of {:,} bytes"),
    ],
)
def test_an_absurd_count_is_refused_where_it_stands(
    tmp_path: Path, kind: str, nth: int, says: str, huge: int
) -> None:
    image = g.small()
    path = tmp_path / "model.gguf"
    path.write_bytes(patched(image, kind, huge, nth))
    error = refusal(path)

    assert error.cause is Cause.ABSURD
    assert says.format(huge) in error.says
    assert error.offset == [spot for spot in image.spots if spot.kind == kind][nth].at


@pytest.mark.parametrize("kind", ["type", "tensor type"])
def test_an_unknown_value_type_is_damage_but_an_unknown_tensor_type_is_not(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(patched(g.small(), kind, 99))
    if kind == "type":
        assert refusal(path).cause is Cause.MALFORMED
        assert "'general.architecture' has type 99" in refusal(path).says
    else:
        tensor = read(path).tensors["token_embd.weight"]

        assert tensor.nbytes is None
        assert tensor.type_name == "unknown type 99"


def test_arrays_too_deep_in_arrays(tmp_path: Path) -> None:
    value: tuple[int, list[object]] = (g.U8, [1])
    for _ in range(4):
        value = (g.ARR, [value])
    path = tmp_path / "model.gguf"
    path.write_bytes(g.image([("k", g.ARR, value)]).raw)

    assert refusal(path).cause is Cause.MALFORMED
    assert "more than 4 deep" in refusal(path).says


def test_a_header_without_end_is_refused_before_it_takes_long(tmp_path: Path) -> None:
    """A sparse file of zeros behind a count is all empty strings, as many as one likes."""
    path = tmp_path / "model.gguf"
    image = g.image([("k", g.ARR, (g.STR, []))])
    path.write_bytes(patched(image, "count", 1 << 36, 2))
    os.truncate(path, 1 << 40)

    assert refusal(path).cause is Cause.ABSURD

    path.write_bytes(patched(image, "count", 1 << 24, 2))
    os.truncate(path, 1 << 40)

    assert refusal(path).cause is Cause.ABSURD
    assert "does not end within 128 MiB" in refusal(path).says


@pytest.mark.parametrize("mark", "<>")
def test_cut_anywhere_it_is_an_error_and_nothing_else(tmp_path: Path, mark: str) -> None:
    raw = bytes(g.small(mark).raw)
    path = tmp_path / "model.gguf"
    for length in range(len(raw)):
        path.unlink(missing_ok=True)  # overwriting makes ext4 wait for the disk
        path.write_bytes(raw[:length])
        error = refusal(path)

        assert error.cause is (Cause.TRUNCATED if length else Cause.EMPTY), length
        assert error.offset == (length or None)


@pytest.mark.parametrize("missing", [1, 5, 40])
def test_missing_data_is_counted_to_the_byte(tmp_path: Path, missing: int) -> None:
    raw = bytes(g.image([], [A, B]).raw)
    path = tmp_path / "model.gguf"
    path.write_bytes(raw[:-missing])
    words = "1 byte is missing" if missing == 1 else f"{missing} bytes are missing"
    tensor = "a" if missing == 40 else "b"

    assert f"{len(raw) - missing:,} of {len(raw):,} bytes, {words}" in refusal(path).says
    assert f"from tensor '{tensor}' on" in refusal(path).says
    assert "complete the download" in refusal(path).hint


def test_the_last_tensor_needs_no_padding(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    for pad_last in (False, True):
        path.write_bytes(g.image([], [A, B], pad_last=pad_last).raw)

        assert list(read(path).tensors) == ["a", "b"]


def test_the_causes_in_this_file_are_all_there_are() -> None:
    text = Path(__file__).read_text() + Path(__file__).with_name("test_gguf_split.py").read_text()

    assert {f"Cause.{cause.name}" for cause in Cause} <= set(re.findall(r"Cause\.[A-Z_]+", text))


def test_a_file_that_is_read_is_not_kept_open(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(GGUF)
    before = _open_files()
    header = read(path)
    array = header.metadata["tokenizer.ggml.tokens"]
    del header

    assert array == ["<pad>", "", "▁the", "x" * 40]
    assert _open_files() >= before

    del array

    assert _open_files() == before

    for _ in range(3):
        path.write_bytes(GGUF[:-1])
        refusal(path)

    assert _open_files() == before


def _open_files() -> int:
    """Count regular files that are open; the folder that is listed vanishes while listed."""
    return sum(entry.is_file() for entry in Path("/proc/self/fd").iterdir())
