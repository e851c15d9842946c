"""Running checks against facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from graphlib import TopologicalSorter
from time import perf_counter
from typing import Any

from mtpdoctor.checks import Check
from mtpdoctor.facts import Facts, NotApplicable, Undetermined
from mtpdoctor.findings import Finding
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


def examine(
    facts: Facts,
    checks: Mapping[str, Check[Any]],
    *,
    earlier: Collection[Result] = (),
) -> Iterator[Result]:
    """Yield a result for each check, prerequisites first, as soon as each is known.

    *earlier* results count for prerequisites that are not run again.
    """
    found = {result.check for result in earlier if result.outcome is Outcome.FOUND}
    order = TopologicalSorter({id: prerequisites(id, checks) for id in checks}).static_order()
    for id in order:
        blocking = {name for name in checks[id].after if name in found} | (
            prerequisites(id, checks) & found
        )
        if blocking:
            result = Result(
                check=id, outcome=Outcome.SKIPPED, reason=f"{min(blocking)} was found before"
            )
        else:
            result = _run(id, checks[id], facts)
        if result.outcome is Outcome.FOUND:
            found.add(id)
        else:
            found.discard(id)
        yield result


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
            findings.append(finding)  # noqa: PERF402  those yielded before it raises stand
    except NotApplicable as why:
        outcome, reason = Outcome.SKIPPED, str(why)
    except Undetermined as undetermined:
        outcome, reason = Outcome.UNKNOWN, str(undetermined)
    except Exception as error:  # noqa: BLE001  a check may be anyone's
        outcome, reason = Outcome.CRASHED, f"{type(error).__name__}: {error}"
    return Result(
        check=id,
        outcome=Outcome.FOUND if findings else outcome,
        findings=tuple(findings),
        reason=reason,
        seconds=perf_counter() - started,
    )
