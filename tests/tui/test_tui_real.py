"""The whole program on the real demo: as an app, and as a process on a pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from time import monotonic, sleep

import pytest
from tui.scripted import shown, until, until_seen

from mtpdoctor.demo.command import command
from mtpdoctor.doctor import diagnose
from mtpdoctor.errors import DoctorError, ExitCode
from mtpdoctor.request import Request

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals"),
]
_MAIN = "import sys; from mtpdoctor.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def demo() -> tuple[str, ...]:
    try:
        return command(server=None, environment=dict(os.environ), acceptance=0.66)
    except DoctorError as error:
        pytest.skip(error.says)


async def test_the_demo_ends_with_a_proved_command(demo: tuple[str, ...]) -> None:
    request = Request(words=demo, environment=dict(os.environ), smoke=True)
    async with shown(diagnose, request=request) as (app, pilot):
        await until(pilot, lambda: app.last is not None, seconds=120)
        seen = await until_seen(pilot, "the command, proved by the run")
        await pilot.press("y")

    assert "the command is proved" in seen
    assert app.clipboard.startswith(demo[0])
    assert app.exit_code is ExitCode.OK


class Session:
    """``mtpdoctor`` on a terminal of 80 by 24."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self.terminal, self.process = terminal, process
        self.output = b""

    def until(self, text: bytes, seconds: float = 60) -> None:
        deadline = monotonic() + seconds
        while text not in self.output:
            assert monotonic() < deadline, self.output[-2000:]
            self.read()

    def read(self) -> None:
        if select([self.terminal], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):  # EIO: the process has closed its side
                self.output += os.read(self.terminal, 1 << 16)

    def end(self, seconds: float = 20) -> int:
        deadline = monotonic() + seconds
        while self.process.poll() is None:
            assert monotonic() < deadline, "it does not end"
            self.read()
        self.read()
        return self.process.returncode


@contextmanager
def session(tmp_path: Path, *arguments: str) -> Iterator[Session]:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = dict(os.environ) | {"TERM": "xterm-256color", "TMPDIR": str(tmp_path)}
    environment.pop("TMUX", None)
    process = subprocess.Popen(
        [sys.executable, "-c", _MAIN, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=tmp_path,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Session(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def servers(target: str) -> list[str]:
    """Return the processes that hold *target* among their words."""
    if not Path("/proc/self/cmdline").exists():
        found = subprocess.run(["ps", "ax"], capture_output=True, text=True, check=True).stdout
        return [line for line in found.splitlines() if target in line]
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            lines.append((folder / "cmdline").read_text("utf-8", "replace"))
    return [line for line in lines if target in line]


@pytest.fixture
def own_target(demo: tuple[str, ...], tmp_path: Path) -> tuple[str, ...]:
    """Return the demo's command on a target of this test's own, to tell its server by."""
    target = tmp_path / "target.gguf"
    shutil.copy(demo[demo.index("-m") + 1], target)
    return tuple(str(target) if word == demo[2] else word for word in demo)


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGINT, ExitCode.INTERRUPTED),
        ("\x03", ExitCode.INTERRUPTED),
        ("q", ExitCode.INCONCLUSIVE),
    ],
    ids=["SIGTERM", "SIGINT", "ctrl-c", "q"],
)
def test_ending_it_in_the_middle_of_a_run_leaves_no_server(
    own_target: tuple[str, ...], tmp_path: Path, ending: signal.Signals | str, code: ExitCode
) -> None:
    with session(tmp_path, "--smoke", "--", *own_target) as running:
        running.until(b"request ")
        assert servers(own_target[2])
        if isinstance(ending, str):
            os.write(running.terminal, ending.encode())
        else:
            running.process.send_signal(ending)
        returned = running.end()
        deadline = monotonic() + 2
        while servers(own_target[2]) and monotonic() < deadline:
            sleep(0.05)

        assert returned == code
        assert servers(own_target[2]) == []
        assert b"\x1b[?1049l" in running.output  # the user's own screen is back


def test_a_mistake_is_said_again_on_the_users_own_screen(tmp_path: Path) -> None:
    with session(tmp_path, "--", "docker", "run", "x") as running:
        running.until(b"try:")
        os.write(running.terminal, b"q")
        returned = running.end()
        after = running.output.rpartition(b"\x1b[?1049l")[2]

    assert returned == ExitCode.USAGE
    assert b"Traceback" not in after
    assert b"mtpdoctor: try: install mtpdoctor in the container" in after


def test_the_verdict_is_printed_on_the_users_own_screen(tmp_path: Path) -> None:
    with session(tmp_path, "--", "no-such-server", "-m", "x.gguf") as running:
        running.until(b"fail")
        os.write(running.terminal, b"q")
        returned = running.end()
        after = running.output.rpartition(b"\x1b[?1049l")[2]

    assert returned == ExitCode.FOUND
    assert b"errors" in after
