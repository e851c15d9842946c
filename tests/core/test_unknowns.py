"""What nobody can know is unknown, with the reason; what the binary shows decides at any build."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import headers
import pytest

from mtpdoctor import knowledge, launch, registry
from mtpdoctor.builds import Span
from mtpdoctor.engine import Outcome, Result, examine
from mtpdoctor.facts import Architectures, Drafter, Facts, Server, Target, Unknown
from mtpdoctor.gguf import Header

BOOK = knowledge.load()
COMMAND = ("llama-server", "-m", "t.gguf", "-md", "d.gguf", "--spec-type", "draft-mtp", "-fa", "on")
PLAIN = Server(
    path="/opt/llama-server",
    failure=None,
    program="llama.cpp",
    build=Span.exactly(9600),
    build_how="its banner",
    backends=frozenset({"cuda"}),
    devices=Unknown("not asked"),
)


def results(server: Server, target: Header, drafter: Header) -> dict[str, Result]:
    facts = Facts(
        BOOK,
        server,
        launch.parse(launch.split(COMMAND), launch.shipped()),
        Target(named="t.gguf", path="t.gguf", header=target),
        Drafter(named="d.gguf", path="d.gguf", header=drafter),
    )
    checks = registry.load().checks
    return {result.check: result for result in examine(facts, checks)}


def on(server: Server, drafter: Header | None = None) -> dict[str, Result]:
    own = headers.real("gemma-4-E4B-it-assistant")
    return results(server, headers.real("gemma-4-E4B-it"), drafter or own)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"program": "ik_llama.cpp"}, "fork"),
        ({"build": Unknown("version: 0 (unknown)")}, "version: 0 (unknown)"),
        ({"program": Unknown("an unreadable version")}, "an unreadable version"),
        ({"build": Span.exactly(12345)}, "b12345"),
    ],
)
def test_a_server_of_unknown_build_is_never_passed_for_what_its_build_decides(
    changed: dict[str, Any], says: str
) -> None:
    got = on(replace(PLAIN, **changed))

    assert got["build-too-old"].outcome is Outcome.UNKNOWN
    assert says in got["build-too-old"].reason


def test_an_architecture_without_an_entry_is_unknown() -> None:
    got = on(PLAIN, Header.of(metadata={"general.architecture": "newarch7-assistant"}, tensors={}))

    assert got["drafter-arch-unknown"].outcome is Outcome.UNKNOWN
    assert "newarch7-assistant" in got["drafter-arch-unknown"].reason


def test_an_open_bug_past_the_horizon_is_unknown_and_before_it_found() -> None:
    open_bug = next(bug for bug in BOOK.bugs if bug.fixed is None)
    last = Span.exactly(BOOK.horizon.number)
    later = Span.exactly(BOOK.horizon.number + 1)

    assert BOOK.suffers(last, open_bug) is True
    assert isinstance(BOOK.suffers(later, open_bug), Unknown)


def test_a_mended_bug_stays_mended_at_any_later_build() -> None:
    mended = BOOK.bug("flash-attention-d512-gqa2")

    assert BOOK.suffers(Span.exactly(99_999), mended) is False


@pytest.mark.parametrize("program", ["llama.cpp", "some-fork"])
def test_what_the_binary_shows_decides_at_any_build(program: str) -> None:
    table = launch.table(
        "--spec-type none,draft-mtp   types of speculative decoding\n"
        "                             (env: LLAMA_ARG_SPEC_TYPE)\n",
        "its own help",
    )
    shown = replace(
        PLAIN,
        program=program,
        build=Unknown("version: 0 (unknown)"),
        flags=table,
        architectures=Architectures(names=frozenset({"gemma4", "gemma4-assistant"})),
    )

    got = on(shown)

    assert got["build-too-old"].outcome is Outcome.PASSED
    assert got["drafter-arch-unknown"].outcome is Outcome.PASSED
