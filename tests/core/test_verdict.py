"""How the verdict and the exit code follow from the results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mtpdoctor.checks import check
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.errors import ExitCode
from mtpdoctor.facts import Host, SmokeRun
from mtpdoctor.findings import Finding, Severity
from mtpdoctor.report import Scope, Verdict, exit_code, judge, merged


@check("an-error", "may fail")
def an_error(host: Host) -> Iterator[Finding]:
    yield from ()


@check("a-remark", "never fails", severity=Severity.INFO)
def a_remark(host: Host) -> Iterator[Finding]:
    yield from ()


@check("of-the-run", "reads the run")
def of_the_run(run: SmokeRun) -> Iterator[Finding]:
    yield from ()


CHECKS = {c.id: c for c in (an_error, a_remark, of_the_run)}


def found(severity: Severity, reason: str = "") -> Result:
    finding = Finding(says="x", severity=severity)
    return Result(check="an-error", outcome=Outcome.FOUND, findings=(finding,), reason=reason)


def plain(id: str, outcome: Outcome) -> Result:
    return Result(check=id, outcome=outcome, reason="why")


@pytest.mark.parametrize(
    ("results", "settled", "complete", "wanted"),
    [
        ([], False, True, Verdict.INCONCLUSIVE),
        ([], True, True, Verdict.PASS),
        ([plain("an-error", Outcome.PASSED)], False, True, Verdict.PASS),
        ([plain("an-error", Outcome.SKIPPED)], False, True, Verdict.INCONCLUSIVE),
        ([found(Severity.ERROR)], False, True, Verdict.FAIL),
        ([found(Severity.ERROR)], True, True, Verdict.FAIL),
        ([found(Severity.WARNING)], False, True, Verdict.WARN),
        ([found(Severity.INFO)], False, True, Verdict.PASS),
        ([found(Severity.INFO, "and a part is unknown")], False, True, Verdict.INCONCLUSIVE),
        ([plain("an-error", Outcome.UNKNOWN)], False, True, Verdict.INCONCLUSIVE),
        ([plain("an-error", Outcome.CRASHED)], False, True, Verdict.INCONCLUSIVE),
        ([plain("a-remark", Outcome.UNKNOWN)], False, True, Verdict.PASS),
        ([plain("an-error", Outcome.UNKNOWN)], True, True, Verdict.PASS),
        ([plain("of-the-run", Outcome.UNKNOWN)], True, True, Verdict.INCONCLUSIVE),
        ([plain("an-error", Outcome.CRASHED)], True, True, Verdict.INCONCLUSIVE),
        ([plain("an-error", Outcome.PASSED)], False, False, Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict(results: list[Result], settled: bool, complete: bool, wanted: Verdict) -> None:
    verdict = judge(results, CHECKS, fail_on=Severity.ERROR, settled=settled, complete=complete)

    assert verdict is wanted


def test_fail_on_warning_fails_on_a_warning() -> None:
    verdict = judge(
        [found(Severity.WARNING)], CHECKS, fail_on=Severity.WARNING, settled=False, complete=True
    )

    assert verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("verdict", "scope", "strict", "code"),
    [
        (Verdict.PASS, "static", False, ExitCode.OK),
        (Verdict.WARN, "smoke", True, ExitCode.OK),
        (Verdict.FAIL, "static", False, ExitCode.FOUND),
        (Verdict.INCONCLUSIVE, "static", False, ExitCode.OK),
        (Verdict.INCONCLUSIVE, "static", True, ExitCode.INCONCLUSIVE),
        (Verdict.INCONCLUSIVE, "smoke", False, ExitCode.INCONCLUSIVE),
    ],
)
def test_the_exit_code(verdict: Verdict, scope: Scope, strict: bool, code: ExitCode) -> None:
    assert exit_code(verdict, scope, strict=strict) is code


PASSED = plain("an-error", Outcome.PASSED)
UNKNOWN = plain("an-error", Outcome.UNKNOWN)
ERROR, WARNING = found(Severity.ERROR), found(Severity.WARNING)


@pytest.mark.parametrize(
    ("earlier", "later", "mended", "told"),
    [
        (None, PASSED, True, PASSED),
        (UNKNOWN, PASSED, False, PASSED),
        (WARNING, PASSED, False, PASSED),
        (UNKNOWN, PASSED, True, UNKNOWN),
        (ERROR, PASSED, True, ERROR),
        (ERROR, WARNING, True, ERROR),
        (WARNING, ERROR, True, ERROR),
        (PASSED, WARNING, True, WARNING),
    ],
)
def test_what_was_found_of_the_given_command_outlives_its_mending(
    earlier: Result | None, later: Result, mended: bool, told: Result
) -> None:
    assert merged(earlier, later, mended=mended) == told
