"""What a run says of a server that misbehaves; the server is the scripted stand-in."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from smoke import stand_in
from smoke.driving import MTP, drive, launch_of

from mtpdoctor.events import LogLine, SmokeEvent
from mtpdoctor.facts import Crash, SmokeRun, Unknown
from mtpdoctor.smoke import Settings

ONE_ARM = Settings(rounds=("mtp",), timeout=20, request_timeout=5)


def run_stand_in(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    settings: Settings = ONE_ARM,
    *words: str,
) -> tuple[SmokeRun, list[SmokeEvent]]:
    monkeypatch.setenv(stand_in.MODE, mode)
    events: list[SmokeEvent] = []
    found = drive(
        stand_in.install(folder),
        launch_of("llama-server", "-m", "x", *MTP, *words),
        settings,
        seen=events.append,
    )
    return found, events


def crash_of(found: SmokeRun) -> Crash:
    crash = found.attempts[-1].crash
    assert crash is not None
    return crash


def test_a_server_that_answers_all_without_drafting_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = run_stand_in(tmp_path, monkeypatch, "", Settings(timeout=20))

    assert [attempt.outcome for attempt in found.attempts] == ["answered", "answered"]
    assert isinstance(found.acceptance, Unknown)
    assert found.speedup == 1.0
    assert not found.proved


def test_a_crash_in_the_second_request_names_it_with_the_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = run_stand_in(tmp_path, monkeypatch, "dies-second")
    crash = crash_of(found)

    assert (found.attempts[0].outcome, crash.request) == ("crashed", "long-prompt")
    assert (crash.signal, crash.exit_code) == ("SIGABRT", None)
    assert crash.log_tail[-1] == "E the stand-in has had enough"


def test_a_server_that_leaves_in_a_request_is_told_with_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = crash_of(run_stand_in(tmp_path, monkeypatch, "leaves")[0])

    assert (crash.request, crash.signal, crash.exit_code) == ("long-prompt", "", 3)


@pytest.mark.parametrize("mode", ["never-ready", "hang-health"])
def test_a_server_that_never_becomes_ready_times_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    found, _ = run_stand_in(tmp_path, monkeypatch, mode, Settings(rounds=("mtp",), timeout=0.5))
    crash = crash_of(found)

    assert found.attempts[0].outcome == "timeout"
    assert crash.timed_out
    assert crash.cause.startswith("not ready after")
    assert crash.cause.endswith("; the limit is 0.5 s")


def test_a_request_that_is_never_answered_times_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(rounds=("mtp",), timeout=20, request_timeout=0.5)
    found, _ = run_stand_in(tmp_path, monkeypatch, "hang-request", settings)

    assert (found.attempts[0].outcome, found.attempts[0].request) == ("timeout", "warm-up")


@pytest.mark.parametrize(
    ("mode", "cause"),
    [
        ("garbage", '/completion did not answer with JSON: {"tokens": [1, 2'),
        ("nonsense", "/completion answered with predicted_n = 'many'"),
        ("endless", "the answer to /completion is longer than 8 MiB"),
        ("refuses", "/completion answered 400: context \\u202eis full"),
    ],
)
def test_an_answer_that_is_none_is_refused_in_safe_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, cause: str
) -> None:
    found, _ = run_stand_in(tmp_path, monkeypatch, mode)

    assert found.attempts[0].outcome == "refused"
    assert crash_of(found).cause == cause


def test_a_flood_of_log_lines_neither_blocks_the_server_nor_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, events = run_stand_in(tmp_path, monkeypatch, "flood")

    assert found.attempts[0].outcome == "answered"
    assert sum(isinstance(event, LogLine) for event in events) < 2000


def test_a_flood_of_log_lines_is_not_taken_for_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(rounds=("mtp",), timeout=0.5)
    found, _ = run_stand_in(tmp_path, monkeypatch, "flood+never-ready", settings)

    assert found.attempts[0].outcome == "timeout"


def test_a_server_that_gives_up_without_a_word_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_NOTE", str(tmp_path / "note"))
    found, _ = run_stand_in(tmp_path, monkeypatch, "mute-once")

    assert [attempt.outcome for attempt in found.attempts] == ["answered"]


def test_a_program_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    found = drive(str(missing), launch_of("llama-server", "-m", "x"), ONE_ARM)

    assert found.attempts[0].outcome == "crashed"
    assert crash_of(found).cause == "the program cannot be started: No such file or directory"


def test_the_key_is_random_and_in_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(rounds=("mtp", "mtp"), timeout=20)
    _, events = run_stand_in(tmp_path, monkeypatch, "shows-key", settings, "--api-key", "users-own")
    lines = [e.text for e in events if isinstance(e, LogLine) and e.text.startswith("key ")]
    keys = [line.split()[1] for line in lines]

    assert len(set(keys)) == 2
    assert all(len(key) == 32 for key in keys)
    assert not any(
        key in line.partition(" argv ")[2] for key, line in zip(keys, lines, strict=True)
    )
    assert not any("users-own" in line for line in lines)


def test_a_run_that_was_cancelled_before_it_began_starts_no_second_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel = Event()
    cancel.set()
    launch = launch_of("llama-server", "-m", "x")
    found = drive(stand_in.install(tmp_path), launch, Settings(), cancel=cancel)

    assert [attempt.outcome for attempt in found.attempts] == ["cancelled"]
