"""Smoke runs of a real llama-server on small pairs."""

from __future__ import annotations

import re
import socket
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event

import pairs
import pytest
from smoke.driving import drive, launch_of

from mtpdoctor import knowledge
from mtpdoctor.events import LogLine, SmokeEvent, SmokeSample, SmokeStage
from mtpdoctor.facts import Parity, SmokeRun, Unknown
from mtpdoctor.smoke import Ask, Settings, plan

SERVER = Path(sys.executable).with_name("llama-server-vulkan")
BOOK = knowledge.load()
_MEAN = re.compile(r"mean len =\s*([\d.]+)")
QUICK = Settings(timeout=60, sample_seconds=0.0, sure_above=0.0)

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not SERVER.exists(), reason="the demo's llama-server is not installed"),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> pairs.Written:
    return pairs.write(tmp_path_factory.mktemp("sound"))


def run_on(
    pair: pairs.Written,
    *words: str,
    settings: Settings = QUICK,
    events: list[SmokeEvent] | None = None,
    cancel: Event | None = None,
) -> SmokeRun:
    seen = [] if events is None else events
    launch = launch_of("llama-server", *pair.arguments, *words)
    return drive(str(SERVER), launch, settings, knowledge=BOOK, seen=seen.append, cancel=cancel)


def test_a_sound_pair_is_proved_with_every_draft_accepted_and_equal_tokens(
    sound: pairs.Written,
) -> None:
    events: list[SmokeEvent] = []
    found = run_on(sound, "-np", "2", events=events)

    assert [attempt.outcome for attempt in found.attempts] == ["answered", "answered"]
    assert found.proved
    assert found.plain is not None
    assert found.mtp is not None
    assert found.mtp.requests == ("long-prompt", "generate", "again", "parallel", "parallel")
    assert found.plain.drafted == 0
    assert found.acceptance == found.mtp.accepted / found.mtp.drafted > 0.95
    assert found.parity == Parity(equal=True)
    assert isinstance(found.speedup, float)
    stages = [event for event in events if isinstance(event, SmokeStage)]
    assert [stage.done for stage in stages] == list(range(stages[0].total))
    assert sum(isinstance(event, SmokeSample) for event in events) == 10
    assert any(isinstance(event, LogLine) for event in events)


def test_a_speed_up_that_may_be_chance_is_measured_again_backwards(sound: pairs.Written) -> None:
    settings = replace(QUICK, sure_above=1e9)

    found = run_on(sound, settings=settings)

    assert [attempt.arm for attempt in found.attempts] == ["plain", "mtp", "mtp", "plain"]
    assert found.proved


@pytest.mark.parametrize("words", [("-c", "256"), ("-c", "8")])
def test_a_context_for_one_leaves_the_parallel_request_out(
    sound: pairs.Written, words: tuple[str, ...]
) -> None:
    found = run_on(sound, *words, settings=Settings(rounds=("mtp",), sample_seconds=0.0))

    assert found.proved
    assert found.mtp is not None
    assert found.mtp.left_out == ("parallel",)


def test_one_slot_leaves_the_parallel_request_out(sound: pairs.Written) -> None:
    found = run_on(sound, "-np", "1", settings=Settings(rounds=("mtp",), sample_seconds=0.0))

    assert found.proved
    assert found.mtp is not None
    assert found.mtp.left_out == ("parallel",)


def test_a_small_context_cuts_the_long_prompt_to_what_it_holds(sound: pairs.Written) -> None:
    found = run_on(sound, "-c", "512", "-np", "1")

    assert [attempt.outcome for attempt in found.attempts] == ["answered", "answered"]
    assert found.proved


def test_the_mean_length_is_the_one_that_llama_cpp_prints(sound: pairs.Written) -> None:
    asks = (Ask(name="only", text="Count on.", predict=100, free=True),)
    settings = Settings(rounds=("mtp",), requests=asks, sample_seconds=0.0)
    for _ in range(3):  # a server that is stopped may lose its last lines
        events: list[SmokeEvent] = []
        found = run_on(sound, settings=settings, events=events)
        lines = [event.text for event in events if isinstance(event, LogLine)]
        printed = [float(m[1]) for m in map(_MEAN.search, lines) if m]
        if len(printed) == len(("warm-up", "only")):
            break

    assert found.mean_accepted_length == pytest.approx(printed[-1])


def test_a_command_that_does_not_draft_runs_and_proves_nothing(sound: pairs.Written) -> None:
    launch = launch_of("llama-server", "-m", sound.target)
    found = drive(str(SERVER), launch, Settings(rounds=("mtp",), sample_seconds=0.0))

    assert found.attempts[0].outcome == "answered"
    assert isinstance(found.acceptance, Unknown)
    assert not found.proved


def test_settings_of_the_environment_count_and_host_and_port_do_not(
    sound: pairs.Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_ARG_PORT", "1")
    monkeypatch.setenv("LLAMA_ARG_HOST", "203.0.113.1")
    words = ("LLAMA_ARG_SPEC_TYPE=draft-mtp", f"LLAMA_ARG_SPEC_DRAFT_MODEL={sound.drafter}")
    launch = launch_of(*words, "LLAMA_ARG_PORT=2", "llama-server", "-m", sound.target)
    found = drive(str(SERVER), launch, QUICK)

    assert found.proved
    assert found.plain is not None
    assert found.plain.drafted == 0


def test_a_port_in_use_is_none_of_the_users_business(
    sound: pairs.Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = iter([taken.getsockname()[1]])
        free_port = plan.free_port
        monkeypatch.setattr(plan, "free_port", lambda: next(first, None) or free_port())
        found = run_on(sound, settings=Settings(rounds=("mtp",), sample_seconds=0.0))

    assert [attempt.outcome for attempt in found.attempts] == ["answered"]


def test_cancelling_in_the_middle_keeps_what_the_other_arm_measured(sound: pairs.Written) -> None:
    cancel = Event()
    events: list[SmokeEvent] = []

    class Watch(list[SmokeEvent]):
        def append(self, event: SmokeEvent) -> None:
            super().append(event)
            if isinstance(event, SmokeStage) and event.arm == "mtp" and event.step == "request":
                cancel.set()

    found = run_on(sound, events=Watch(events), cancel=cancel)

    assert [attempt.outcome for attempt in found.attempts] == ["answered", "cancelled"]
    assert found.plain is not None
    assert not found.proved


@pytest.mark.parametrize(
    ("variant", "check"),
    [("width-wrong", "drafter-width-mismatch"), ("heads-larger", "drafter-head-mismatch")],
)
def test_an_abort_is_told_with_its_signal_its_cause_and_the_log(
    tmp_path: Path, variant: str, check: str
) -> None:
    found = run_on(pairs.write(tmp_path, variant))
    crash = found.crash

    assert [attempt.outcome for attempt in found.attempts] == ["answered", "crashed"]
    assert crash is not None
    assert crash.signal == "SIGABRT"
    assert any("GGML_ASSERT" in line for line in crash.log_tail)
    assert (crash.check, bool(crash.cause)) == (check, True)


def test_a_refusal_while_loading_is_told_with_its_exit_code_and_cause(tmp_path: Path) -> None:
    crash = run_on(pairs.write(tmp_path, "arch-underscore")).crash

    assert crash is not None
    assert (crash.signal, crash.exit_code, crash.request) == ("", 1, "")
    assert "gemma4_assistant" in crash.cause
    assert crash.check == "drafter-arch-unknown"


def test_an_argument_that_the_server_refuses_stops_both_arms(sound: pairs.Written) -> None:
    found = run_on(sound, "--bogus-flag")

    assert [attempt.outcome for attempt in found.attempts] == ["crashed", "crashed"]
    assert found.crash is not None
    assert found.crash.check == "unknown-flag"
