"""Foreign text cannot act on a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.visible import visible, visible_lines


@given(st.text())
def test_nothing_that_a_terminal_acts_on_is_left(text: str) -> None:
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in visible(text))


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), max_size=200))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


def test_escapes_and_overrides_are_written_out() -> None:
    assert visible("a\x1b[31mb\u202ec\n") == "a\\x1b[31mb\\u202ec\\n"


def test_long_text_is_cut_and_says_so() -> None:
    assert visible("x" * 10, 4) == "xxxx…"


def test_lines_stay_lines() -> None:
    assert visible_lines("a\x07\nb") == ["a\\x07", "b"]
