from __future__ import annotations

import subprocess
import sys
from threading import Event
from time import monotonic

import pytest

from mtpdoctor.facts import Unknown
from mtpdoctor.probes import together

_HANGS = """
import time
from mtpdoctor.probes import together
never = lambda: time.sleep(3600)
for done in together.run({"gpus": never, "host": lambda: "fine"}, deadline=0.2):
    print(done.probe, getattr(done.fact, "reason", done.fact))
"""


def raises() -> object:
    raise ValueError("\x1b[2Jodd")


def test_every_answer_is_yielded_once_with_its_name() -> None:
    done = list(together.run({"a": lambda: 1, "b": lambda: None}, deadline=30))

    assert sorted((one.probe, one.fact) for one in done if one.probe == "a") == [("a", 1)]
    assert [one.fact for one in done if one.probe == "b"] == [None]
    assert len(done) == 2


def test_a_quick_probe_is_not_held_up_by_a_slow_one() -> None:
    go = Event()

    answers = together.run({"slow": go.wait, "quick": lambda: "here"}, deadline=30)
    first = next(answers)
    go.set()

    assert (first.probe, first.fact) == ("quick", "here")
    assert [one.probe for one in answers] == ["slow"]


def test_a_probe_that_raises_is_unknown_and_stops_nothing() -> None:
    done = {one.probe: one.fact for one in together.run({"a": raises, "b": lambda: 2}, deadline=30)}

    assert done["b"] == 2
    assert done["a"] == Unknown("the probe failed: ValueError: \\x1b[2Jodd")


def test_a_probe_that_misses_the_deadline_is_unknown() -> None:
    never = Event()

    done = list(together.run({"gpus": never.wait}, deadline=0.05))
    never.set()

    assert [one.fact for one in done] == [Unknown("did not answer within 0.05 s")]


def test_an_answer_that_came_in_time_counts_although_nobody_looked() -> None:
    answers = together.run({"a": lambda: 1, "b": lambda: 1}, deadline=0.5)
    next(answers)
    Event().wait(0.7)

    assert [one.fact for one in answers] == [1]


def test_cancelling_answers_what_is_still_open() -> None:
    never, cancel = Event(), Event()
    cancel.set()
    started = monotonic()

    done = list(together.run({"gpus": never.wait}, deadline=600, cancel=cancel))
    never.set()

    assert [one.fact for one in done] == [Unknown("cancelled before it answered")]
    assert monotonic() - started < 60


def test_nothing_to_ask_is_no_answer() -> None:
    assert list(together.run({}, deadline=1)) == []


@pytest.mark.timeout(60)
def test_the_interpreter_exits_although_a_probe_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _HANGS],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["host fine", "gpus did not answer within 0.2 s"]
