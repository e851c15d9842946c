"""Running checks against facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from graphlib import TopologicalSorter
from time import perf_counter
from typing import Any

from mtpdoctor.checks import Check
from mtpdoctor.facts import Facts, NotApplicable, Undetermined
from mtpdoctor.findings import Finding, Severity
from mtpdoctor.registry import prerequisites


class Outcome(StrEnum):
    """What became of a check."""

    PASSED = "passed"
    """Measured, and fine."""
    FOUND = "found"
    UNKNOWN = "unknown"
    """A wanted fact is missing; it counts."""
    SKIPPED = "skipped"
    """Does not apply, or was not asked for; it never counts."""
    CRASHED = "crashed"
    """The check itself failed; it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer of one check."""

    check: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    seconds: float = 0.0


def examine(facts: Facts, checks: Mapping[str, Check[Any]]) -> Iterator[Result]:
    """Yield a result for each check, prerequisites first, as soon as each is known.

    A prerequisite blocks when it found an error: a warning explains nothing away.
    """
    found: set[str] = set()
    order = TopologicalSorter({id: prerequisites(id, checks) for id in checks}).static_order()
    for id in order:
        blocking = prerequisites(id, checks) & found
        if blocking:
            result = Result(
                check=id, outcome=Outcome.SKIPPED, reason=f"{min(blocking)} was found before"
            )
        else:
            result = _run(id, checks[id], facts)
        if any(finding.severity is Severity.ERROR for finding in result.findings):
            found.add(id)
        yield result


def _finding(value: object) -> Finding:
    if not isinstance(value, Finding):
        raise TypeError(f"it yields {type(value).__name__}, not Finding")
    return value


def _run(id: str, check: Check[Any], facts: Facts) -> Result:
    started = perf_counter()
    arguments: dict[str, object] = {}
    for parameter, need in check.needs.items():
        value = facts.get(need.kind)
        if value is None and not need.optional:
            return Result(check=id, outcome=Outcome.SKIPPED, reason=facts.why_absent(need.kind))
        arguments[parameter] = value
    findings: list[Finding] = []
    outcome, reason = Outcome.PASSED, ""
    try:
        for finding in check(**arguments):
            findings.append(_finding(finding))  # noqa: PERF401  those before it raises stand
    except NotApplicable as why:
        outcome, reason = Outcome.SKIPPED, "" if findings else str(why)
    except Undetermined as undetermined:
        outcome, reason = Outcome.UNKNOWN, str(undetermined)
    except (Exception, SystemExit) as error:  # noqa: BLE001  a check may be anyone's
        outcome, reason = Outcome.CRASHED, f"{type(error).__name__}: {error}"
    return Result(
        check=id,
        outcome=Outcome.FOUND if findings else outcome,
        findings=tuple(findings),
        reason=reason,
        seconds=perf_counter() - started,
    )
