"""However a run ends, the server and everything that it started end within two seconds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from uuid import uuid4

import pytest
from smoke import driving, stand_in
from smoke.driving import MARK, MTP, drive, gone_within, launch_of, marked

from mtpdoctor.events import SmokeEvent, SmokeStage
from mtpdoctor.smoke import Settings, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc")

LIMIT = 2.0


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    mark = uuid4().hex
    monkeypatch.setenv(MARK, mark)
    return mark


@contextmanager
def doctor(folder: Path, *, until: str) -> Iterator[subprocess.Popen[str]]:
    """A smoke run in a process of its own, as far as the event that says *until*."""
    program = stand_in.install(folder)
    with subprocess.Popen(
        [sys.executable, driving.__file__, program],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    ) as process:
        assert process.stdout is not None
        assert any(until in line for line in process.stdout)
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    "scene",
    [
        ("never-ready+ignores-term+forks", "waiting for the model"),
        ("hang-request+ignores-term+forks", "first request"),
        ("flood+ignores-term", "request generate"),
    ],
)
def test_nothing_is_left_when_the_doctor_is_killed(
    tmp_path: Path,
    mark: str,
    monkeypatch: pytest.MonkeyPatch,
    scene: tuple[str, str],
    number: signal.Signals,
) -> None:
    mode, until = scene
    monkeypatch.setenv(stand_in.MODE, mode)
    with doctor(tmp_path, until=until) as process:
        process.send_signal(number)

        assert gone_within(LIMIT, mark)
        assert [path.name for path in tmp_path.iterdir()] == ["llama-server"]


def test_nothing_is_left_when_the_guard_itself_is_killed(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stand_in.MODE, "hang-request+ignores-term")
    with doctor(tmp_path, until="first request") as process:
        guards = [
            pid
            for pid in marked(mark)
            if b"guard.py" in Path(f"/proc/{pid}/cmdline").read_bytes() and pid != process.pid
        ]
        os.kill(guards[0], signal.SIGKILL)
        assert process.stdout is not None
        process.stdout.read()

        assert process.wait() == 0
        assert gone_within(LIMIT, mark)


@pytest.mark.parametrize("mode", ["ignores-term+forks", "forks", "dies-second+forks", "flood"])
def test_nothing_is_left_when_the_run_is_over(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv(stand_in.MODE, mode)
    drive(stand_in.install(tmp_path), launch_of("llama-server", "-m", "x"), Settings())

    assert marked(mark) == []


def test_cancelling_ends_a_request_that_hangs(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stand_in.MODE, "hang-request+ignores-term")
    cancel = Event()

    def seen(event: SmokeEvent) -> None:
        if isinstance(event, SmokeStage) and event.step == "warm-up":
            cancel.set()

    launch = launch_of("llama-server", "-m", "x", *MTP)
    found = drive(stand_in.install(tmp_path), launch, Settings(), cancel=cancel, seen=seen)

    assert [attempt.outcome for attempt in found.attempts] == ["cancelled"]
    assert not found.proved
    assert marked(mark) == []


def test_a_front_end_that_stops_listening_ends_the_server(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stand_in.MODE, "hang-request")
    events = run(
        launch_of("llama-server", "-m", "x"),
        knowledge=driving.NOTHING,
        settings=Settings(),
        cancel=Event(),
        binary=stand_in.install(tmp_path),
    )
    for event in events:
        if isinstance(event, SmokeStage) and event.step == "warm-up":
            break
    events.close()

    assert marked(mark) == []
