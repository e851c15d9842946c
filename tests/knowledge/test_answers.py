"""What the knowledge says of a build: yes, no, or why it cannot be told."""

from __future__ import annotations

import pytest

from mtpdoctor import knowledge
from mtpdoctor.builds import Span
from mtpdoctor.facts import Unknown

BOOK = knowledge.load()
PAST = f"b{BOOK.horizon.number + 1}"


@pytest.mark.parametrize(
    ("build", "answer"),
    [("b9179", False), ("b9180", True), ("b9000..b9100", False), (str(BOOK.horizon), True)],
)
def test_a_build_has_a_feature_from_its_first_build_on(build: str, answer: bool) -> None:
    assert BOOK.has(Span.parse(build), BOOK.named("spec-type-draft-mtp")) is answer


@pytest.mark.parametrize("build", ["b9549", "b9400..b9600"])
def test_within_a_bracket_a_feature_is_unknown(build: str) -> None:
    answer = BOOK.has(Span.parse(build), BOOK.named("arch-gemma4-assistant"))

    assert isinstance(answer, Unknown)
    assert "absent in b9548" in answer.reason


def test_past_the_horizon_a_feature_is_unknown() -> None:
    answer = BOOK.has(Span.parse(PAST), BOOK.named("spec-type-draft-mtp"))

    assert isinstance(answer, Unknown)
    assert f"ends at {BOOK.horizon}" in answer.reason


@pytest.mark.parametrize(
    ("build", "answer"), [("b9548", False), ("b9600", True), ("b9843", True), ("b9847", False)]
)
def test_a_build_has_a_bug_until_it_was_fixed(build: str, answer: bool) -> None:
    assert BOOK.suffers(Span.parse(build), BOOK.bug("flash-attention-d512-gqa2")) is answer


def test_between_the_last_bad_and_the_first_good_build_a_bug_is_unknown() -> None:
    answer = BOOK.suffers(Span.parse("b9845"), BOOK.bug("flash-attention-d512-gqa2"))

    assert isinstance(answer, Unknown)
    assert "b9843" in answer.reason
    assert "b9847" in answer.reason


def test_a_fixed_bug_stays_fixed_past_the_horizon() -> None:
    assert BOOK.suffers(Span.parse(PAST), BOOK.bug("flash-attention-d512-gqa2")) is False


def test_an_open_bug_is_unknown_past_the_horizon() -> None:
    answer = BOOK.suffers(Span.parse(PAST), BOOK.bug("masked-embd-refused"))

    assert isinstance(answer, Unknown)
    assert f"ends at {BOOK.horizon}" in answer.reason


def test_an_architecture_without_an_entry_has_no_feature() -> None:
    assert BOOK.feature("mtp-graph", "exaone4") is None


@pytest.mark.parametrize("ask", [BOOK.bug, BOOK.named])
def test_an_id_that_is_not_there_is_a_mistake_of_the_asker(ask: object) -> None:
    with pytest.raises(KeyError):
        ask("no-such-entry")  # type: ignore[operator]


def test_flags_are_found_by_any_of_their_names() -> None:
    note = BOOK.flag_note("--draft-n")

    assert note is not None
    assert note.successor == "--spec-draft-n-max"


@pytest.mark.parametrize("alive", ["--draft-p-min", "--draft-p-split", "-md", "--model-draft"])
def test_old_names_that_still_work_have_no_note(alive: str) -> None:
    assert BOOK.flag_note(alive) is None


def test_values_of_a_flag_have_notes_too() -> None:
    note = BOOK.value_note("--spec-type", "mtp")

    assert note is not None
    assert note.successor == "draft-mtp"
    assert BOOK.value_note("--spec-type", "draft-mtp") is None


def test_sources_are_cited_as_evidence() -> None:
    bug = BOOK.bug("flash-attention-d512-gqa2")

    assert [e.url for e in knowledge.cited(bug.source)] == [s.url for s in bug.source]
