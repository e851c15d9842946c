"""Log lines: each is recognised by its own entry, and nothing healthy by any."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtpdoctor import knowledge
from mtpdoctor.knowledge import Signature
from mtpdoctor.smoke.diagnosis import Ending, diagnose

BOOK = knowledge.load()
SIGNATURES = BOOK.signatures
LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
LINE = 4096
EXAMPLES = [(entry, source.says) for entry in SIGNATURES for source in entry.source]


def captured() -> Iterator[tuple[str, str, list[str]]]:
    """Yield name, the signature that explains it, and lines of every captured log."""
    for path in sorted(LOGS.glob("*.log")):
        origin, explained, *lines = path.read_text("utf-8").splitlines()
        assert re.match(r"# llama\.cpp b\d+, \w+: ", origin), path.name
        yield path.stem, explained.removeprefix("# explained by: "), lines


BROKEN = [case for case in captured() if case[1] != "nothing"]
HEALTHY = [case for case in captured() if case[1] == "nothing"]


def first(line: str) -> str:
    return next((e.id for e in SIGNATURES if e.pattern.compiled.search(line)), "")


@pytest.mark.parametrize(
    ("entry", "line"), EXAMPLES, ids=lambda value: getattr(value, "id", "line")
)
def test_the_line_that_a_source_gives_is_recognised_by_its_entry_first(
    entry: Signature, line: str
) -> None:
    assert first(line) == entry.id


@pytest.mark.parametrize(
    ("entry", "line"), EXAMPLES, ids=lambda value: getattr(value, "id", "line")
)
def test_no_benign_entry_hides_a_line_that_means_something(entry: Signature, line: str) -> None:
    benign = [e.id for e in SIGNATURES if e.meaning == "benign" and e.pattern.compiled.search(line)]

    assert bool(benign) == (entry.meaning == "benign")


@pytest.mark.parametrize(("name", "expected", "lines"), BROKEN, ids=[case[0] for case in BROKEN])
def test_a_captured_log_is_explained_by_the_right_entry(
    name: str, expected: str, lines: list[str]
) -> None:
    crash = diagnose(lines, ending=Ending(), knowledge=BOOK)

    assert crash.signature == expected
    assert crash.cause


@pytest.mark.parametrize(("name", "expected", "lines"), HEALTHY, ids=[case[0] for case in HEALTHY])
def test_no_line_of_a_healthy_run_means_anything(
    name: str, expected: str, lines: list[str]
) -> None:
    crash = diagnose(lines, ending=Ending(), knowledge=BOOK)

    assert (crash.signature, crash.cause) == ("", "")


def test_healthy_runs_of_every_kind_were_captured() -> None:
    commands = " ".join(
        lines[0] for path in LOGS.glob("healthy*.log") if (lines := path.read_text().splitlines())
    )

    assert len(HEALTHY) >= 6
    assert all(word in commands for word in ("-fa off", "-fit off", "-lv 4", "-ngl 999"))


@pytest.mark.parametrize("entry", SIGNATURES, ids=lambda entry: entry.id)
def test_what_a_line_means_is_said_in_words_with_groups_that_are_there(entry: Signature) -> None:
    fields = {int(field) for _, field, _, _ in Formatter().parse(entry.says) if field is not None}

    assert entry.says
    assert not entry.says.endswith(".")
    assert fields <= set(range(1, entry.pattern.compiled.groups + 1))


def test_benign_entries_come_first_and_consequences_last() -> None:
    order = [entry.meaning for entry in SIGNATURES]

    assert order == sorted(order, key=["benign", "cause", "consequence"].index)


def test_a_cause_has_an_end_that_any_system_can_report() -> None:
    """Windows has no signals: only a line that means nothing without one may demand it."""
    assert {e.id for e in SIGNATURES if e.signals} == {"illegal-instruction"}


def test_both_wordings_of_a_range_error_are_told_apart() -> None:
    assert first("__n (which is 0) >= this->size() (which is 0) vector::_M_range_check") == ""
    assert (
        first("vector::_M_range_check: __n (which is 0) >= this->size() (which is 0)")
        == "masked-embeddings"
    )
    assert (
        first("vector::_M_range_check: __n (which is 2) >= this->size() (which is 2)")
        == "memory-full-split"
    )
    assert first("vector::_M_range_check: __n (which is 3) >= this->size() (which is 2)") == ""


def repeats(pattern: str) -> int:
    """Return how deep repetitions stand within repetitions; 2 may be slow, 1 never is."""
    from re import _parser as parser  # type: ignore[attr-defined]

    def depth(item: object) -> int:
        if isinstance(item, tuple) and item and str(item[0]) in {"MAX_REPEAT", "MIN_REPEAT"}:
            _, most, body = item[1]
            return (1 if most > 1 else 0) + depth(body)
        if isinstance(item, tuple | list) or type(item).__name__ == "SubPattern":
            return max((depth(part) for part in item), default=0)  # type: ignore[attr-defined]
        return 0

    return depth(parser.parse(pattern))


@pytest.mark.parametrize("entry", SIGNATURES, ids=lambda entry: entry.id)
def test_no_repetition_stands_within_another(entry: Signature) -> None:
    assert repeats(entry.pattern.text) <= 1


def test_the_measure_of_repetitions_sees_a_slow_pattern() -> None:
    assert repeats(r"(a+)+b") == 2
    assert repeats(r"(?:a{1,9}|b)*c") == 2
    assert repeats(r"(a+)?b") == 1


def hostile() -> Iterator[str]:
    """Yield lines as long as the reader keeps them, made to keep a matcher busy."""
    for word in ("a", " ", "'", "0", "#", "(", "a.c", "../", "fattn", "mtp-", "[1, "):
        yield (word * LINE)[:LINE]
    for _, line in EXAMPLES:
        yield (line * (LINE // len(line) + 1))[:LINE]
        yield (line[:-1] + line[-2:-1] * LINE)[:LINE]
        yield (line[: len(line) // 2] * LINE)[:LINE]


def test_no_line_takes_long_to_be_recognised() -> None:
    worst = 0.0
    for line in hostile():
        for entry in SIGNATURES:
            begun = time.process_time()
            entry.pattern.compiled.search(line)
            worst = max(worst, time.process_time() - begun)

    assert worst < 0.25  # milliseconds in truth; an exponential pattern would take years


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400), st.sampled_from([line for _, line in EXAMPLES]))
def test_any_text_around_a_line_is_said_without_an_error(noise: str, line: str) -> None:
    crash = diagnose([noise + line + noise, noise], ending=Ending(), knowledge=BOOK)

    assert isinstance(crash.cause, str)
