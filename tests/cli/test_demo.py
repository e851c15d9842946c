"""The main job on the built-in pair and a real llama-server, and that nothing is left behind."""

from __future__ import annotations

import json
import signal
import subprocess
import uuid
from pathlib import Path
from time import monotonic, sleep

import pytest
from doctor_command import DOCTOR, MARK, doctor, environment, marked
from jsonschema import Draft202012Validator

from mtpdoctor.render import json_v1

pytestmark = pytest.mark.server

SOUND = {"pass", "warn"}
"""A machine that is busy with other tests may see no speed-up, which is a warning."""


def test_the_demo_ends_with_a_proved_command_as_one_json_document() -> None:
    answer = doctor("--demo", "--json")

    report = json.loads(answer.out)
    Draft202012Validator(json_v1.schema()).validate(report)
    assert answer.code == 0
    assert answer.err == ""
    assert (report["scope"], report["command"]["proved"]) == ("smoke", True)
    assert report["verdict"] in SOUND
    assert 0.60 <= report["smoke"]["acceptance"] <= 0.72
    assert report["smoke"]["parity"] == {"equal": True, "first_difference": None}


def test_without_a_terminal_there_is_no_colour_and_no_cursor_movement() -> None:
    answer = doctor("--demo", env=environment(FORCE_COLOR="1", COLORTERM="truecolor"))

    assert answer.code == 0
    assert not any(c in answer.out + answer.err for c in "\x1b\r\b")
    assert answer.out.splitlines()[-1].partition(":")[0] in SOUND


def test_another_acceptance_can_be_asked_for() -> None:
    report = doctor("--demo", "--json", "--demo-acceptance", "1").report

    assert report["smoke"]["acceptance"] > 0.95


def test_a_stated_threshold_that_is_missed_fails() -> None:
    answer = doctor("--demo", "--json", "--min-acceptance", "0.9")

    assert answer.code == 1
    assert answer.errors() == ["acceptance-too-low"]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)],
)
def test_nothing_is_left_when_the_doctor_is_ended(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    mark = uuid.uuid4().hex
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    running = subprocess.Popen(
        [DOCTOR, "--demo", "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**{MARK: mark, "TMPDIR": str(temporary)}),
    )
    try:
        until(lambda: any("--spec-type" not in w and "--port" in w for w in marked(mark)), 60)
        running.send_signal(number)
        out, _ = running.communicate(timeout=30)
    finally:
        running.kill()
        running.wait()

    until(lambda: not marked(mark) and not list(temporary.iterdir()), 2)
    assert (running.returncode, out) == (code, b"")


def until(true: object, seconds: float) -> None:
    """Wait until *true* is; fail when it does not come within *seconds*."""
    assert callable(true)
    deadline = monotonic() + seconds
    while not true():
        assert monotonic() < deadline, f"not within {seconds} s"
        sleep(0.05)
