"""How events change what is to be shown."""

from __future__ import annotations

from functools import reduce

from tui.scripted import FOUND, PASSED, REQUEST, UNKNOWN, report

from mtpdoctor.doctor import Finished
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.events import CheckDone, LogLine, ProbeDone, SmokeSample, SmokeStage
from mtpdoctor.facts import Unknown
from mtpdoctor.registry import BrokenPlugin
from mtpdoctor.tui.facts_panel import rows
from mtpdoctor.tui.state import Happening, Over, Prepared, State, after, begun, by_weight, counts

SAMPLE = SmokeSample(arm="mtp", request="generate", predicted=128, tokens_per_second=1.0)


def state(*happenings: Happening) -> State:
    return reduce(after, happenings, begun())


def test_what_counts_most_stands_first_else_the_order_of_arrival_is_kept() -> None:
    skipped = Result(check="no-speed-up", outcome=Outcome.SKIPPED, reason="not run")
    seen = state(*(CheckDone(result=r) for r in (skipped, PASSED, UNKNOWN, FOUND)))

    assert by_weight(seen) == [FOUND, UNKNOWN, PASSED, skipped]


def test_the_count_names_the_worst_first() -> None:
    other = Result(check="other", outcome=Outcome.PASSED)
    seen = state(*(CheckDone(result=r) for r in (PASSED, FOUND, other)))

    assert counts(seen) == "1 error, 2 passed"


def test_a_later_answer_of_a_check_takes_the_place_of_the_earlier() -> None:
    again = Result(check=FOUND.check, outcome=Outcome.PASSED)

    assert by_weight(state(CheckDone(result=FOUND), CheckDone(result=again))) == [again]


def test_another_try_starts_with_no_samples() -> None:
    seen = state(SAMPLE, SmokeStage(step="repair", says="trying again"))

    assert seen.samples == ()


def test_only_the_last_lines_of_a_flooding_log_are_kept() -> None:
    seen = state(*(LogLine(arm="mtp", text=str(number)) for number in range(1000)))

    assert len(seen.log) == 200
    assert seen.log[-1].text == "999"


def test_what_a_probe_could_not_tell_is_said_with_the_reason() -> None:
    seen = state(ProbeDone(probe="gpus", fact=Unknown("no answer in 20 s"), seconds=20.0))

    assert ("gpu", "? no answer in 20 s", False) in rows(seen)


def test_a_probe_that_has_not_answered_is_being_asked() -> None:
    assert ("server", "asking…", False) in rows(state())


def test_a_broken_plugin_stands_among_the_checks() -> None:
    broken = report(PASSED, broken=(BrokenPlugin("acme", "ImportError: no acme"),))
    seen = state(Finished(report=broken))

    assert counts(seen) == "1 crashed, 1 passed"


def test_a_smoke_run_is_offered_once_the_static_verdict_stands() -> None:
    done = Finished(report=report(PASSED))

    assert not state(done).offers_run
    assert state(done, Over()).offers_run


def test_only_a_corrected_or_proved_command_is_there_to_copy() -> None:
    assert state(Finished(report=report(PASSED))).command is None
    assert state(Finished(report=report(PASSED, proved=True))).command is not None


def test_what_was_shown_stays_until_it_is_answered_anew() -> None:
    before = state(Prepared(request=REQUEST, titles={}), CheckDone(result=PASSED), Over())

    assert begun(before).results == before.results
    assert begun(before).report is None
