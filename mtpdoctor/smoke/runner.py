"""The smoke run: one server after the other, each asked the same things."""

from __future__ import annotations

import secrets
from threading import Event

from mtpdoctor.facts import ArmName, Attempt, Crash, Launch, SmokeRun, Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.launch import masked, plain
from mtpdoctor.smoke import measure, plan, process
from mtpdoctor.smoke.client import Client
from mtpdoctor.smoke.plan import Settings
from mtpdoctor.smoke.session import Session, Shared
from mtpdoctor.smoke.watch import Run

_STARTS = 3
"""How often a server is started when somebody took its port, or its last words were lost."""


def run(
    launch: Launch, *, knowledge: Knowledge, settings: Settings, cancel: Event, binary: str
) -> Run[SmokeRun]:
    """Start *binary* as *launch* says, without and with drafting, and measure both.

    Yields what happens as it happens, and returns what was measured. Nothing is raised for
    anything that a server does; whatever was started has ended when this returns, is closed, or
    the whole program dies. *cancel* may be set from any thread.
    """
    wake = Event()
    shared = Shared(knowledge=knowledge, settings=settings, cancel=cancel, wake=wake, prompts={})
    trial = _Trial(launch, binary, shared)
    found = yield from trial.run(settings.rounds)
    speedup = 0.0 if isinstance(found.speedup, Unknown) else found.speedup
    if found.proved and 0 < speedup < settings.sure_above:
        found = yield from trial.run(settings.rounds[::-1])
    return found


class _Trial:
    """One command, and the rounds of it so far."""

    def __init__(self, launch: Launch, binary: str, shared: Shared) -> None:
        self._launch = launch
        self._binary = binary
        self._shared = shared
        self._rounds: list[measure.Round] = []
        self._attempts: list[Attempt] = []

    def run(self, arms: tuple[ArmName, ...]) -> Run[SmokeRun]:
        """Run *arms* one after the other, and sum up all rounds so far."""
        settings = self._shared.settings
        for index, arm in enumerate(arms):
            self._shared.done = index * settings.steps // len(arms)
            attempt, round_ = yield from _round(self._launch, arm, self._shared, self._binary)
            self._attempts.append(attempt)
            if round_ is not None:
                self._rounds.append(round_)
            if attempt.outcome == "cancelled":
                break
        return measure.summary(self._rounds, tuple(self._attempts), settings)


def _round(
    launch: Launch, arm: ArmName, shared: Shared, binary: str
) -> Run[tuple[Attempt, measure.Round | None]]:
    asked = launch if arm == "mtp" else plain(launch)
    yield shared.stage(arm, "start", "starting the server")
    tries = 0
    while True:
        tries += 1
        client = Client(port=plan.free_port(), key=secrets.token_urlsafe(24))
        argv = plan.command(asked, binary=binary, port=client.port)
        shown = masked(argv)
        variables = plan.environment(asked, key=client.key)
        try:
            server = process.start(argv, variables, wake=shared.wake.set)
        except OSError as error:  # no process, no memory, no descriptor left for the guard
            crash = Crash(cause=f"the server cannot be started: {error.strerror or error}")
            return Attempt(argv=shown, arm=arm, outcome="crashed", crash=crash), None
        with server:
            session = Session(shared, server, client, arm)
            attempt = yield from session.attempt(shown)
            if not session.again or tries == _STARTS:
                yield shared.stage(arm, "stop", "stopping the server")
        if not session.again or tries == _STARTS:
            return attempt, session.round()
