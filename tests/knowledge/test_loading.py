"""The files are read strictly, with every mistake named, and no more of them than is needed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mtpdoctor import knowledge
from mtpdoctor.tables import TableError

SHIPPED = Path(knowledge.__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (*knowledge.FILES, "builds.tsv"):
        shutil.copy(SHIPPED / name, tmp_path)
    return tmp_path


@pytest.fixture
def spoil(folder: Path) -> Callable[[str, str, str], None]:
    def change(name: str, old: str, new: str) -> None:
        text = (folder / name).read_text("utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), "utf-8")

    return change


def mistakes(folder: Path) -> list[str]:
    with pytest.raises(TableError) as caught:
        knowledge.read(folder)
    return caught.value.mistakes


def test_a_copy_of_the_files_reads_like_what_ships(folder: Path) -> None:
    copied, shipped = knowledge.read(folder), knowledge.load()

    assert copied.features == shipped.features
    assert copied.bugs == shipped.bugs
    assert copied.releases == shipped.releases


def test_what_ships_is_read_once() -> None:
    assert knowledge.load() is knowledge.load()


def test_the_horizon_is_the_same_in_every_file(folder: Path) -> None:
    horizons = {
        line
        for name in knowledge.FILES
        for line in (folder / name).read_text("utf-8").splitlines()
        if line.startswith("horizon")
    }

    assert len(horizons) == 1


def test_signatures_are_read_when_they_are_asked_for(folder: Path) -> None:
    (folder / "signatures.toml").unlink()

    book = knowledge.read(folder)

    with pytest.raises(FileNotFoundError):
        _ = book.signatures


def test_mistakes_in_several_files_are_named_together(
    folder: Path, spoil: Callable[[str, str, str], None]
) -> None:
    spoil("features.toml", 'since = "b9180"', 'since = "9180x"')
    spoil("bugs.toml", 'fixed = "b9274"', 'fixd = "b9274"')
    spoil("builds.tsv", "\trelease\t", "\trumour\t")

    assert [mistake.split(":")[0] for mistake in mistakes(folder)] == [
        "features.toml",
        "bugs.toml",
        "builds.tsv",
    ]


MISTAKES = {
    "schema: expected one of 1, got 2": ("bugs.toml", "schema = 1", "schema = 2"),
    "must be after introduced": ("bugs.toml", 'fixed = "b9274"', 'fixed = "b9"'),
    "bug[0].source[0].seen: expected date, got 'now'": (
        "bugs.toml",
        "seen = 2026-12-01",
        'seen = "now"',
    ),
    "feature[0].archs: expected an array, got 'x'": (
        "features.toml",
        "archs = [",
        'archs = "x" # [',
    ),
    "feature[0].kind: expected one of 'arch', ": ("features.toml", 'kind = "arch"', 'kind = "arc"'),
    "flag[0]: missing key 'names'": ("flags.toml", "names = [", "nams = ["),
    "(at line ": ("features.toml", "[[feature]]", "[[feature]"),
}


@pytest.mark.parametrize(("says", "change"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_place(
    folder: Path,
    spoil: Callable[[str, str, str], None],
    says: str,
    change: tuple[str, str, str],
) -> None:
    spoil(*change)

    assert any(says in mistake for mistake in mistakes(folder))


def test_a_pattern_that_is_none_is_a_mistake(
    folder: Path, spoil: Callable[[str, str, str], None]
) -> None:
    spoil("signatures.toml", "pattern = '", "pattern = '(")

    with pytest.raises(TableError) as caught:
        _ = knowledge.read(folder).signatures

    assert "signatures.toml: signature[0].pattern: not a pattern" in str(caught.value)
