"""A verdict, as far as two are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtpdoctor.checks import Check
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.findings import Finding, Severity
from mtpdoctor.report import judge


@dataclass(frozen=True)
class Told:
    """A verdict, as far as it is compared."""

    outcome: str
    found: frozenset[tuple[str, str]]
    causes: tuple[str, ...]
    fixes: tuple[tuple[str, ...], ...]
    reasons: tuple[str, ...]
    """Why a check cannot tell."""
    evidence: tuple[tuple[str, ...], ...]

    def differs(self, other: Told) -> str:
        """Return in which words *other* is another verdict; empty if it is the same."""
        mine, theirs = sorted(self.found - other.found), sorted(other.found - self.found)
        if mine or theirs:
            less = [f"no {severity} {check}" for check, severity in mine]
            return ", ".join(less + [f"{severity} {check}" for check, severity in theirs])
        if self.outcome != other.outcome:
            return f"{other.outcome} in place of {self.outcome}"
        if self.causes != other.causes:
            lost = [cause for cause in self.causes if cause not in other.causes]
            return f"cause: no {', '.join(lost) or 'order'}"
        if self.fixes != other.fixes:
            return "another fix"
        if self.reasons != other.reasons:
            return "another reason"
        return "its evidence alone" if self.evidence != other.evidence else ""


def told(results: tuple[Result, ...], checks: Mapping[str, Check[Any]], *, settled: bool) -> Told:
    """Return the verdict that *results* come to; the outcome of a crash is none."""
    crashed = [result.check for result in results if result.outcome is Outcome.CRASHED]
    assert not crashed, crashed
    verdict = judge(results, checks, fail_on=Severity.ERROR, settled=settled, complete=True)
    pairs_ = [(result.check, each) for result in results for each in result.findings]
    return Told(
        verdict,
        frozenset((check, finding.severity.value) for check, finding in pairs_),
        tuple(sorted(f"{check}:{finding.about}" for check, finding in pairs_)),
        tuple(sorted(_fixes(check, finding) for check, finding in pairs_)),
        tuple(f"{r.check}: {r.reason}" for r in results if r.outcome is Outcome.UNKNOWN),
        tuple(sorted((check, *map(str, finding.evidence)) for check, finding in pairs_)),
    )


def _fixes(check: str, finding: Finding) -> tuple[str, ...]:
    return (check, *(f"{fix.kind}: {fix.title}" for fix in finding.fixes))
