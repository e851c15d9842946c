"""Waiting for an answer without missing a line of the log, the end of the server, or a cancel."""

from __future__ import annotations

from collections.abc import Callable, Generator
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

from mtpdoctor.events import LogLine, SmokeEvent
from mtpdoctor.facts import ArmName
from mtpdoctor.smoke.client import Late, Lost
from mtpdoctor.smoke.process import ServerProcess

T = TypeVar("T")
Run = Generator[SmokeEvent, None, T]

_LOOK = 0.05
"""Seconds between two looks at whether to cancel; all else wakes the run at once."""
_DYING = 10.0
"""Seconds that a server which dropped a connection may take to end, traces and all."""


class Cancelled(Exception):  # noqa: N818  no error
    """The run is not wanted any more."""


class Ended(Exception):  # noqa: N818
    """The server ended by itself."""


class Watch:
    """What goes on while one server is waited for.

    Its generators yield the lines that the server prints meanwhile, and raise :exc:`Cancelled`,
    :exc:`Ended`, or what the :class:`~mtpdoctor.smoke.client.Client` raises.
    """

    def __init__(self, server: ServerProcess, arm: ArmName, *, cancel: Event, wake: Event) -> None:
        self._server = server
        self._arm: ArmName = arm
        self._cancel = cancel
        self._wake = wake

    def send(self, work: Callable[[], T]) -> SimpleQueue[T | Exception]:
        box: SimpleQueue[T | Exception] = SimpleQueue()

        def call() -> None:
            try:
                box.put(work())
            except Exception as error:  # noqa: BLE001  whoever waits for the answer raises it
                box.put(error)
            self._wake.set()

        Thread(target=call, name="request", daemon=True).start()
        return box

    def answer(self, work: Callable[[], T], seconds: float) -> Run[T]:
        return (yield from self.receive(self.send(work), seconds + 1))

    def receive(self, box: SimpleQueue[T | Exception], seconds: float) -> Run[T]:
        deadline = monotonic() + seconds
        while box.empty():
            yield from self.pause(_LOOK)
            if box.empty() and self._server.exited.is_set():
                raise Ended
            if box.empty() and monotonic() > deadline:
                raise Late(f"no answer within {seconds:g} s")
        answer = box.get()
        if isinstance(answer, Lost):
            dying = monotonic() + _DYING
            while monotonic() < dying:
                yield from self.pause(_LOOK)
                if self._server.exited.is_set():
                    raise Ended from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pause(self, seconds: float) -> Run[None]:
        """Wait for news, *seconds* at most, and show the lines that came."""
        self._wake.wait(seconds)
        self._wake.clear()
        yield from self.lines()
        if self._cancel.is_set():
            raise Cancelled

    def lines(self) -> Run[None]:
        for line in self._server.log.live():
            yield LogLine(arm=self._arm, text=line)
