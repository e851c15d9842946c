"""Windows: a server inside a job object, which ends with the last handle to it.

The system closes the doctor's handles however the doctor ends, so the job does the guard's work.
Not covered by any test.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Self

from mtpdoctor.smoke.diagnosis import Ending
from mtpdoctor.smoke.log import Log

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    from mtpdoctor.smoke.process import Drain

    _KILL_ON_JOB_CLOSE = 0x2000
    _EXTENDED_LIMIT_INFORMATION = 9
    _EXTENDED_SIZE = 144
    _LIMIT_FLAGS = 16
    """Offset of LimitFlags."""
    _NAMES = {0xC0000005: "SIGSEGV", 0xC000001D: "SIGILL", 0xC0000409: "SIGABRT", 3: "SIGABRT"}
    """Exit codes of a Windows program and what the same end is called elsewhere."""

    class JobProcess:
        """A server in a job of its own."""

        def __init__(
            self, argv: Sequence[str], environment: Mapping[str, str], wake: Callable[[], None]
        ) -> None:
            self.log = Log()
            self.exited = Event()
            self.failure = ""
            self.pid = 0
            self.started = monotonic()
            self._wake = wake
            self._ending = Ending()
            self._process: subprocess.Popen[bytes] | None = None
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.CreateJobObjectW.restype = wintypes.HANDLE
            self._job = wintypes.HANDLE(self._kernel.CreateJobObjectW(None, None))
            limits = bytearray(_EXTENDED_SIZE)
            limits[_LIMIT_FLAGS : _LIMIT_FLAGS + 4] = _KILL_ON_JOB_CLOSE.to_bytes(4, "little")
            raw = (ctypes.c_char * _EXTENDED_SIZE).from_buffer(limits)
            self._kernel.SetInformationJobObject(
                self._job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(raw), _EXTENDED_SIZE
            )
            try:
                process = subprocess.Popen(
                    list(argv),
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
                )
            except OSError as error:
                self.failure = error.strerror or str(error)
                self.exited.set()
                return
            handle = wintypes.HANDLE(int(process._handle))  # noqa: SLF001  no public name
            self._kernel.AssignProcessToJobObject(self._job, handle)
            self._process, self.pid = process, process.pid
            assert process.stdout is not None
            Drain(process.stdout, self.log, wake).start()
            Thread(target=self._wait, args=(process,), daemon=True).start()

        def _wait(self, process: subprocess.Popen[bytes]) -> None:
            code = process.wait()
            name = _NAMES.get(code & 0xFFFFFFFF, "")
            self._ending = Ending(signal=name, exit_code=code)
            self.exited.set()
            self._wake()

        @property
        def ending(self) -> Ending:
            return self._ending

        def stop(self) -> None:
            if self._process is not None:
                self._kernel.TerminateJobObject(self._job, 1)
                self._process.wait()
                self._process = None
                self._kernel.CloseHandle(self._job)

        def __enter__(self) -> Self:
            return self

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            trace: TracebackType | None,
        ) -> None:
            self.stop()
