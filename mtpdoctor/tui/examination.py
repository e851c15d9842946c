"""One examination in a thread of its own; what happens comes out as messages.

The thread is a daemon and no executor's: a probe that hangs must not keep the program from
ending, and the smoke run's guard ends a server whose doctor is gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event as Flag
from threading import Thread

from textual.message import Message

from mtpdoctor import registry
from mtpdoctor.doctor import Event
from mtpdoctor.events import SmokeStage
from mtpdoctor.request import Request
from mtpdoctor.tui.state import Happening, Over, Prepared

Examine = Callable[[Request, Flag], Iterator[Event]]
"""``doctor.diagnose``, or what stands in for it."""
_AT_ONCE = 1000
"""How many happenings one message may bring, so that no handler takes long."""


class Examination:
    """Runs *examine* on what *make* returns, and tells *post* whenever there is news."""

    class News(Message):
        """Something happened; ask :meth:`Examination.take` what."""

        def __init__(self, examination: Examination) -> None:
            super().__init__()
            self.examination = examination

    def __init__(
        self, make: Callable[[], Request], examine: Examine, post: Callable[[Message], object]
    ) -> None:
        self._make, self._examine, self._post = make, examine, post
        self._cancel = Flag()
        self._happened: deque[Happening] = deque()
        self._told = Flag()
        """Whether a message is under way that will find all that happened."""
        self._thread = Thread(target=self._work, name="examination", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """Ask it to end early; nothing is left running when it has ended."""
        self._cancel.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, *seconds* at most; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def take(self) -> list[Happening]:
        """Return what happened since the last call, in order; the rest is told anew."""
        self._told.clear()
        taken: list[Happening] = []
        while self._happened and len(taken) < _AT_ONCE:
            taken.append(self._happened.popleft())
        if self._happened:
            self._tell()
        return taken

    def _work(self) -> None:
        failure: Exception | None = None
        try:
            request = self._make()
            titles = {id: check.title for id, check in registry.load().checks.items()}
            self._put(Prepared(request=request, titles=titles))
            self._follow(self._examine(request, self._cancel))
        except Exception as error:  # noqa: BLE001  shown, and raised again when the screen is gone
            failure = error
        self._put(Over(failure=failure))

    def _follow(self, events: Iterator[Event]) -> None:
        smoking = False
        try:
            for event in events:
                self._put(event)
                smoking = smoking or isinstance(event, SmokeStage)
                if self._cancel.is_set() and not smoking:
                    return  # what is static has no ear for it
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()

    def _put(self, happening: Happening) -> None:
        self._happened.append(happening)
        self._tell()

    def _tell(self) -> None:
        if not self._told.is_set():
            self._told.set()
            with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
                self._post(self.News(self))
