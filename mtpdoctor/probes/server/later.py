"""Work in a daemon thread, whose answer is waited for until a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
D = TypeVar("D")


class Later(Generic[T]):
    """What *work* will return, or raise."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._answer: tuple[T] | None = None
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._answer = (self._work(),)
        except BaseException as error:  # noqa: BLE001  raised again where the answer is wanted
            self._error = error

    def get(self, until: float, otherwise: D) -> T | D:
        """Return the answer, or *otherwise* if it is not there at the time *until* (monotonic)."""
        self._thread.join(max(0.0, until - time.monotonic()))
        if self._error is not None:
            raise self._error
        return self._answer[0] if self._answer is not None else otherwise
