"""Build numbers and three-valued answers about ranges of them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.builds import Bracket, Build, BuildRange, Span

SMALL = st.integers(1, 14)
BUILDS = st.builds(Build, SMALL)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    first, last = sorted([draw(SMALL), draw(SMALL)])
    return Span(Build(first), Build(last))


@st.composite
def brackets(draw: st.DrawFn) -> Bracket:
    without = draw(st.integers(0, 12))
    return Bracket(Build(without), Build(draw(st.integers(without + 1, 14))))


@st.composite
def ranges(draw: st.DrawFn) -> BuildRange:
    introduced = draw(brackets())
    after = brackets().filter(lambda fixed: fixed.first_with > introduced.first_with)
    return BuildRange(introduced, draw(st.none() | after))


def numbers(first: Build, last: Build) -> range:
    return range(first.number, last.number + 1)


def moments(bracket: Bracket) -> range:
    """Return every build with which a thing may really have come or gone."""
    return range(bracket.last_without.number + 1, bracket.first_with.number + 1)


def agreed(answers: set[bool]) -> bool | None:
    return next(iter(answers)) if len(answers) == 1 else None


@given(BUILDS)
def test_a_build_is_read_as_it_is_written(build: Build) -> None:
    assert Build.parse(str(build)) == build
    assert Build.parse(str(build.number)) == build


@pytest.mark.parametrize(
    "text", ["", "b", "b0", "b012", "0", "-1", "b1.2", "B9", "9x", "b1234567890", "b１２", "b 9"]
)
def test_what_is_no_build_number_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a build number: .*expected e\.g\. 'b6123'"):
        Build.parse(text)


@given(spans())
def test_a_span_is_read_from_both_of_its_ends(span: Span) -> None:
    assert Span.parse(f"{span.first}..{span.last}") == span


@pytest.mark.parametrize("text", ["b9600..", "..b9600", "b1..b2..b3", "b2..b1", ".."])
def test_half_a_span_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a build number|must not be before"):
        Span.parse(text)


def test_a_span_of_one_build_is_that_build() -> None:
    assert str(Span.exactly(9600)) == "b9600"
    assert Span.parse("b9600") == Span.exactly(9600)


def test_a_span_of_several_says_both_ends() -> None:
    assert str(Span.parse("b9600..b9700")) == "a build between b9600 and b9700"


@given(brackets())
def test_a_bracket_is_read_as_it_is_written(bracket: Bracket) -> None:
    if bracket.last_without.number:  # there is no build 0 to write
        assert Bracket.parse(f"{bracket.last_without}..{bracket.first_with}") == bracket


def test_a_single_build_brackets_exactly() -> None:
    bracket = Bracket.parse("b9551")

    assert bracket.exact
    assert bracket.last_without == Build(9550)
    assert str(bracket) == "b9551"


def test_a_wide_bracket_says_where_the_thing_is_still_absent() -> None:
    assert str(Bracket.parse("b9843..b9847")) == "b9847 (absent in b9843)"


@pytest.mark.parametrize("text", ["b5..b5", "b6..b5", "b5..", "..b5", ""])
def test_a_bracket_that_holds_no_build_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be after|not a build number"):
        Bracket.parse(text)


@given(brackets(), spans())
def test_a_bracket_answers_where_every_possible_moment_agrees(bracket: Bracket, span: Span) -> None:
    possible = {
        build >= moment
        for moment, build in product(moments(bracket), numbers(span.first, span.last))
    }

    assert bracket.reached_by(span) is agreed(possible)


@given(ranges(), spans())
def test_a_closed_range_answers_where_every_possible_history_agrees(
    closed: BuildRange, span: Span
) -> None:
    if closed.fixed is None:
        return
    possible = {
        came <= build < went
        for came, went, build in product(
            moments(closed.introduced), moments(closed.fixed), numbers(span.first, span.last)
        )
    }

    answer = closed.holds(span, horizon=Build(1))

    # Each bracket is judged by itself, which may leave open what both together would settle.
    assert answer is None or answer is agreed(possible)
    if agreed(possible) is None:
        assert answer is None


@given(brackets(), spans(), BUILDS)
def test_an_open_range_is_no_claim_past_the_horizon(
    introduced: Bracket, span: Span, horizon: Build
) -> None:
    answer = BuildRange(introduced).holds(span, horizon)
    reached = introduced.reached_by(span)

    if reached is True and span.last > horizon:
        assert answer is None
    else:
        assert answer is reached


@given(ranges(), spans(), BUILDS, BUILDS)
def test_what_was_fixed_does_not_depend_on_the_horizon(
    some: BuildRange, span: Span, one: Build, other: Build
) -> None:
    if some.fixed is not None:
        assert some.holds(span, one) is some.holds(span, other)


@given(ranges(), spans(), spans(), BUILDS)
def test_knowing_a_build_better_never_turns_an_answer(
    some: BuildRange, wide: Span, narrow: Span, horizon: Build
) -> None:
    inside = wide.first <= narrow.first and narrow.last <= wide.last
    if inside and (answer := some.holds(wide, horizon)) is not None:
        assert some.holds(narrow, horizon) is answer


@given(ranges())
def test_a_range_holds_from_its_first_build_and_no_longer_at_its_fix(some: BuildRange) -> None:
    first = some.introduced.first_with
    late = Build(99)

    if some.fixed is None:
        assert some.holds(Span(first, late), horizon=late) is True
    else:
        assert some.holds(Span(some.fixed.first_with, late), horizon=late) is False
    if some.introduced.last_without.number:
        before = some.introduced.last_without
        assert some.holds(Span(before, before), horizon=late) is False


@pytest.mark.parametrize("fixed", ["b10", "b9"])
def test_a_range_that_is_mended_before_it_begins_is_refused(fixed: str) -> None:
    with pytest.raises(ValueError, match="must be after introduced"):
        BuildRange(Bracket.parse("b10"), Bracket.parse(fixed))


@pytest.mark.parametrize(
    ("introduced", "fixed", "says"),
    [
        ("b10", None, "since b10"),
        ("b10", "b20", "b10 to b19"),
        ("b8..b10", "b20..b25", "b10 to b20 (gone in b25)"),
        ("b8..b10", "b9..b25", "b10 to b10 (gone in b25)"),
    ],
)
def test_a_range_says_no_more_than_is_known(introduced: str, fixed: str | None, says: str) -> None:
    some = BuildRange(Bracket.parse(introduced), Bracket.parse(fixed) if fixed else None)

    assert str(some) == says
