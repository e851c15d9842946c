"""A llama-server that runs under a guard: started, watched, drained, and surely ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import IO, Protocol, Self

from mtpdoctor.smoke.diagnosis import Ending
from mtpdoctor.smoke.log import Log

GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL; all is over within two."""
_GUARD_SECONDS = GRACE + 2.0
"""How long the guard itself may take until it is given up."""
_JOIN_SECONDS = 1.0
_GUARD = Path(__file__).with_name("guard.py")


class ServerProcess(Protocol):
    """A started server; leaving the ``with`` block ends it and all that it started."""

    log: Log
    exited: Event
    """Set once the server has ended, or could not be started."""
    failure: str
    """Why the program could not be started; empty when it was."""
    pid: int
    started: float
    """When it was started, on the monotonic clock."""

    @property
    def ending(self) -> Ending:
        """How it ended; an empty one while it runs, or when nobody saw."""

    def stop(self) -> None:
        """End it, by force after :data:`GRACE`; does nothing the second time."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def start(
    argv: Sequence[str], environment: Mapping[str, str], *, wake: Callable[[], None]
) -> ServerProcess:
    """Start *argv* in the current folder; *wake* is called, from other threads, at any news."""
    if sys.platform == "win32":
        from mtpdoctor.smoke.job import JobProcess  # ctypes.windll is only there

        return JobProcess(argv, environment, wake)
    return GuardedProcess(argv, environment, wake)


class Drain(Thread):
    """Reads a pipe to its end, so that the writer never waits."""

    def __init__(self, pipe: IO[bytes], log: Log, wake: Callable[[], None]) -> None:
        super().__init__(name="server log", daemon=True)
        self._pipe, self._log, self._wake = pipe, log, wake

    def run(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 1 << 16):
            if self._log.feed(chunk):
                self._wake()


class GuardedProcess:
    """A server below a guard process, see :mod:`mtpdoctor.smoke.guard`."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], wake: Callable[[], None]
    ) -> None:
        self.log = Log()
        self.exited = Event()
        self.failure = ""
        self.pid = 0
        self.started = monotonic()
        self._ending = Ending()
        self._seen = False
        self._wake = wake
        self._guard = subprocess.Popen(
            (sys.executable, "-I", "-S", str(_GUARD)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        order = {"argv": list(argv), "environment": dict(environment), "grace": GRACE}
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        assert self._guard.stderr is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once; the status says so
            self._guard.stdin.write(json.dumps(order).encode() + b"\n")
            self._guard.stdin.flush()
        self._drain = Drain(self._guard.stderr, self.log, wake)
        self._listen = Thread(
            target=self._hear, args=(self._guard.stdout,), name="guard", daemon=True
        )
        self._drain.start()
        self._listen.start()

    def _hear(self, status: IO[bytes]) -> None:
        for line in status:
            news = json.loads(line)
            if "pid" in news:
                self.pid, self.started = news["pid"], monotonic()
            elif "failed" in news:
                self.failure = str(news["failed"])
            else:
                self._seen = True
                number = news.get("signal")
                self._ending = (
                    Ending.of_exit(news["exit"]) if number is None else Ending.of_signal(number)
                )
                self.exited.set()
                self._wake()
        if not self._seen and self.pid:  # the guard was killed: nobody else will end the server
            _kill_group(self.pid)
        self.exited.set()
        self._wake()

    @property
    def ending(self) -> Ending:
        return self._ending

    def stop(self) -> None:
        guard = self._guard
        assert guard.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            guard.stdin.close()
        try:
            guard.wait(_GUARD_SECONDS)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        for thread, pipe in ((self._listen, guard.stdout), (self._drain, guard.stderr)):
            thread.join(_JOIN_SECONDS)
            if not thread.is_alive() and pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def moved(pid: int) -> tuple[int, int] | None:
    """Return the bytes that a process has read and written so far; ``None`` where nobody counts.

    Reading counts the disk too, since a model is mapped and not read.
    """
    try:
        text = Path(f"/proc/{pid}/io").read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return None
    counts = dict(line.split(": ") for line in text.splitlines())
    read, mapped, written = (int(counts[key]) for key in ("rchar", "read_bytes", "wchar"))
    return read + mapped, written
