from __future__ import annotations

from datetime import date

import pytest

from mtpdoctor.builds import Span
from mtpdoctor.facts import CommitDate, Flag, FlagTable, Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.probes.server import banner, build
from mtpdoctor.probes.server.checkout import Checkout

_MTP = frozenset({"none", "draft-mtp"})


def _told(
    line: str,
    book: Knowledge,
    *,
    kinds: frozenset[str] = frozenset(),
    checkout: Checkout | None = None,
    fork: str = "",
) -> build.Told:
    return build.tell(banner.read(line), fork, kinds, book, lambda: checkout)


def test_a_commit_decides_over_the_printed_number(book: Knowledge) -> None:
    told = _told("version: 1349 (ac4cddeb0)", book)

    assert told.build == Span.exactly(9592)
    assert "calls itself build 1349" in told.how


def test_a_number_that_nothing_contradicts_is_believed(book: Knowledge) -> None:
    told = _told("version: 9600 (0123456)", book, kinds=_MTP)

    assert told.build == Span.exactly(9600)
    assert "its own version line" in told.how


def test_a_build_past_the_horizon_keeps_its_number_and_has_no_day(book: Knowledge) -> None:
    told = _told("version: 0.7.0 (build 12000, commit 0123456)", book, kinds=_MTP)

    assert told.build == Span.exactly(12000)
    assert isinstance(told.day, Unknown)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("version: 72 (2e81dc5)", "no llama.cpp release"),
        ("version: 9592 (0123456)", "whose commit is ac4cddeb0"),
        ("version: 10450 (0123456)", "no semantic version"),
        ("version: 0.1.0 (build 9600, commit 0123456)", "do not go together"),
        ("version: 0.1.0 (build 10490, commit 0123456)", "do not go together"),
        ("version: 4561 (0123456)", "has draft-mtp, which came with b9180"),
        ("version: 0 (unknown)", "build 0"),
    ],
)
def test_what_does_not_fit_together_gives_no_build(line: str, why: str, book: Knowledge) -> None:
    told = _told(line, book, kinds=_MTP)

    assert isinstance(told.build, Unknown)
    assert why in told.build.reason


def test_a_forks_number_is_never_a_llama_cpp_build(book: Knowledge) -> None:
    told = _told("version: 9600 (0123456)", book, fork="ik_llama.cpp")

    assert isinstance(told.build, Unknown)
    assert "ik_llama.cpp" in told.build.reason


def test_a_semantic_version_brackets_a_build_that_prints_none(book: Knowledge) -> None:
    told = _told("version: 0.1.0-dev (build 1, commit 0123456)", book)

    assert told.build == Span.parse("b10381..b10471")
    assert isinstance(told.day, CommitDate)
    assert told.day.earliest <= date(2026, 8, 12) <= date(2026, 8, 18) <= told.day.latest


def test_the_day_of_a_known_build_is_that_of_its_row_or_the_day_before(book: Knowledge) -> None:
    told = _told("version: 9536 (308f61c31)", book)

    assert isinstance(told.day, CommitDate)
    assert (told.day.earliest, told.day.latest) == (date(2026, 6, 5), date(2026, 6, 6))


def test_an_interpolated_day_is_replaced_by_the_sure_ones_around_it(book: Knowledge) -> None:
    told = _told("version: 1 (7e4c0a9)", book)

    assert isinstance(told.day, CommitDate)
    assert (told.day.earliest, told.day.latest) == (date(2026, 8, 13), date(2026, 8, 15))


def test_a_whole_checkout_counts_the_commits(book: Knowledge) -> None:
    found = Checkout(folder="/src", commit="f" * 40, day=date(2026, 8, 10), count=10300)

    told = _told("version: 1 (fffffff)", book, checkout=found)

    assert told.build == Span.exactly(10300)
    assert isinstance(told.day, CommitDate)
    assert told.day.earliest == told.day.latest == date(2026, 8, 10)


def test_a_shallow_checkout_brackets_the_build_by_its_day(book: Knowledge) -> None:
    found = Checkout(folder="/src", commit="f" * 40, day=date(2026, 7, 25), count=None)

    told = _told("version: 1 (fffffff)", book, checkout=found)

    assert told.build == Span.parse("b10069..b10379")


def test_a_flag_of_its_own_gives_a_fork_away(book: Knowledge) -> None:
    flags = FlagTable(flags=(Flag(names=("--spec-autotune",)),), source="help")

    assert build.fork(banner.Banner(), (), flags, book) == "ik_llama.cpp"


def test_a_folder_of_its_own_gives_a_fork_away(book: Knowledge) -> None:
    folders = ("/", "home", "u", "ik_llama.cpp", "build", "bin")

    assert build.fork(banner.Banner(), folders, Unknown(), book) == "ik_llama.cpp"


def test_a_plain_llama_cpp_is_no_fork(book: Knowledge) -> None:
    flags = FlagTable(flags=(Flag(names=("--spec-type",)),), source="help")

    assert not build.fork(banner.Banner(), ("/", "opt", "llama.cpp", "bin"), flags, book)


def test_the_newest_known_version_leaves_the_later_end_open(book: Knowledge) -> None:
    told = _told("version: 0.1.2 (build 0, commit unknown)", book, kinds=_MTP)

    assert isinstance(told.build, Span)
    assert told.build.is_open
    assert "or later" in str(told.build)
