from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.builds import Span
from mtpdoctor.facts import Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.probes.server import banner, build
from mtpdoctor.probes.server.ask import plain

_FILE = Path(__file__).parents[3] / "fixtures" / "servers" / "banners.toml"
_SAMPLES = tomllib.loads(_FILE.read_text("utf-8"))["banner"]


@pytest.mark.parametrize("sample", _SAMPLES, ids=[sample["origin"][:40] for sample in _SAMPLES])
def test_a_captured_banner_is_read_as_it_is_meant(sample: dict[str, Any]) -> None:
    said = banner.read(sample["text"])

    assert said.number == sample.get("number")
    assert said.commit == sample.get("commit", "")
    assert said.version == sample.get("version", "")
    assert said.fork == sample.get("fork", "")


@pytest.mark.parametrize("sample", _SAMPLES, ids=[sample["origin"][:40] for sample in _SAMPLES])
def test_a_captured_banner_leads_to_its_build_or_to_none(
    sample: dict[str, Any], book: Knowledge
) -> None:
    said = banner.read(sample["text"])

    told = build.tell(said, said.fork, frozenset(), book, lambda: None)

    if "build" in sample:
        assert told.build == Span.parse(sample["build"])
        assert told.how
    else:
        assert isinstance(told.build, Unknown)


def test_only_its_own_lines_are_kept() -> None:
    said = banner.read("ggml_cuda_init: found 1\nversion: 9536 (308f61c31)\nbuilt with GNU 14\nbye")

    assert said.lines == ("version: 9536 (308f61c31)", "built with GNU 14")


def test_a_folder_in_a_backends_line_makes_no_fork() -> None:
    text = "load_backend: loaded CPU backend from /opt/ollama/libggml-cpu.so\nversion: 9536 (308f61c31)"

    assert not banner.read(text).fork


def test_a_colored_banner_is_read() -> None:
    data = b"\x1b[32mversion: 9536 (308f61c31)\x1b[0m\r\n"

    assert banner.read(plain(data)).number == 9536


@given(st.binary(max_size=400))
def test_any_bytes_are_taken(data: bytes) -> None:
    said = banner.read(plain(data))

    assert all(line.isprintable() for line in said.lines)


@given(
    st.sampled_from(["version: ", "version:", "build ", "commit "]),
    st.text(alphabet="0123456789.abcdef()-, vunkow\n\x1b", max_size=60),
)
def test_anything_like_a_version_line_is_taken(start: str, rest: str) -> None:
    said = banner.read(start + rest)

    assert said.number is None or 0 <= said.number < 10**9
