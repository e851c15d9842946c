"""What the doctor says at the end, and how the verdict follows from the results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from mtpdoctor.builds import Build
from mtpdoctor.checks import Check
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.errors import ExitCode
from mtpdoctor.facts import Facts, Launch, SmokeRun
from mtpdoctor.findings import Finding, Severity
from mtpdoctor.registry import BrokenPlugin

Scope = Literal["static", "smoke"]


class Verdict(StrEnum):
    """The answer in one word."""

    PASS = "pass"  # noqa: S105  no password
    WARN = "warn"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that a front end shows; the wire format is ``render.json_v1``."""

    started_at: datetime
    seconds: float
    revision: str
    """Day of the knowledge."""
    horizon: Build
    scope: Scope
    verdict: Verdict
    exit_code: ExitCode
    facts: Facts
    checks: Mapping[str, Check[Any]]
    """The checks that ran, by full id, for their titles and severities."""
    results: tuple[Result, ...]
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Checks left out on request, each with the reason that was given."""
    broken: tuple[BrokenPlugin, ...] = ()
    launch: Launch | None = None
    """The command as given."""
    corrected: Launch | None = None
    """The same with every safe fix; none if there was nothing to fix."""
    smoke: SmokeRun | None = None
    smoke_skipped: str = ""
    """Why a smoke run that was asked for did not take place."""
    proved: bool = False
    """Whether ``corrected`` (else ``launch``) ran, drafted and answered every request."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for result in self.results for finding in result.findings)

    def count(self, *outcomes: Outcome) -> int:
        return sum(result.outcome in outcomes for result in self.results)


def merged(earlier: Result | None, later: Result, *, mended: bool) -> Result:
    """Return what to report of a check that was asked twice.

    Of the same command the later answer counts: it knows more. Of a *mended* one it counts where
    nobody asked before, or where it is graver: what was found of the command as given stays.
    """
    if earlier is None or not mended:
        return later
    return later if _gravity(later) > _gravity(earlier) else earlier


def _gravity(result: Result) -> int:
    return max((1 + finding.severity.rank for finding in result.findings), default=0)


def judge(
    results: Iterable[Result],
    checks: Mapping[str, Check[Any]],
    *,
    fail_on: Severity,
    settled: bool,
    complete: bool,
) -> Verdict:
    """Return the verdict that *results* come to.

    A check that cannot tell counts when it could have failed the verdict. What a smoke run of the
    very command has *settled* no longer hangs on the static facts that were missing. An
    examination that is not *complete* (a plugin that did not load, a smoke run that did not prove
    anything) or that looked at nothing at all leaves the matter open.
    """
    verdict = Verdict.PASS
    undecided = not complete
    looked = settled
    for result in results:
        looked |= result.outcome is not Outcome.SKIPPED
        for finding in result.findings:
            if finding.severity.rank >= fail_on.rank:
                return Verdict.FAIL
            if finding.severity is Severity.WARNING:
                verdict = Verdict.WARN
        check = checks[result.check]
        if check.severity.rank < fail_on.rank:
            continue
        told = settled and not check.reads_run
        undecided |= result.outcome is Outcome.CRASHED
        undecided |= result.outcome is Outcome.UNKNOWN and not told
        undecided |= result.outcome is Outcome.FOUND and bool(result.reason) and not told
    if undecided or not looked:
        return Verdict.INCONCLUSIVE
    return verdict


def exit_code(verdict: Verdict, scope: Scope, *, strict: bool) -> ExitCode:
    """Return what to tell a script: an open verdict fails a gate, not a static look."""
    if verdict is Verdict.FAIL:
        return ExitCode.FOUND
    if verdict is Verdict.INCONCLUSIVE and (strict or scope == "smoke"):
        return ExitCode.INCONCLUSIVE
    return ExitCode.OK
