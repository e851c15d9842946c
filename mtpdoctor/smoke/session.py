"""One started server and all that is asked of it, in words and figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any, Literal

from mtpdoctor.events import SmokeSample, SmokeStage, Step
from mtpdoctor.facts import ArmName, Attempt, Crash
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.smoke import measure, plan
from mtpdoctor.smoke.client import Client, Late, Lost, Refused
from mtpdoctor.smoke.diagnosis import Ending, diagnose, says_nothing
from mtpdoctor.smoke.plan import Ask, Settings
from mtpdoctor.smoke.process import ServerProcess, moved
from mtpdoctor.smoke.watch import Cancelled, Ended, Run, Watch

_QUIET, _LONGEST_WORDS = 0.1, 2.0
"""Seconds of silence in the log after which nothing more is expected, and the longest wait."""
_FIRST_POLL, _LAST_POLL = 0.01, 0.25
_AT_WORK = 10.0
"""Seconds in which a server that is still loading moves at least :data:`_MOVED` bytes."""
_MOVED = 1 << 20
_PATIENCE = 12
"""How many time limits a server that is at work gets at most."""
_DOWNLOAD = 16 << 20
"""Bytes written that make waiting a download."""
_OWN_CACHES = re.compile(r"kv_unified = '?(?:false|0)")
"""What the log says where each slot has a KV cache of its own; else they share one."""
_QUESTION = 30.0
"""Seconds for an answer that needs no generation."""


@dataclass(slots=True, kw_only=True)
class Shared:
    """What the servers of one run have in common."""

    knowledge: Knowledge
    settings: Settings
    cancel: Event
    wake: Event
    """Set, from any thread, when there is something new."""
    prompts: dict[str, tuple[int, ...]]
    """Text to tokens, as the first server that was ready reads it: the same in both arms."""
    done: int = 0

    def stage(self, arm: ArmName, step: Step, says: str, *, counts: bool = True) -> SmokeStage:
        total = self.settings.steps
        stage = SmokeStage(
            step=step, says=f"{arm}: {says}", arm=arm, done=min(self.done, total), total=total
        )
        self.done += counts
        return stage


class Session:
    """Takes one server through a round."""

    def __init__(self, shared: Shared, server: ServerProcess, client: Client, arm: ArmName) -> None:
        self._shared = shared
        self._watch = Watch(server, arm, cancel=shared.cancel, wake=shared.wake)
        self._settings = shared.settings
        self._server = server
        self._client = client
        self._arm: ArmName = arm
        self._request = ""
        self._mark = 0
        """Where in the log the current request began."""
        self._slots = 1
        self._context: int | None = None
        self._ready_seconds = 0.0
        self._samples: list[measure.Sample] = []
        self._left_out: list[str] = []
        self.again = False
        """Whether the same start may go otherwise: our port was taken, or the log was lost."""

    def attempt(self, argv: tuple[str, ...]) -> Run[Attempt]:
        """Ask everything there is to ask, and put into words what came in the way."""
        outcome: Literal["answered", "crashed", "refused", "timeout", "cancelled"] = "answered"
        crash: Crash | None = None
        try:
            yield from self._all()
        except Cancelled:
            outcome = "cancelled"
        except Ended:
            outcome, crash = "crashed", self._crash(self._unstarted())
            self.again = self._is_worth_another_start(crash)
        except Late as late:
            outcome, crash = "timeout", self._crash(str(late), timed_out=True)
        except (Lost, Refused) as refusal:
            outcome, crash = "refused", self._crash(str(refusal))
        yield from self._watch.lines()
        return Attempt(
            argv=argv,
            arm=self._arm,
            outcome=outcome,
            request=crash.request if crash is not None else "",
            crash=crash,
            corrected=self._settings.corrected,
        )

    def round(self) -> measure.Round | None:
        """Return what was measured, once the server has ended; none if it answered nothing."""
        if not self._samples:
            return None
        log = tuple(self._server.log.lines())
        said = diagnose(log, ending=Ending(), knowledge=self._shared.knowledge)
        return measure.Round(
            arm=self._arm,
            ready_seconds=self._ready_seconds,
            samples=tuple(self._samples),
            left_out=tuple(self._left_out),
            log=log,
            complaint=said.cause,
            signature=said.signature,
        )

    def _crash(self, otherwise: str, *, timed_out: bool = False) -> Crash:
        log = self._server.log
        return diagnose(
            log.lines(),
            ending=self._server.ending if self._server.exited.is_set() else Ending(),
            knowledge=self._shared.knowledge,
            request=self._request,
            recent=log.lines(self._mark) if self._request else None,
            otherwise=otherwise,
            timed_out=timed_out,
        )

    def _is_worth_another_start(self, crash: Crash) -> bool:
        if self._ready_seconds or self._server.failure or crash.signal:
            return False
        lost = not crash.signature and says_nothing(
            self._server.log.lines(), self._shared.knowledge
        )
        return lost or plan.is_taken(self._client.port)

    def _unstarted(self) -> str:
        failure = self._server.failure
        return f"the program cannot be started: {failure}" if failure else ""

    def _all(self) -> Run[None]:
        yield self._shared.stage(self._arm, "wait", "waiting for the model to load")
        self._ready_seconds = yield from self._ready()
        yield from self._look_around()
        warm_up = self._settings.warm_up
        yield self._shared.stage(self._arm, "warm-up", "first request, not counted")
        yield from self._complete(warm_up)
        free_seconds = 0.0
        for ask in self._settings.requests:
            if not (yield from self._has_room(ask)):
                self._left_out.append(ask.name)
                self._shared.done += 1
                continue
            says = f"request {ask.name}, {ask.predict} tokens"
            yield self._shared.stage(self._arm, "request", says)
            for _ in range(ask.repeats):
                for sample in (yield from self._complete(ask)):
                    self._samples.append(sample)
                    free_seconds += sample.seconds if sample.free else 0
                    yield SmokeSample(
                        arm=self._arm,
                        request=sample.request,
                        predicted=sample.predicted,
                        tokens_per_second=sample.tokens_per_second,
                        drafted=sample.drafted,
                        accepted=sample.accepted,
                    )
                if free_seconds >= self._settings.sample_seconds:
                    break
        yield from self._last_words()
        if self._server.exited.is_set():
            raise Ended

    def _last_words(self) -> Run[None]:
        """Let the server write down its figures: they follow the answer, and a stop loses them."""
        written, quiet, end = -1, 0.0, monotonic() + _LONGEST_WORDS
        while (now := monotonic()) < end and (written < 0 or now - quiet < _QUIET):
            if self._server.log.position != written:
                written, quiet = self._server.log.position, now
            yield from self._watch.pause(_QUIET / 2)

    def _ready(self) -> Run[float]:
        """Wait until the server is ready; return the seconds since its start.

        Past the time limit it is still waited for while it reads or writes a lot: a slow disk and a
        download are no hang.
        """
        timeout, pause = self._settings.timeout, _FIRST_POLL
        deadline, look = monotonic() + timeout, monotonic() + _AT_WORK
        last = monotonic() + _PATIENCE * timeout
        seen, shown = self._moved(), 0
        while True:
            if (yield from self._watch.answer(lambda: self._client.healthy(seconds=2), 4.0)):
                return monotonic() - self._server.started
            if self._server.exited.is_set():
                raise Ended
            now = monotonic()
            if now >= look:
                look, before, seen = now + _AT_WORK, seen, self._moved()
                if sum(seen) - sum(before) >= _MOVED:
                    deadline = min(last, max(deadline, now + 2 * _AT_WORK))
                if seen[1] - shown >= _DOWNLOAD:
                    shown = seen[1]
                    says = f"waiting, {shown >> 20} MiB downloaded so far"
                    yield self._shared.stage(self._arm, "download", says, counts=False)
            if now >= deadline:
                waited = now - self._server.started
                raise Late(f"not ready after {waited:.0f} s; the limit is {timeout:g} s")
            yield from self._watch.pause(pause)
            pause = min(_LAST_POLL, 1.5 * pause)

    def _moved(self) -> tuple[int, int]:
        """Return the bytes that the server has read, and written elsewhere than to its log."""
        read, written = moved(self._server.pid) or (0, 0)
        return read, max(0, written - self._server.log.position)

    def _look_around(self) -> Run[None]:
        """Learn how many slots there are, and how much context each has."""
        try:
            props = yield from self._watch.answer(
                lambda: self._client.get("/props", seconds=_QUESTION), _QUESTION
            )
        except (Refused, Late, Lost):
            return
        slots, defaults = props.get("total_slots"), props.get("default_generation_settings")
        if type(slots) is int and slots > 0:
            self._slots = slots
        context = defaults.get("n_ctx") if isinstance(defaults, dict) else None
        if type(context) is int and context > 0:
            self._context = context

    def _has_room(self, ask: Ask) -> Run[bool]:
        """Whether the server has the slots for *ask*, and room in their KV cache.

        Drafting in a cache that is full ends in an error that one request alone never meets.
        """
        if ask.parallel == 1:
            return True
        if ask.parallel > self._slots:
            return False
        tokens = yield from self._tokens(ask.text)
        own = any(_OWN_CACHES.search(line) for line in self._server.log.lines())
        return plan.fits(ask, len(tokens), self._context, shared=not own)

    def _complete(self, ask: Ask) -> Run[list[measure.Sample]]:
        """Send *ask*, as often at once as it says, and return the answers."""
        self._request, self._mark = ask.name, self._server.log.position
        tokens = yield from self._tokens(ask.text)
        body = plan.body(ask, tokens, self._context)
        limit = self._settings.request_timeout

        def post() -> dict[str, Any]:
            return self._client.post("/completion", body, seconds=limit)

        boxes = [self._watch.send(post) for _ in range(ask.parallel)]
        samples = []
        for box in boxes:
            answer = yield from self._watch.receive(box, limit + 1)
            samples.append(measure.sample(ask, answer))
        return samples

    def _tokens(self, text: str) -> Run[tuple[int, ...]]:
        """Return *text* as a user would send it, in the model's chat template if it has one."""
        known = self._shared.prompts.get(text)
        if known is not None:
            return known
        chat = {"messages": [{"role": "user", "content": text}]}
        try:
            answer = yield from self._watch.answer(
                lambda: self._client.post("/apply-template", chat, seconds=_QUESTION), _QUESTION
            )
            prompt = answer.get("prompt")
        except (Refused, Late):
            prompt = None
        words = {"content": prompt if isinstance(prompt, str) and prompt else text}
        answer = yield from self._watch.answer(
            lambda: self._client.post(
                "/tokenize", words | {"add_special": True, "parse_special": True}, seconds=_QUESTION
            ),
            _QUESTION,
        )
        tokens = answer.get("tokens")
        if not isinstance(tokens, list) or not tokens or {type(t) for t in tokens} != {int}:
            raise Refused("/tokenize did not answer with tokens")
        self._shared.prompts[text] = tuple(tokens)
        return tuple(tokens)
