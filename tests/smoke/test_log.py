"""A server's output is kept within bounds, and shown without anything a terminal acts on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.smoke.log import HEAD, TAIL, WIDTH, Log, clean


@given(st.text())
def test_a_cleaned_line_is_one_short_line_without_controls(text: str) -> None:
    line = clean(text)

    assert len(line) <= 12 * WIDTH
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in line)


def test_colours_are_taken_out_and_other_controls_are_written_out() -> None:
    assert clean("\x1b[31mred\x1b[0m\x07 \u202etxt\r\n") == "red\\x07 \\u202etxt"


def test_a_short_log_is_kept_whole() -> None:
    log = Log()
    for chunk in (b"one\ntw", b"o\r\n\nthree"):
        log.feed(chunk)

    assert log.lines() == ["one", "two", "three"]


def test_a_long_log_keeps_its_beginning_and_its_end_and_says_what_is_missing() -> None:
    log = Log()
    for number in range(200_000):
        log.feed(b"line %d\n" % number)
    lines = log.lines()

    assert (lines[0], lines[-1]) == ("line 0", "line 199999")
    assert sum(line.endswith("bytes left out …") for line in lines) == 1
    assert sum(map(len, lines)) < HEAD + TAIL + 10_000


@given(st.lists(st.binary(min_size=1, max_size=300_000), max_size=4))
def test_memory_stays_bounded_whatever_comes(chunks: list[bytes]) -> None:
    log = Log()
    for chunk in chunks:
        log.feed(chunk)
        log.feed(chunk)

    assert len(log._head) <= HEAD
    assert log._tail_size <= TAIL + 300_000
    assert log.position == 2 * sum(map(len, chunks))


def test_lines_after_a_position_are_those_printed_since() -> None:
    log = Log()
    log.feed(b"before\n")
    mark = log.position
    log.feed(b"after\n")

    assert log.lines(mark) == ["after"]


def test_lines_after_a_position_in_the_tail_are_those_printed_since() -> None:
    log = Log()
    log.feed(b"x\n" * HEAD)
    mark = log.position
    log.feed(b"after\n")

    assert log.lines(mark) == ["after"]


def test_a_watcher_gets_each_line_once_and_a_flood_only_in_part() -> None:
    log = Log()
    log.feed(b"one\nunfin")
    first = log.live()
    log.feed(b"ished\n")
    second = log.live()
    log.feed(b"flood\n" * 10_000)

    assert (first, second) == (["one"], ["unfinished"])
    assert len(log.live()) <= 40
