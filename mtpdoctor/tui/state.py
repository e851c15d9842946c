"""What is to be shown, as a value, and how each event changes it; nothing here knows Textual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import assert_never

from mtpdoctor.doctor import Event, Finished
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.events import CheckDone, LogLine, ProbeDone, SmokeSample, SmokeStage
from mtpdoctor.facts import Launch
from mtpdoctor.findings import Severity
from mtpdoctor.report import Report
from mtpdoctor.request import Request

_MOST_LINES = 200
"""Lines of the server's log that are kept."""
_MOST_SAMPLES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What is examined is settled; the first that an examination says."""

    request: Request
    titles: Mapping[str, str]
    """The trouble that each check looks for, by full id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """The examination has ended, with a report before it or a failure; the last it says."""

    failure: Exception | None = None


Happening = Event | Prepared | Over


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One examination as far as it got."""

    request: Request | None = None
    busy: bool = False
    stopping: bool = False
    """Whether it was asked to end before its time."""
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    """By the name of the probe; an ``Unknown`` where it could not tell."""
    results: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))
    """By the id of the check, in order of arrival."""
    stage: SmokeStage | None = None
    samples: tuple[SmokeSample, ...] = ()
    """Answered requests of the newest try; oldest first."""
    log: tuple[LogLine, ...] = ()
    """The last lines of the server's log; oldest first."""
    report: Report | None = None
    failure: Exception | None = None
    """Why there is no report: a mistake of the user, or a fault of the doctor."""

    @property
    def smoking(self) -> bool:
        """Whether a smoke run is under way."""
        return self.busy and self.stage is not None

    @property
    def offers_run(self) -> bool:
        """Whether a smoke run would tell more than is known."""
        return not self.busy and self.report is not None and self.report.scope == "static"

    @property
    def command(self) -> Launch | None:
        """The command to copy: the corrected one, or a proved one."""
        if self.report is None:
            return None
        return self.report.corrected or (self.report.launch if self.report.proved else None)


def begun(before: State | None = None) -> State:
    """Return the state at the start; what *before* showed stays until it is answered anew."""
    if before is None:
        return State(busy=True)
    return State(
        busy=True,
        request=before.request,
        titles=before.titles,
        facts=before.facts,
        results=before.results,
    )


def after(state: State, happening: Happening) -> State:
    """Return *state* as *happening* leaves it."""
    match happening:
        case Prepared():
            return replace(state, request=happening.request, titles=happening.titles)
        case ProbeDone():
            return replace(state, facts={**state.facts, happening.probe: happening.fact})
        case CheckDone(result=result):
            return replace(state, results={**state.results, result.check: result})
        case SmokeStage():
            again = happening.step == "repair"
            return replace(state, stage=happening, samples=() if again else state.samples)
        case SmokeSample():
            return replace(state, samples=(*state.samples[1 - _MOST_SAMPLES :], happening))
        case LogLine():
            return replace(state, log=(*state.log[1 - _MOST_LINES :], happening))
        case Finished(report=report):
            return replace(
                state,
                report=report,
                results={result.check: result for result in (*report.results, *_broken(report))},
                titles={id: check.title for id, check in report.checks.items()},
            )
        case Over(failure=failure):
            return replace(state, busy=False, stopping=False, failure=failure)
    assert_never(happening)


def _broken(report: Report) -> list[Result]:
    """Return a line for each plugin that could not be loaded; no check's id holds a space."""
    return [
        Result(check=f"plugin {each.plugin}", outcome=Outcome.CRASHED, reason=each.reason)
        for each in report.broken
    ]


_SEVERITIES = {Severity.ERROR: 0, Severity.WARNING: 2, Severity.INFO: 4}
_OUTCOMES = {Outcome.CRASHED: 1, Outcome.UNKNOWN: 3, Outcome.PASSED: 5, Outcome.SKIPPED: 6}
_NOUNS = ("error", "crashed", "warning", "unknown", "info", "passed", "skipped")
_COUNTED = {"error": "errors", "warning": "warnings"}


def worst(result: Result) -> Severity | None:
    """Return the severity of a result that found something."""
    severities = [finding.severity for finding in result.findings]
    return max(severities, key=lambda severity: severity.rank) if severities else None


def _rank(result: Result) -> int:
    severity = worst(result)
    if severity is not None:
        return _SEVERITIES[severity]
    return _OUTCOMES.get(result.outcome, 4)


def by_weight(state: State) -> list[Result]:
    """Return the results, what counts most first, else in order of arrival."""
    return sorted(state.results.values(), key=_rank)


def counts(state: State) -> str:
    """Return how many checks came to what, the worst first: ``1 error, 28 passed``."""
    numbers = [0] * len(_NOUNS)
    for result in state.results.values():
        numbers[_rank(result)] += 1
    return ", ".join(
        f"{number} {_COUNTED.get(noun, noun) if number > 1 else noun}"
        for noun, number in zip(_NOUNS, numbers, strict=True)
        if number
    )
