"""The screen of an examination, at both sizes, driven by keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Event as Flag

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from tui.scripted import (
    FOUND,
    MENDED,
    PASSED,
    REQUEST,
    RUN,
    SIZES,
    UNKNOWN,
    LongRun,
    report,
    says,
    screen,
    shown,
    until,
    until_seen,
)

from mtpdoctor.doctor import Event, Finished
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.errors import DoctorError, ExitCode
from mtpdoctor.events import CheckDone, LogLine, ProbeDone, SmokeStage
from mtpdoctor.facts import Target
from mtpdoctor.findings import Evidence, Finding
from mtpdoctor.request import Request
from mtpdoctor.tui.app import DoctorApp
from mtpdoctor.tui.detail import Detail

both_sizes = pytest.mark.parametrize("size", SIZES, ids=["80x24", "160x50"])
ALL = (CheckDone(result=PASSED), CheckDone(result=UNKNOWN), CheckDone(result=FOUND))
SMOKE = replace(REQUEST, smoke=True)
HOSTILE = "[red]x[/] \x1b]0;title\a \u202edesrever [/nonsense"


@both_sizes
async def test_checks_appear_with_mark_and_word_and_the_verdict(size: tuple[int, int]) -> None:
    async with shown(says(*ALL), size) as (_, pilot):
        seen = await until_seen(pilot, "✗ fail")

    assert "✗ error   removed-flag" in seen
    assert "? unknown vocab-mismatch" in seen
    assert "✓ passed  roles-swapped" in seen
    assert "checks: 1 error, 1 unknown, 1 passed" in seen


@both_sizes
async def test_the_detail_of_the_worst_check_is_open(size: tuple[int, int]) -> None:
    async with shown(says(*ALL), size) as (_, pilot):
        seen = await until_seen(pilot, "because: its own help says so")

    assert "--draft-max was removed" in seen
    assert "fix: drop --draft-max" in seen


async def test_checks_are_shown_while_others_are_still_to_come() -> None:
    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        yield CheckDone(result=PASSED)
        cancel.wait(20)

    async with shown(examine) as (_, pilot):
        seen = await until_seen(pilot, "✓ passed  roles-swapped")

    assert "no verdict yet" in seen


@both_sizes
async def test_the_next_check_is_one_key_away(size: tuple[int, int]) -> None:
    async with shown(says(*ALL), size) as (_, pilot):
        await until_seen(pilot, "✗ fail")
        await pilot.press("j")
        seen = await until_seen(pilot, "Could not be told")

    assert "no vocabulary was read" in seen


async def test_the_cursor_stays_on_the_chosen_check_when_worse_arrives() -> None:
    more = Flag()

    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        yield CheckDone(result=UNKNOWN)
        yield CheckDone(result=PASSED)
        more.wait(20)
        yield CheckDone(result=FOUND)
        yield Finished(report=report(UNKNOWN, PASSED, FOUND))

    async with shown(examine) as (app, pilot):
        await until_seen(pilot, "✓ passed")
        await pilot.press("down")
        await until(pilot, lambda: app.screen.query_one(Detail).check == PASSED.check)
        more.set()
        await until_seen(pilot, "✗ fail")

        assert app.screen.query_one(Detail).check == PASSED.check


@both_sizes
async def test_a_smoke_run_is_offered_and_started_with_s(size: tuple[int, int]) -> None:
    run = LongRun()
    async with shown(run, size) as (_, pilot):
        await until_seen(pilot, "s: run it for real")
        await pilot.press("s")
        seen = await until_seen(pilot, "main: server is listening")

    assert run.requests[-1].smoke
    assert "1/8  plain: starting" in seen
    assert "100.5" in seen


@both_sizes
async def test_cancel_ends_the_run_and_leaves_the_rest_on_the_screen(size: tuple[int, int]) -> None:
    run = LongRun()
    async with shown(run, size, SMOKE) as (_, pilot):
        await until_seen(pilot, "server is listening")
        await pilot.press("escape")
        seen = await until_seen(pilot, "The run was cancelled")

    assert run.cancel is not None
    assert run.cancel.is_set()
    assert run.closed == 1
    assert "? inconclusive" in seen


async def test_cancel_before_any_run_ends_the_examination_without_a_verdict() -> None:
    more, closed = Flag(), Flag()

    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        try:
            yield CheckDone(result=PASSED)
            more.wait(20)
            yield CheckDone(result=UNKNOWN)
            yield Finished(report=report())
        finally:
            closed.set()

    async with shown(examine) as (app, pilot):
        await until_seen(pilot, "✓ passed")
        await pilot.press("c")
        more.set()
        await until_seen(pilot, "? no verdict")

    assert closed.is_set()
    assert app.last is None


async def test_quit_during_a_run_cleans_up_first() -> None:
    run = LongRun()
    async with shown(run, request=SMOKE) as (app, pilot):
        await until_seen(pilot, "server is listening")
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)

        assert run.closed == 1
    assert app.exit_code is ExitCode.INCONCLUSIVE


async def test_ctrl_c_during_a_run_cleans_up_and_says_so_in_the_exit_code() -> None:
    run = LongRun()
    async with shown(run, request=SMOKE) as (app, pilot):
        await until_seen(pilot, "server is listening")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)

        assert run.closed == 1
    assert app.exit_code is ExitCode.INTERRUPTED


async def test_ctrl_c_when_all_is_done_keeps_the_exit_code_of_the_report() -> None:
    async with shown(says(*ALL)) as (app, pilot):
        await until_seen(pilot, "✗ fail")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)

    assert app.exit_code is ExitCode.FOUND


@both_sizes
async def test_hostile_text_is_shown_as_it_is_and_does_nothing(size: tuple[int, int]) -> None:
    result = Result(
        check="removed-flag",
        outcome=Outcome.FOUND,
        findings=(Finding(says=HOSTILE, evidence=(Evidence(HOSTILE, HOSTILE),)),),
    )
    events = (
        ProbeDone(probe="target", fact=Target(named=HOSTILE), seconds=0.0),
        CheckDone(result=result),
    )
    async with shown(says(*events), size) as (_, pilot):
        await until_seen(pilot, "✗ fail")
        seen = await until_seen(pilot, "[red]x[/] \\x1b]0;title\\x07 \\u202edesrever")

    assert "\x1b" not in seen
    assert "\u202e" not in seen
    assert "[/nonsense" in seen


async def test_a_hostile_log_is_shown_as_it_is() -> None:
    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        yield SmokeStage(step="wait", says=HOSTILE, arm="mtp", done=1, total=2)
        yield LogLine(arm="mtp", text=HOSTILE)
        cancel.wait(20)

    async with shown(examine, request=SMOKE) as (_, pilot):
        seen = await until_seen(pilot, "│ [red]x[/] \\x1b]0;title")

    assert "1/2  [red]x[/]" in seen


async def test_copy_writes_the_command_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "write", lambda _, data: written.append(data))
    end = Finished(report=report(FOUND, corrected=MENDED))
    async with shown(says(CheckDone(result=FOUND), end)) as (app, pilot):
        await until_seen(pilot, "y copy command")
        await pilot.press("y")
        await until_seen(pilot, "Copied")

    assert app.clipboard == "llama-server -m target.gguf"
    assert "\x1b]52;c;bGxhbWEtc2VydmVyIC1tIHRhcmdldC5nZ3Vm\a" in written


async def test_there_is_no_key_to_copy_what_is_not_there() -> None:
    async with shown(says(CheckDone(result=PASSED))) as (app, pilot):
        seen = await until_seen(pilot, "✓ pass:")
        await pilot.press("y")

    assert "copy" not in seen
    assert app.clipboard == ""


@both_sizes
async def test_a_proved_command_stands_beside_its_numbers(size: tuple[int, int]) -> None:
    proved = report(FOUND, corrected=MENDED, smoke=RUN, proved=True, scope="smoke")
    stage = SmokeStage(step="start", says="plain: starting", arm="plain", done=0, total=8)
    events = (CheckDone(result=FOUND), stage, Finished(report=proved))
    async with shown(says(*events), size, SMOKE) as (_, pilot):
        seen = await until_seen(pilot, "the corrected command, proved by the run")

    assert "llama-server -m target.gguf" in seen
    assert "speed-up    2.50 times" in seen
    assert "✗ fail: 1 error; the corrected command is proved" in seen


async def test_tab_leads_through_checks_detail_and_run() -> None:
    async with shown(says(*ALL)) as (app, pilot):
        await until_seen(pilot, "✗ fail")
        focused = []
        for _ in range(3):
            await pilot.press("tab")
            focused.append(app.focused.id if app.focused else None)

    assert focused == ["detail", "smoke", "checks"]


async def test_every_key_of_the_help_page_fits_on_the_smallest_screen() -> None:
    async with shown(says(*ALL)) as (_, pilot):
        await until_seen(pilot, "✗ fail")
        await pilot.press("question_mark")
        seen = await until_seen(pilot, "next and previous check")
        await pilot.press("escape")
        await until(pilot, lambda: "next and previous check" not in screen_of(pilot))

    assert "quit; a run is cancelled" in seen
    assert "· skipped" in seen


def screen_of(pilot: object) -> str:
    return screen(pilot.app)  # type: ignore[attr-defined]


async def test_a_mistake_of_the_user_is_shown_with_what_to_do() -> None:
    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        raise DoctorError("docker is not [b]looked[/b] into", "install it there")

    async with shown(examine) as (app, pilot):
        seen = await until_seen(pilot, "try: install it there")
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)

    assert "docker is not [b]looked[/b] into" in seen
    assert isinstance(app.failure, DoctorError)


async def test_a_fault_in_the_examination_does_not_hang_the_screen() -> None:
    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        yield CheckDone(result=PASSED)
        raise ZeroDivisionError("by zero")

    async with shown(examine) as (app, pilot):
        await until_seen(pilot, "✗ A fault of mtpdoctor")
        seen = await until_seen(pilot, "ZeroDivisionError: by zero")
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)

    assert "please report it" in seen
    assert isinstance(app.failure, ZeroDivisionError)


async def test_a_flood_of_log_lines_leaves_the_screen_usable() -> None:
    def examine(request: Request, cancel: Flag) -> Iterator[Event]:
        yield SmokeStage(step="wait", says="mtp: waiting", arm="mtp", done=1, total=2)
        for number in range(50_000):
            yield LogLine(arm="mtp", text=f"line {number}")
        cancel.wait(20)

    async with shown(examine, request=SMOKE) as (app, pilot):
        await until_seen(pilot, "line 49999")
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)


async def test_turning_the_terminal_keeps_what_was_chosen() -> None:
    async with shown(says(*ALL), (80, 24)) as (app, pilot):
        await until_seen(pilot, "✗ fail")
        await pilot.press("j")
        await until_seen(pilot, "Could not be told")
        await pilot.resize_terminal(160, 50)
        await pilot.resize_terminal(60, 15)
        await pilot.resize_terminal(80, 24)
        await until_seen(pilot, "Could not be told")

        assert app.screen.query_one(Detail).check == UNKNOWN.check


async def test_a_fault_of_the_screen_itself_is_raised_without_what_its_variables_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = DoctorApp(REQUEST, examine=says(*ALL), environment={"HF_TOKEN": "hf_secret"})

    async def fail() -> None:
        async with app.run_test() as pilot:
            await until_seen(pilot, "✗ fail")
            app._handle_exception(ZeroDivisionError("by zero"))
            await until(pilot, lambda: not app.is_running)

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert isinstance(app.failure, ZeroDivisionError)
    assert "hf_secret" not in "".join(capsys.readouterr())
