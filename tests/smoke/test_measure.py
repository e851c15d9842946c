"""From timings to figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mtpdoctor.facts import ArmName, Attempt, Parity, SmokeRun, Unknown
from mtpdoctor.smoke import Ask, Settings
from mtpdoctor.smoke.client import Refused
from mtpdoctor.smoke.measure import Round, Sample, sample, summary

FREE = Sample(
    request="generate",
    free=True,
    predicted=128,
    tokens_per_second=100.0,
    prompt=20,
    prompt_tokens_per_second=500.0,
    drafted=0,
    accepted=0,
    seconds=1.0,
    tokens=(1, 2, 3),
    short=False,
)
DRAFTED = replace(FREE, tokens_per_second=250.0, drafted=132, accepted=93)
ASK = Ask(name="generate", text="x", predict=128, free=True)


def figures(
    plain: tuple[Sample, ...] | None, mtp: tuple[Sample, ...] | None, *log: str
) -> SmokeRun:
    rounds: list[Round] = []
    attempts: list[Attempt] = []
    arms: tuple[tuple[ArmName, tuple[Sample, ...] | None], ...] = (("plain", plain), ("mtp", mtp))
    for arm, samples in arms:
        answered = samples is not None
        attempts.append(Attempt(argv=(), arm=arm, outcome="answered" if answered else "crashed"))
        if samples is not None:
            rounds.append(Round(arm=arm, ready_seconds=1, samples=samples, left_out=(), log=log))
    return summary(rounds, tuple(attempts), Settings())


def test_speed_is_the_median_of_free_generation_alone() -> None:
    other = replace(FREE, free=False, tokens_per_second=1.0)
    speeds = (replace(FREE, tokens_per_second=speed) for speed in (90.0, 100.0, 500.0))
    found = figures((other, *speeds), (DRAFTED,))

    assert found.speedup == 2.5
    assert found.acceptance == 93 / 132
    assert found.proved


def test_prompt_speed_is_that_of_the_longest_prompt() -> None:
    long = replace(FREE, free=False, prompt=1200, prompt_tokens_per_second=900.0)
    found = figures((long, FREE), None)

    assert found.plain is not None
    assert found.plain.prompt_tokens_per_second == 900.0
    assert isinstance(found.speedup, Unknown)


@pytest.mark.parametrize(
    ("log", "mean"),
    [
        ("x | draft acceptance = 0.70 (   93 accepted /   132 generated), mean len =  3.82", 3.82),
        ("", 127 / 34),
    ],
)
def test_mean_length_is_what_the_log_says_or_tokens_a_pass(log: str, mean: float) -> None:
    assert figures(None, (DRAFTED,), log).mean_accepted_length == pytest.approx(mean)


def test_nothing_drafted_is_no_acceptance_of_zero_and_no_proof() -> None:
    found = figures((FREE,), (FREE,))

    assert isinstance(found.acceptance, Unknown)
    assert isinstance(found.mean_accepted_length, Unknown)
    assert not found.proved


def test_drafts_that_were_all_refused_are_an_acceptance_of_zero() -> None:
    found = figures((FREE,), (replace(DRAFTED, accepted=0),))

    assert found.acceptance == 0.0
    assert found.mean_accepted_length == 1.0
    assert found.proved


def test_an_arm_without_drafting_that_drafts_gives_no_speed_up() -> None:
    assert isinstance(figures((DRAFTED,), (DRAFTED,)).speedup, Unknown)


@pytest.mark.parametrize(
    ("theirs", "parity"),
    [
        ((1, 2, 3), Parity(equal=True)),
        ((1, 9, 3), Parity(equal=False, first_difference=1)),
        ((1, 2), Parity(equal=False, first_difference=2)),
    ],
)
def test_parity_names_the_first_token_that_differs(theirs: tuple[int, ...], parity: Parity) -> None:
    assert figures((FREE,), (replace(DRAFTED, tokens=theirs),)).parity == parity


def test_parity_without_tokens_is_unknown() -> None:
    assert isinstance(figures((FREE,), (replace(DRAFTED, tokens=()),)).parity, Unknown)


def test_a_handful_of_tokens_is_no_speed() -> None:
    found = figures((replace(FREE, predicted=3, short=True),), (DRAFTED,))

    assert found.plain is not None
    assert isinstance(found.plain.tokens_per_second, Unknown)
    assert found.plain.short == ("generate",)
    assert isinstance(found.speedup, Unknown)


def test_an_arm_that_crashed_after_some_answers_is_not_proved() -> None:
    crashed = Attempt(argv=(), arm="mtp", outcome="crashed")
    round_ = Round(arm="mtp", ready_seconds=1, samples=(DRAFTED,), left_out=(), log=())

    assert not summary([round_], (crashed,), Settings()).proved


GOOD = {"predicted_n": 5, "predicted_per_second": 9.0, "draft_n": 4, "draft_n_accepted": 3}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"timings": []},
        {"timings": {}},
        {"timings": GOOD | {"predicted_n": -1}},
        {"timings": GOOD | {"predicted_n": True}},
        {"timings": GOOD | {"predicted_per_second": float("nan")}},
        {"timings": GOOD | {"predicted_per_second": "fast"}},
        {"timings": GOOD | {"draft_n_accepted": 5}},
    ],
)
def test_timings_that_are_none_are_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        sample(ASK, answer)


def test_an_answer_that_ended_early_is_a_short_sample() -> None:
    found = sample(ASK, {"timings": GOOD, "tokens": [1, 2, 3, 4, 5]})

    assert found.short
    assert (found.predicted, found.drafted, found.accepted) == (5, 4, 3)
