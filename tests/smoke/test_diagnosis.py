"""How the lines of a log are weighed against each other and against the end that was seen."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from mtpdoctor.builds import Build
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.smoke import Ending, diagnose

SIGNATURES = """
schema = 1
revision = 2026-12-01
horizon = "b11549"
"""
ROW = """
[[signature]]
id = "{id}"
pattern = '{pattern}'
meaning = "{meaning}"
says = "{says}"
check = "{check}"
signals = {signals}
source = [{{kind = "run", says = "seen", seen = 2026-12-01}}]
"""


def row(id: str, pattern: str, meaning: str, says: str = "", signals: str = "[]") -> str:
    return ROW.format(
        id=id, pattern=pattern, meaning=meaning, says=says, check=f"{id}-check", signals=signals
    )


@pytest.fixture
def book(tmp_path: Path) -> Knowledge:
    rows = (
        row("healthy", "is normal", "benign"),
        row("gave-up", "failed to load model", "consequence", "the model could not be loaded"),
        row("arch", "unknown architecture (.+)", "cause", "it does not know {1}"),
        row("shape", "ASSERT (.*)", "cause", signals='["SIGABRT"]'),
    )
    (tmp_path / "signatures.toml").write_text(SIGNATURES + "".join(rows))
    return Knowledge(revision=date(2026, 12, 1), horizon=Build(11549), folder=tmp_path)


EXIT = Ending(exit_code=1)


def test_a_cause_counts_before_a_consequence_that_was_printed_earlier(book: Knowledge) -> None:
    lines = ["E failed to load model", "E unknown architecture 'x'", "E unknown architecture 'y'"]
    crash = diagnose(lines, ending=EXIT, knowledge=book)

    assert (crash.cause, crash.signature) == ("it does not know 'x'", "arch")
    assert crash.check == "arch-check"
    assert crash.exit_code == 1


def test_a_consequence_is_told_where_there_is_no_cause(book: Knowledge) -> None:
    crash = diagnose(["E failed to load model"], ending=EXIT, knowledge=book)

    assert crash.cause == "the model could not be loaded"


def test_a_benign_line_never_counts_not_even_in_the_last_lines(book: Knowledge) -> None:
    lines = ["E unknown architecture 'x' (this is normal here)", "I bye"]
    crash = diagnose(lines, ending=EXIT, knowledge=book)

    assert (crash.cause, crash.signature) == ("", "")
    assert crash.log_tail == ("I bye",)


def test_a_cause_of_another_kind_of_end_is_ruled_out(book: Knowledge) -> None:
    assert diagnose(["ASSERT x"], ending=EXIT, knowledge=book).signature == ""
    assert diagnose(["ASSERT x"], ending=Ending.of_signal(6), knowledge=book).cause == "ASSERT x"
    assert diagnose(["ASSERT x"], ending=Ending.of_exit(134), knowledge=book).signature == "shape"


def test_what_was_said_before_the_request_did_not_end_the_server(book: Knowledge) -> None:
    before, since = ["E unknown architecture 'x'"], ["I working"]
    crash = diagnose(before + since, ending=EXIT, knowledge=book, request="again", recent=since)

    assert (crash.cause, crash.request) == ("", "again")


def test_without_a_known_line_the_first_error_and_the_end_are_kept(book: Knowledge) -> None:
    lines = ["0.1 E something new", *(f"I line {number}" for number in range(50))]
    crash = diagnose(lines, ending=EXIT, knowledge=book)

    assert crash.cause == ""
    assert crash.log_tail[:4] == ("0.1 E something new", "I line 0", "I line 1", "…")
    assert crash.log_tail[-1] == "I line 49"
    assert len(crash.log_tail) == 24


def test_what_is_shown_begins_with_the_decisive_line_and_not_with_the_usage(
    book: Knowledge,
) -> None:
    reason = 'error while handling argument "--numa": invalid value'
    usage = [f"--flag-{number}  what it does" for number in range(15)]
    crash = diagnose([reason, "", "usage:", *usage], ending=EXIT, knowledge=book)

    assert crash.error == reason
    assert crash.excerpt[:3] == (reason, "", "usage:")
    assert len(crash.excerpt) == 8


def test_a_signal_that_has_no_name_is_numbered() -> None:
    assert Ending.of_signal(77).signal == "signal 77"
    assert Ending.of_exit(250) == Ending(exit_code=250)
