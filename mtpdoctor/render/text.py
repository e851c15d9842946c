"""The report as text: a line for what passed, everything that helps for what did not."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import launch as commands
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.events import SmokeSample, SmokeStage
from mtpdoctor.findings import Finding, Severity
from mtpdoctor.render import words
from mtpdoctor.render.style import Style
from mtpdoctor.report import Report
from mtpdoctor.version import VERSION
from mtpdoctor.visible import visible, visible_lines

_INDENT = "    "


def lines(report: Report, style: Style) -> Iterator[str]:
    """Yield the whole report; the verdict is the last line."""
    for line in _lines(report, style):
        yield style.plain(line)


def _lines(report: Report, style: Style) -> Iterator[str]:
    yield (
        style.bold(f"mtpdoctor {VERSION}")
        + f"  knowledge of {report.revision}, up to {report.horizon}"
    )
    for name, line in words.facts(report.facts):
        yield f"  {name:<8} {line}"
    yield ""
    for result in sorted(report.results, key=_worst_last):
        of_the_run = report.checks[result.check].needs_run and report.smoke is None
        if result.outcome is not Outcome.SKIPPED or not of_the_run:
            yield from result_lines(result, style)
    for id, reason in report.ignored.items():
        yield style.dim(f"· ignored {visible(id)}: {visible(reason)}")
    for broken in report.broken:
        yield f"! plugin  {visible(broken.plugin)}: {visible(broken.reason)}"
    yield ""
    if report.smoke is not None:
        yield "smoke run"
        for name, line in words.smoke(report.smoke):
            yield f"  {name:<12} {line}"
        yield from _crash_lines(report, style)
        yield ""
    yield from command_lines(report, style)
    yield f"{style.verdict(report.verdict)}: {words.verdict(report)}"


def _worst_last(result: Result) -> int:
    """Return where a result stands: what matters most is read last, beside the verdict."""
    if result.outcome is Outcome.FOUND:
        return 3 + max(finding.severity.rank for finding in result.findings)
    order = (Outcome.SKIPPED, Outcome.PASSED, Outcome.UNKNOWN, Outcome.CRASHED)
    return order.index(result.outcome)


def result_lines(result: Result, style: Style) -> Iterator[str]:
    """Yield one check's answer: a line when it passed, else with reason, evidence and fixes."""
    head = f"{style.outcome(result)} {visible(result.check)}"
    if result.outcome is Outcome.SKIPPED:
        yield style.dim(f"{head}: {visible(result.reason)}")
    elif result.outcome in {Outcome.UNKNOWN, Outcome.CRASHED}:
        yield f"{head}: {visible(result.reason)}"
    elif result.outcome is Outcome.PASSED:
        yield head
    else:
        yield head
        for finding in result.findings:
            yield from finding_lines(finding, style)
        if result.reason:
            yield f"{_INDENT}not all could be told: {visible(result.reason)}"


def finding_lines(finding: Finding, style: Style) -> Iterator[str]:
    for line in visible_lines(finding.says):
        yield _INDENT + line
    for evidence in finding.evidence:
        url = f" <{visible(evidence.url)}>" if evidence.url else ""
        yield style.dim(f"{_INDENT}because: {visible(evidence.says)}{url}")
    for fix in finding.fixes:
        yield f"{_INDENT}fix: {visible(fix.title)}"
        if command := words.fix_command(fix):
            yield f"{_INDENT}     {visible(command)}"


def _crash_lines(report: Report, style: Style) -> Iterator[str]:
    crash = report.smoke.crash if report.smoke is not None else None
    if crash is None:
        return
    for line in crash.excerpt:
        yield style.dim(f"  | {visible(line, 200)}")


def command_lines(report: Report, style: Style) -> Iterator[str]:
    """Yield the command to use, and whether it is proved or proposed."""
    if report.launch is None:
        return
    if report.corrected is not None:
        left = sum(_is_obstacle(finding) for finding in report.findings)
        how = "proved by the run" if report.proved else "not run"
        if left and not report.proved:
            how = f"as far as flags can; {left} {'error' if left == 1 else 'errors'} remain"
        yield f"corrected command ({how}):"
    elif report.proved:
        yield "command (proved by the run):"
    else:
        return
    command = commands.shown(report.corrected or report.launch)
    yield f"  {style.bold(visible(command))}"
    yield ""


def _is_obstacle(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR and not any(fix.safe for fix in finding.fixes)


def progress(event: SmokeStage | SmokeSample) -> str:
    """Return one line that tells a waiting person what goes on."""
    if isinstance(event, SmokeStage):
        share = f" ({event.done}/{event.total})" if event.total else ""
        return visible(f"smoke run{share}: {event.says}", 120)
    drafted = f", {event.accepted} of {event.drafted} drafts accepted" if event.drafted else ""
    return visible(
        f"smoke run: {event.arm}: {event.request}: {event.tokens_per_second:.1f} tok/s{drafted}",
        120,
    )
