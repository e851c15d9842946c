"""The guard: a small process that starts the server, and ends it when the doctor is gone.

It is run as a file, by ``python -I -S guard.py``, and imports nothing of mtpdoctor. Its standard
input is a pipe whose other end only the doctor holds: the first line says what to start (JSON:
``argv``, ``environment``, ``grace``), and its end means "stop", whether the doctor closed it or
died, by whatever signal. Standard output carries one JSON object a line: ``{"pid": 7}``, then
``{"exit": 1}`` or ``{"signal": 6}``; or ``{"failed": "why it could not be started"}``. Standard
error is the server's output.

A death signal of the parent (PDEATHSIG) would not do: it fires when the spawning *thread* ends, and
Linux alone has it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time

_PAUSE = 0.005
"""Seconds between two looks at processes that are about to end."""
_LAST_WAIT = 0.5
"""Seconds that the system is given to take down what was killed."""
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_RESTORED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGXFSZ", "SIGCHLD", "SIGQUIT")


class _Guard:
    def __init__(self, control: int, status: int) -> None:
        self.control = control
        self.status = status
        self.pid = 0
        self.ended = False
        """Whether the server itself has been waited for."""

    def tell(self, **news: object) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(self.status, (json.dumps(news) + "\n").encode())

    def order(self) -> dict[str, object] | None:
        line = b""
        while not line.endswith(b"\n"):
            part = os.read(self.control, 1 << 16)
            if not part:
                return None
            line += part
        return dict(json.loads(line))

    def start(self, argv: list[str], environment: dict[str, str]) -> bool:
        """Start the server in a session and a group of its own; whether that succeeded.

        The pipe closes by itself when the program takes over, so that afterwards the group
        exists and every later signal finds it.
        """
        heard, told = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _become(argv, environment, told)
        os.close(told)
        with os.fdopen(heard, "rb") as pipe:
            trouble = pipe.read()
        if trouble:
            os.waitpid(self.pid, 0)
            self.tell(failed=trouble.decode(errors="replace"))
            return False
        self.tell(pid=self.pid)
        return True

    def reap(self) -> None:
        """Wait for everything that has ended, orphans of the server included."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid and not self.ended:
                self.ended = True
                code = os.waitstatus_to_exitcode(status)
                self.tell(**({"signal": -code} if code < 0 else {"exit": code}))

    def watch(self, woken: int) -> None:
        """Return when the server has ended, or the doctor wants it to end, or is gone."""
        while not self.ended:
            ready, _, _ = select.select([self.control, woken], [], [])
            if woken in ready:
                news = os.read(woken, 4096)
                if any(number != signal.SIGCHLD for number in news):
                    return
            if self.control in ready and not os.read(self.control, 4096):
                return
            self.reap()

    def send(self, number: int) -> bool:
        """Signal all that is left of the server; whether there was anything."""
        found = False
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
            found = True
        for pid in _descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpgid(pid) != self.pid:  # a second SIGTERM makes llama-server abort
                    os.kill(pid, number)
                    found = True
        return found

    def end(self, grace: float) -> None:
        for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, _LAST_WAIT)):
            deadline = time.monotonic() + seconds
            left = self.send(number)
            while left and time.monotonic() < deadline:
                self.reap()
                left = self.send(number if number == signal.SIGKILL else 0)
                if left:
                    time.sleep(_PAUSE)
            if not left:
                return


def _become(argv: list[str], environment: dict[str, str], told: int) -> None:
    try:
        os.setsid()
        for name in _RESTORED:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash leaves no file behind
        os.dup2(2, 1)
        os.execvpe(argv[0], argv, environment)  # noqa: S606  argv only, never a shell
    except OSError as error:
        os.write(told, (error.strerror or str(error)).encode())
    finally:
        os._exit(127)


def _adopt_orphans() -> None:
    """Become the parent of what the server leaves behind, on Linux."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _descendants(ancestor: int) -> list[int]:
    """Return the living processes below *ancestor*; empty where there is no ``/proc``."""
    parents: dict[int, int] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208  pathlib costs more than the whole guard
            if not name.isdigit():
                continue
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in {b"Z", b"X"}:
                    parents[int(name)] = int(parent)
    below: list[int] = []
    generation = [ancestor]
    while generation:
        generation = [pid for pid, parent in parents.items() if parent in generation]
        below += generation
    return below


def main() -> None:
    """Start what the first line orders, and see to it that it ends."""
    control, status = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    hears, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _adopt_orphans()
    guard = _Guard(control, status)
    order = guard.order()
    if order is None:
        return
    argv, environment, grace = order["argv"], order["environment"], order["grace"]
    assert isinstance(argv, list)
    assert isinstance(environment, dict)
    assert isinstance(grace, float)
    if not guard.start(argv, environment):
        return
    os.dup2(nothing, 2)  # from here on the server alone holds its output
    guard.watch(hears)
    guard.end(grace)
    guard.reap()


if __name__ == "__main__":
    main()
