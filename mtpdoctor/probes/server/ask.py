"""Start a program to ask it something: bounded output, a deadline, nothing left behind."""

from __future__ import annotations

import atexit
import errno
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

LIMIT = 1 << 20
"""Bytes of each stream that are kept; a program that writes more is stopped."""

_GRACE = 0.5
"""Seconds that the streams may stay open after the program itself has ended."""

# Everything that changes what a server answers, or where it writes: a bad value in LLAMA_ARG_*
# makes even --help fail, and LLAMA_LOG_FILE would let the doctor write into the user's log.
_OWN = ("LLAMA_ARG_", "LLAMA_LOG_", "LLAMA_API_KEY")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNPRINTABLE = re.compile(r"[^\n\t -~\xa0-\U0010ffff]")

_running: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    out: bytes = b""
    err: bytes = b""
    code: int | None = None
    """The exit status, negative for a signal; ``None`` when it was stopped or never started."""
    stopped: Literal["", "deadline", "flood", "enough"] = ""
    refused: OSError | None = None
    """Why the system did not start it."""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def text(self) -> str:
        """Both streams, without colour and control characters: servers log to either."""
        return plain(self.err) + "\n" + plain(self.out)


@dataclass(slots=True)
class _Stream:
    descriptor: int
    kept: bytearray = field(default_factory=bytearray)
    flooded: bool = False
    enough: bool = False

    @property
    def full(self) -> bool:
        return self.flooded or self.enough


def plain(data: bytes) -> str:
    """Decode what a program wrote, without colour, carriage returns and control characters."""
    text = _ANSI.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n"))
    return _UNPRINTABLE.sub("", text)


def surroundings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return *environment* without what changes a server's answers, and without colour."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_OWN)}
    return kept | {"NO_COLOR": "1", "TERM": "dumb"}


def ask(
    argv: Sequence[str],
    environment: Mapping[str, str],
    deadline: float,
    *,
    when_writing: Callable[[int], None] | None = None,
    enough: re.Pattern[bytes] | None = None,
) -> Answer:
    """Run *argv* for at most *deadline* seconds, in a process group that is killed at the end.

    *when_writing* is called with the process id as soon as something stands on stdout; on Linux
    the program is then held there, as the pipe takes one page. Once *enough* is found in a stream,
    the program is stopped.
    """
    start = time.monotonic()
    reading, writing = os.pipe()
    if when_writing is not None:
        _shrink(writing)
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,  # nothing on Windows, where taskkill finds the children
        )
    except OSError as error:
        os.close(reading)
        return Answer(refused=error, seconds=time.monotonic() - start)
    except ValueError as error:  # a NUL in a word or a variable
        os.close(reading)
        return Answer(refused=OSError(errno.EINVAL, str(error)), seconds=time.monotonic() - start)
    finally:
        os.close(writing)
    _running.add(process)
    assert process.stderr is not None
    streams = (_Stream(reading), _Stream(process.stderr.fileno()))
    call = None if when_writing is None else lambda: when_writing(process.pid)
    readers = [
        threading.Thread(target=_read, args=(streams[0], enough, call), daemon=True),
        threading.Thread(target=_read, args=(streams[1], enough, None), daemon=True),
    ]
    try:
        for reader in readers:
            reader.start()
        finished = _wait(process, readers, streams, start + deadline)
    finally:
        _kill(process)
        for reader in readers:
            reader.join(_GRACE)
        process.wait()
        _running.discard(process)
        if not readers[1].is_alive():
            process.stderr.close()
        if not readers[0].is_alive():
            os.close(reading)
    return Answer(
        out=bytes(streams[0].kept),
        err=bytes(streams[1].kept),
        code=process.returncode if finished else None,
        stopped="" if finished else _why(streams),
        seconds=time.monotonic() - start,
    )


def _wait(
    process: subprocess.Popen[bytes],
    readers: list[threading.Thread],
    streams: tuple[_Stream, ...],
    until: float,
) -> bool:
    """Wait for the program's own end, without taking its status: its group stays killable."""
    pause = 0.001
    for reader in readers:
        while reader.is_alive() and time.monotonic() < until:
            reader.join(0.02)
            if _ended(process):  # but a child of it may still hold the stream open
                until = min(until, time.monotonic() + _GRACE)
            if any(stream.full for stream in streams):
                break
    while not _ended(process):
        if time.monotonic() >= until or any(stream.full for stream in streams):
            return False
        time.sleep(pause)
        pause = min(0.05, pause * 2)
    return True


def _why(streams: tuple[_Stream, ...]) -> Literal["deadline", "flood", "enough"]:
    if any(stream.enough for stream in streams):
        return "enough"
    return "flood" if any(stream.flooded for stream in streams) else "deadline"


def _read(
    stream: _Stream, enough: re.Pattern[bytes] | None, when_writing: Callable[[], None] | None
) -> None:
    if when_writing is not None:
        _readable(stream.descriptor)
        when_writing()
    while chunk := os.read(stream.descriptor, 1 << 16):
        stream.kept += chunk
        if enough is not None and enough.search(stream.kept):
            stream.enough = True
            return
        if len(stream.kept) > LIMIT:
            del stream.kept[LIMIT:]
            stream.flooded = True
            return


def _readable(descriptor: int) -> None:
    if sys.platform != "win32":
        import select

        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll()


def _shrink(descriptor: int) -> None:
    """Make a pipe as small as Linux has it, one page, so that its writer is held early."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # a sandbox may refuse it
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 4096)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    if sys.platform == "win32" or not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the program with all that it started; nothing it was asked needs a farewell."""
    if sys.platform == "win32":
        if process.poll() is None:
            pid = str(process.pid)
            subprocess.run(["taskkill", "/F", "/T", "/PID", pid], capture_output=True, check=False)
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()  # does nothing to a process that has ended


@atexit.register
def _leave_nothing() -> None:
    for process in tuple(_running):
        _kill(process)
