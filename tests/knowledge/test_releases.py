"""Builds, commits and days: what the table holds and what it answers."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor import knowledge
from mtpdoctor.builds import Build, Span
from mtpdoctor.knowledge import Releases
from mtpdoctor.tables import TableError

TABLE = Path(knowledge.__file__).with_name("builds.tsv")
RELEASES = knowledge.load().releases


def read(*rows: str) -> Releases:
    return Releases.read(row.replace(" ", "\t") for row in rows)


def test_the_table_rises_and_names_no_build_or_commit_twice() -> None:
    numbers = [row.build for row in RELEASES.rows]
    commits = [row.commit for row in RELEASES.rows if row.commit]
    stands = [
        int(line.split("\t")[0])
        for line in TABLE.read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]

    assert stands == [build.number for build in numbers] == sorted(set(stands))
    assert len({commit[:7] for commit in commits}) == len(commits)


def test_the_table_ends_at_the_horizon() -> None:
    assert RELEASES.rows[-1].build == knowledge.load().horizon


def test_every_row_names_its_source() -> None:
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if line[0] != "#"]

    assert all(len(row) == 5 and row[4] for row in rows)


@given(
    st.integers(RELEASES.rows[0].build.number, RELEASES.rows[-1].build.number), st.integers(0, 300)
)
def test_days_of_a_wider_span_hold_those_of_a_narrower_one(number: int, more: int) -> None:
    narrow = RELEASES.days(Span.exactly(number))
    wide = RELEASES.days(Span(Build(number), Build(number + more)))

    if narrow is not None:
        assert narrow[0] <= narrow[1]
    if narrow is not None and wide is not None:
        assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


@pytest.mark.parametrize(
    ("build", "days"),
    [
        ("b9568", (date(2026, 6, 8), date(2026, 6, 8))),
        ("b9539", (date(2026, 6, 5), date(2026, 6, 6))),
        ("b10743", (date(2026, 8, 31), date(2026, 9, 1))),
    ],
)
def test_a_build_between_two_rows_was_made_between_their_days(
    build: str, days: tuple[date, date]
) -> None:
    assert RELEASES.days(Span.parse(build)) == days


@pytest.mark.parametrize("build", ["b1", "b8620", "b11550", "b9000..b99999"])
def test_outside_of_the_table_no_day_is_known(build: str) -> None:
    assert RELEASES.days(Span.parse(build)) is None


def test_a_day_that_is_only_a_guess_bounds_nothing() -> None:
    releases = read(
        "10 - 2026-01-01 release -", "20 - 2026-06-01 approx -", "30 - 2026-02-01 tag -"
    )

    assert releases.days(Span.exactly(20)) == (date(2026, 1, 1), date(2026, 2, 1))


@pytest.mark.parametrize("commit", ["7e4c0a9", "7E4C0A9", "7e4c0a9" + "0" * 33])
def test_a_commit_is_found_by_the_digits_that_are_there(commit: str) -> None:
    row = RELEASES.of_commit(commit)

    assert row is not None
    assert row.build == Build(10434)


@pytest.mark.parametrize("commit", ["", "7e4c0a", "unknown", "0000000"])
def test_too_few_or_foreign_digits_find_nothing(commit: str) -> None:
    assert RELEASES.of_commit(commit) is None


def test_digits_that_two_builds_share_find_neither() -> None:
    releases = read("10 aaaaaaa1 2026-01-01 tag -", "11 aaaaaaa2 2026-01-02 tag -")

    assert releases.of_commit("aaaaaaa") is None


def test_every_wrong_row_is_named_with_its_line() -> None:
    rows: Iterable[str] = [
        "# a comment",
        "x - 2026-01-01 tag -",
        "10 zzz 2026-01-01 tag -",
        "11 - 2026-13-01 tag -",
        "12 - 2026-01-01 perhaps -",
        "13 -",
        "14 - 2026-01-01 tag -",
    ]

    with pytest.raises(TableError) as caught:
        read(*rows)

    assert [mistake.split(":")[0] for mistake in caught.value.mistakes] == [
        "line 2",
        "line 3",
        "line 4",
        "line 5",
        "line 6",
    ]


def test_a_tag_may_be_a_day_older_than_its_row() -> None:
    row = read("10 - 2026-01-02 tag -").rows[0]

    assert row.latest - row.earliest == timedelta(days=1)
