"""The built-in pair: written once, shared by all, and drafting as asked on a real server."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pairs
import pytest

from mtpdoctor.demo import Pair, write_pair

SERVER = shutil.which(
    "llama-server-vulkan", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}"
)
needs_server = pytest.mark.skipif(SERVER is None, reason="the extra 'demo' is not installed")


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run a llama-server until it answers; yield its address."""
    assert SERVER
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [SERVER, "--host", "127.0.0.1", "--port", str(port), "-np", "1", *arguments]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        while True:
            assert server.poll() is None, "the server ended before it was ready"
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.02)
        yield address
    finally:
        server.kill()
        server.wait()


def post(address: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(address + path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def complete(address: str, prompt: str, tokens: int) -> Any:
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": False}
    return post(address, "/completion", body)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return write_pair(tmp_path_factory.mktemp("pair"))


def test_a_second_call_writes_nothing(pair: Pair) -> None:
    before = [(path.stat().st_mtime_ns, path.stat().st_ino) for path in (pair.target, pair.drafter)]

    assert write_pair(pair.target.parent) == pair
    after = [(path.stat().st_mtime_ns, path.stat().st_ino) for path in (pair.target, pair.drafter)]
    assert after == before


def test_a_damaged_file_is_written_anew(tmp_path: Path) -> None:
    pair = write_pair(tmp_path)
    whole = pair.drafter.read_bytes()
    pair.drafter.write_bytes(b"\0" * 64 + whole[64:])

    write_pair(tmp_path)

    assert pair.drafter.read_bytes() == whole


def test_another_acceptance_shares_the_target_alone(pair: Pair) -> None:
    other = write_pair(pair.target.parent, acceptance=0.3)

    assert other.target == pair.target
    assert other.drafter != pair.drafter


def test_processes_may_write_at_the_same_time(tmp_path: Path, pair: Pair) -> None:
    code = "import sys, pathlib, mtpdoctor.demo as d; d.write_pair(pathlib.Path(sys.argv[1]))"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]

    assert [writer.wait() for writer in writers] == [0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [pair.target.name, pair.drafter.name]
    )
    assert (tmp_path / pair.drafter.name).read_bytes() == pair.drafter.read_bytes()


@needs_server
@pytest.mark.server
def test_the_server_counts_and_accepts_as_asked(pair: Pair) -> None:
    long = "Tell me a story about a fox. " * 45
    flags = ("-m", str(pair.target), "--model-draft", str(pair.drafter), *pairs.DRAFT_FLAGS)
    with serving("-m", str(pair.target)) as address:
        plain = [complete(address, prompt, 128)["content"] for prompt in ("I am 41", long)]
    with serving(*flags) as address:
        drafted = [complete(address, prompt, 128) for prompt in ("I am 41", long, "I am 41")]
        greeting = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4}
        chat = post(address, "/v1/chat/completions", greeting)

    assert plain[0].startswith(" 42 43 44")
    assert [answer["content"] for answer in drafted[:2]] == plain
    assert drafted[1]["timings"]["prompt_n"] > 1100
    timings = drafted[0]["timings"]
    assert 0.60 < timings["draft_n_accepted"] / timings["draft_n"] < 0.72
    assert drafted[2]["timings"]["draft_n_accepted"] == timings["draft_n_accepted"]
    assert chat["choices"][0]["message"]["content"]


@needs_server
@pytest.mark.server
@pytest.mark.parametrize(
    ("variant", "low", "high"),
    [("sound", 1.0, 1.0), ("quantized-drafter", 1.0, 1.0), ("window-differs", 1.0, 1.0)]
    + [(name, 0.0, 0.3) for name in ("heads-smaller", "kv-heads-fewer", "rope-base-swa")],
)
def test_a_small_pair_drafts_as_its_variant_lets_it(
    tmp_path: Path, variant: str, low: float, high: float
) -> None:
    with serving(*pairs.write(tmp_path, variant).arguments) as address:
        timings = complete(address, "The quick brown fox jumps over the lazy dog.", 64)["timings"]

    assert low <= timings["draft_n_accepted"] / timings["draft_n"] <= high


def test_every_variant_differs_from_the_sound_pair(tmp_path: Path) -> None:
    good = pairs.write(tmp_path / "sound")
    assert good.drafter
    sound = good.target.read_bytes(), good.drafter.read_bytes()

    for name in pairs.BROKEN | pairs.SOUND | pairs.QUANTIZED | pairs.DAMAGED:
        written = pairs.write(tmp_path / name, name)
        head = written.drafter
        data = head.read_bytes() if head and head.exists() else None
        assert (written.target.read_bytes(), data) != sound, name
    with pytest.raises(KeyError):
        pairs.write(tmp_path / "none", "no such variant")
