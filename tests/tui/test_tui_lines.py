"""The lines of the panes, as text."""

from __future__ import annotations

from textual.content import Content
from tui.scripted import FOUND, MENDED, PASSED, RUN, UNKNOWN, report

from mtpdoctor.events import SmokeSample, SmokeStage
from mtpdoctor.facts import Crash
from mtpdoctor.facts.run import Attempt, SmokeRun
from mtpdoctor.tui import check_list, detail, paint, smoke_panel
from mtpdoctor.tui.clipboard import sequence
from mtpdoctor.tui.start_screen import one_line
from mtpdoctor.tui.state import State


def text(lines: object) -> str:
    assert isinstance(lines, list)
    return "\n".join(line.plain for line in lines if isinstance(line, Content))


def smoke(state: State, width: int = 78) -> str:
    return text(list(smoke_panel.lines(state, width, 10)))


def test_a_long_path_loses_its_folders_before_the_line_loses_its_end() -> None:
    assert paint.fit("/a/long/way/down/x.gguf: gemma4, F32", 24) == "…/x.gguf: gemma4, F32"
    assert paint.fit("C:\\models\\gemma\\x.gguf: gemma4", 20) == "…\\x.gguf: gemma4"
    assert paint.fit("no path in here at all", 10) == "no path i…"
    assert paint.fit("/a/b short", 40) == "/a/b short"


def test_lines_after_the_first_stand_under_its_text() -> None:
    lines = paint.wrapped("one two three", 12, label="fix: ")

    assert text(lines).splitlines() == ["fix: one two", "     three"]


def test_what_to_do_stands_before_why_it_is_believed() -> None:
    shown = text(list(detail.lines(FOUND, "a flag is gone", 78)))

    assert shown.index("fix: drop --draft-max") < shown.index("because: its own help says so")
    assert "$ llama-server --help" in shown
    assert "https://example.org/pull/1" in shown


def test_an_unknown_check_says_why_and_what_it_looks_for() -> None:
    shown = text(list(detail.lines(UNKNOWN, "other words", 78)))

    assert "Could not be told: no vocabulary was read." in shown
    assert "looks for: other words" in shown


def test_a_remark_is_left_out_where_there_is_no_room_for_it() -> None:
    assert "draft-max" in check_list.row(FOUND, 100).plain
    assert "draft-max" not in check_list.row(FOUND, 60).plain


def test_both_arms_stand_side_by_side_while_the_run_goes_on() -> None:
    stage = SmokeStage(step="request", says="mtp: request generate", arm="mtp", done=12, total=16)
    samples = (
        SmokeSample(arm="plain", request="generate", predicted=128, tokens_per_second=101.5),
        SmokeSample(
            arm="mtp",
            request="generate",
            predicted=128,
            tokens_per_second=250.25,
            drafted=90,
            accepted=60,
        ),
    )
    shown = smoke(State(busy=True, stage=stage, samples=samples))

    assert "12/16  mtp: request generate" in shown
    assert "plain         101.5" in shown
    assert "0.67 of 90" in shown


def test_a_proved_command_is_told_from_one_that_was_not_run() -> None:
    proposed = report(FOUND, corrected=MENDED)
    proved = report(FOUND, corrected=MENDED, proved=True, smoke=RUN, scope="smoke")

    assert "the corrected command, not proved by a run" in smoke(State(report=proposed))
    assert "the corrected command, proved by the run" in smoke(State(report=proved))
    assert "llama-server -m target.gguf" in smoke(State(report=proved))


def test_what_was_measured_fits_without_a_second_column() -> None:
    shown = smoke(State(report=report(PASSED, smoke=RUN, proved=True)), width=40)

    assert "speed-up    2.50 times" in shown.splitlines()


def test_a_crash_shows_its_cause_and_the_end_of_the_log() -> None:
    crash = Crash(signal="SIGABRT", cause="the server aborted", log_tail=("x", "GGML_ASSERT"))
    run = SmokeRun(attempts=(Attempt(argv=("x",), arm="mtp", outcome="crashed", crash=crash),))
    shown = smoke(State(report=report(FOUND, smoke=run, scope="smoke")))

    assert "the server aborted" in shown
    assert "│ GGML_ASSERT" in shown


def test_a_run_that_would_be_pointless_says_why() -> None:
    shown = smoke(State(report=report(FOUND, smoke_skipped="not run, because removed-flag stands")))

    assert "not run, because removed-flag stands" in shown


def test_tmux_is_given_the_copy_wrapped_as_well() -> None:
    bare = "\x1b]52;c;bXRw\a"

    assert sequence("mtp", {}) == bare
    assert sequence("mtp", {"TMUX": "/tmp/x"}) == f"{bare}\x1bPtmux;\x1b{bare}\x1b\\"


def test_a_pasted_command_of_several_lines_becomes_one() -> None:
    assert one_line("llama-server \\\r\n  -m x \\\n-md y\x1b\n") == "llama-server    -m x  -md y"
