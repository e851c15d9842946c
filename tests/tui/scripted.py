"""Examinations made of real event values, for what a screen shows of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event as Flag
from time import monotonic
from typing import Any

from textual.pilot import Pilot

from mtpdoctor import launch, registry
from mtpdoctor.builds import Build
from mtpdoctor.doctor import Event, Finished
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.errors import ExitCode
from mtpdoctor.events import CheckDone, LogLine, ProbeDone, SmokeSample, SmokeStage
from mtpdoctor.facts import Arm, Attempt, Facts, Gpus, Host, Parity, Server, SmokeRun, Target
from mtpdoctor.findings import Advice, DropFlag, Evidence, Finding
from mtpdoctor.report import Report, Verdict
from mtpdoctor.request import Request
from mtpdoctor.tui.app import DoctorApp
from mtpdoctor.tui.examination import Examine

WORDS = ("llama-server", "-m", "target.gguf", "--draft-max", "4")
REQUEST = Request(words=WORDS)
SIZES = [(80, 24), (160, 50)]
GIVEN = launch.parse(launch.split(WORDS, {}), launch.shipped())
MENDED = launch.parse(launch.split(WORDS[:3], {}), launch.shipped())

PASSED = Result(check="roles-swapped", outcome=Outcome.PASSED)
UNKNOWN = Result(check="vocab-mismatch", outcome=Outcome.UNKNOWN, reason="no vocabulary was read")
FOUND = Result(
    check="removed-flag",
    outcome=Outcome.FOUND,
    findings=(
        Finding(
            says="--draft-max was removed",
            evidence=(Evidence("its own help says so", "https://example.org/pull/1"),),
            fixes=(DropFlag("--draft-max"), Advice("or read the help", "llama-server --help")),
        ),
    ),
)
RUN = SmokeRun(
    plain=Arm(ready_seconds=1.0, tokens_per_second=100.0),
    mtp=Arm(ready_seconds=1.0, tokens_per_second=250.0, drafted=90, accepted=60),
    acceptance=60 / 90,
    mean_accepted_length=2.5,
    speedup=2.5,
    parity=Parity(equal=True),
    proved=True,
)
CANCELLED = SmokeRun(attempts=(Attempt(argv=WORDS, arm="plain", outcome="cancelled"),))


def report(*results: Result, **changes: Any) -> Report:
    """Return what an examination with *results* comes to."""
    failed = any(result.findings for result in results)
    made = Report(
        started_at=datetime(2026, 12, 1, tzinfo=UTC),
        seconds=0.5,
        revision="2026-12-01",
        horizon=Build(11549),
        scope="static",
        verdict=Verdict.FAIL if failed else Verdict.PASS,
        exit_code=ExitCode.FOUND if failed else ExitCode.OK,
        facts=Facts(Server(named="llama-server"), Host(system="Linux"), Gpus(state="none")),
        checks=registry.load().checks,
        results=results,
        launch=GIVEN,
    )
    return replace(made, **changes)


def probes() -> Iterator[Event]:
    yield ProbeDone(probe="server", fact=Server(named="llama-server"), seconds=0.0)
    yield ProbeDone(probe="host", fact=Host(system="Linux", machine="x86_64"), seconds=0.0)
    yield ProbeDone(probe="target", fact=Target(named="target.gguf"), seconds=0.0)


def says(*events: Event) -> Examine:
    """Return an examination of probes, *events*, and a report of the checks among them."""
    results = tuple(event.result for event in events if isinstance(event, CheckDone))
    last = events[-1] if events and isinstance(events[-1], Finished) else None

    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        yield from probes()
        yield from events
        if last is None:
            yield Finished(report=report(*results))

    return examine


class LongRun:
    """An examination whose smoke run goes on until it is cancelled."""

    def __init__(self) -> None:
        self.cancel: Flag | None = None
        self.closed = 0
        self.requests: list[Request] = []

    def __call__(self, request: Request, cancel: Flag) -> Iterator[Event]:
        self.cancel = cancel
        self.requests.append(request)
        try:
            yield from probes()
            yield CheckDone(result=PASSED)
            if not request.smoke:
                yield Finished(report=report(PASSED))
                return
            yield SmokeStage(step="start", says="plain: starting", arm="plain", done=1, total=8)
            yield SmokeSample(
                arm="plain", request="generate", predicted=128, tokens_per_second=100.5
            )
            yield LogLine(arm="plain", text="main: server is listening")
            cancel.wait(20)
            end = report(
                PASSED,
                scope="smoke",
                smoke=CANCELLED,
                verdict=Verdict.INCONCLUSIVE,
                exit_code=ExitCode.INCONCLUSIVE,
            )
            yield Finished(report=end)
        finally:
            self.closed += 1


@asynccontextmanager
async def shown(
    examine: Examine,
    size: tuple[int, int] = (80, 24),
    request: Request | None = REQUEST,
    environment: dict[str, str] | None = None,
) -> AsyncIterator[tuple[DoctorApp, Pilot[None]]]:
    """Yield the app and its pilot; nothing of it is left afterwards."""
    app = DoctorApp(request, examine=examine, environment=environment or {})
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            yield app, pilot
    finally:
        app.clean_up()


def screen(app: DoctorApp) -> str:
    """Return what stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


async def until(pilot: Pilot[None], holds: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until *holds*; fail with the screen when it never does."""
    deadline = monotonic() + seconds
    while not holds():
        assert isinstance(pilot.app, DoctorApp)
        assert monotonic() < deadline, screen(pilot.app)
        await pilot.pause(0.02)


async def until_seen(pilot: Pilot[None], text: str) -> str:
    app = pilot.app
    assert isinstance(app, DoctorApp)
    await until(pilot, lambda: text in screen(app))
    return screen(app)
