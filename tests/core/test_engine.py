"""What becomes of a check, and in which order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from mtpdoctor.checks import Check, check
from mtpdoctor.engine import Outcome, Result, examine
from mtpdoctor.facts import (
    Facts,
    Gpus,
    Host,
    NotApplicable,
    Server,
    SmokeRun,
    Unknown,
    known,
)
from mtpdoctor.findings import Finding, Severity


@check("bad-host", "never happy")
def bad_host(host: Host) -> Iterator[Finding]:
    yield Finding(says=f"{host.system} is bad")


@check("good-host", "always happy")
def good_host(host: Host) -> Iterator[Finding]:
    yield from ()


@check("found-then-unknown", "finds one thing and cannot tell another")
def found_then_unknown(host: Host) -> Iterator[Finding]:
    yield Finding(says="first")
    known(host.cpus)


@check("raises", "broken")
def raises(host: Host) -> Iterator[Finding]:
    yield Finding(says="stands")
    raise ZeroDivisionError("oh")


@check("needs-gpus", "needs what is not there")
def needs_gpus(gpus: Gpus) -> Iterator[Finding]:
    yield Finding(says=str(gpus))


@check("maybe-run", "reads a run if there is one")
def maybe_run(host: Host, run: SmokeRun | None) -> Iterator[Finding]:
    if run is None:
        yield Finding(says="no run")


def after(id: str, *names: str) -> Check[Any]:
    @check(id, "waits", after=names)
    def body(host: Host) -> Iterator[Finding]:
        yield from ()

    return body


def results(*checks: Check[Any], facts: Facts | None = None) -> dict[str, Result]:
    given = facts or Facts(Host(system="Linux"), absent={Gpus: "nobody looked"})
    return {result.check: result for result in examine(given, {c.id: c for c in checks})}


def test_a_check_without_findings_passes() -> None:
    assert results(good_host)["good-host"].outcome is Outcome.PASSED


def test_a_check_with_a_finding_finds() -> None:
    result = results(bad_host)["bad-host"]

    assert (result.outcome, result.findings[0].says) == (Outcome.FOUND, "Linux is bad")


def test_a_missing_fact_skips_with_the_reason_of_its_absence() -> None:
    result = results(needs_gpus)["needs-gpus"]

    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "nobody looked")


def test_an_optional_fact_is_none_when_absent() -> None:
    assert results(maybe_run)["maybe-run"].outcome is Outcome.FOUND


def test_what_was_found_before_an_unknown_stands_and_keeps_the_reason() -> None:
    facts = Facts(Host(cpus=Unknown("no /proc here")))

    result = results(found_then_unknown, facts=facts)["found-then-unknown"]

    assert (result.outcome, result.reason) == (Outcome.FOUND, "no /proc here")


def test_what_was_found_before_a_crash_stands_and_the_others_run_on() -> None:
    got = results(raises, good_host)

    assert got["raises"].outcome is Outcome.FOUND
    assert got["raises"].reason == "ZeroDivisionError: oh"
    assert got["good-host"].outcome is Outcome.PASSED


def test_only_a_prerequisite_that_found_something_blocks() -> None:
    got = results(bad_host, raises, after("blocked", "bad-host"), after("free", "good-host"))

    assert (got["blocked"].outcome, got["blocked"].reason) == (
        Outcome.SKIPPED,
        "bad-host was found before",
    )
    assert got["free"].outcome is Outcome.PASSED


def test_an_unknown_prerequisite_does_not_block() -> None:
    @check("cannot-tell", "cannot tell")
    def cannot_tell(host: Host) -> Iterator[Finding]:
        known(host.cpus)
        yield from ()

    got = results(cannot_tell, after("later", "cannot-tell"))

    assert got["cannot-tell"].outcome is Outcome.UNKNOWN
    assert got["later"].outcome is Outcome.PASSED


def test_an_unknown_value_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError):
        bool(Unknown("x"))


def test_a_check_reads_its_needs_from_its_signature() -> None:
    assert maybe_run.reads_run
    assert not maybe_run.needs_run
    assert {name: need.kind for name, need in maybe_run.needs.items()} == {
        "host": Host,
        "run": SmokeRun,
    }


def test_facts_are_replaced_by_type() -> None:
    facts = Facts(Server(named="a")).with_(Server(named="b"))

    server = facts.get(Server)

    assert server is not None
    assert server.named == "b"


def test_what_is_no_finding_crashes_its_check_alone() -> None:
    @check("yields-text", "a mistake")
    def yields_text(host: Host) -> Iterator[Finding]:
        yield "text"  # type: ignore[misc]

    got = results(yields_text, good_host)

    assert (got["yields-text"].outcome, got["yields-text"].reason) == (
        Outcome.CRASHED,
        "TypeError: it yields str, not Finding",
    )
    assert got["good-host"].outcome is Outcome.PASSED


def test_a_check_that_exits_crashes_and_stops_nothing() -> None:
    @check("exits", "rude")
    def exits(host: Host) -> Iterator[Finding]:
        yield from ()
        sys.exit(0)

    assert results(exits)["exits"].outcome is Outcome.CRASHED


def test_a_warning_blocks_nothing() -> None:
    @check("warns", "warns")
    def warns(host: Host) -> Iterator[Finding]:
        yield Finding(says="x", severity=Severity.WARNING)

    assert results(warns, after("later", "warns"))["later"].outcome is Outcome.PASSED


def test_a_check_that_does_not_apply_is_skipped_with_its_reason() -> None:
    @check("not-here", "does not apply")
    def not_here(host: Host) -> Iterator[Finding]:
        yield from ()
        raise NotApplicable("no such thing here")

    result = results(not_here)["not-here"]

    assert (result.outcome, result.reason) == (Outcome.SKIPPED, "no such thing here")


def test_keyword_only_facts_are_needs_too() -> None:
    @check("by-name", "named")
    def by_name(*, host: Host) -> Iterator[Finding]:
        yield Finding(says=host.system)

    assert results(by_name)["by-name"].outcome is Outcome.FOUND
