"""Every entry of the knowledge is well formed, ordered, sourced and no newer than it claims."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mtpdoctor import knowledge
from mtpdoctor.builds import Bracket
from mtpdoctor.knowledge import Bug, Feature, FlagNote, Signature, Source, ValueNote

BOOK = knowledge.load()
HOSTS = {"github.com"}
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
Entry = Feature | Bug | FlagNote | ValueNote | Signature
ENTRIES: tuple[Entry, ...] = (
    *BOOK.features,
    *BOOK.bugs,
    *BOOK.flags,
    *BOOK.values,
    *BOOK.signatures,
)
SOURCES = [(entry.id, source) for entry in ENTRIES for source in entry.source]


def brackets(entry: Entry) -> list[Bracket]:
    match entry:
        case Feature(since=since):
            return [since]
        case Bug(introduced=introduced, fixed=fixed):
            return [introduced] + ([fixed] if fixed else [])
        case FlagNote(removed=removed):
            return [removed] if removed else []
        case _:
            return []


@pytest.mark.parametrize(
    "entries", [BOOK.features, BOOK.bugs, BOOK.flags, BOOK.values, BOOK.signatures]
)
def test_ids_are_slugs_that_no_two_entries_share(entries: tuple[Entry, ...]) -> None:
    ids = [entry.id for entry in entries]

    assert all(SLUG.fullmatch(id) for id in ids)
    assert len(ids) == len(set(ids))


def test_features_and_bugs_have_no_id_in_common() -> None:
    assert not {f.id for f in BOOK.features} & {b.id for b in BOOK.bugs}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_every_entry_has_a_source(entry: Entry) -> None:
    assert entry.source


@pytest.mark.parametrize(("id", "source"), SOURCES)
def test_a_source_says_something_and_is_a_page_or_a_run_of_our_own(id: str, source: Source) -> None:
    parts = urlsplit(source.url)

    assert source.says == source.says.strip() != ""
    if source.kind == "run":
        assert not source.url
    else:
        assert parts.scheme == "https"
        assert parts.hostname in HOSTS


@pytest.mark.parametrize(("id", "source"), SOURCES)
def test_a_source_was_seen_no_later_than_the_revision(id: str, source: Source) -> None:
    assert source.seen <= BOOK.revision


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_no_entry_is_about_builds_past_the_horizon(entry: Entry) -> None:
    assert all(bracket.first_with <= BOOK.horizon for bracket in brackets(entry))


@pytest.mark.parametrize("entries", [BOOK.features, BOOK.bugs])
def test_entries_stand_in_the_order_of_builds(entries: tuple[Entry, ...]) -> None:
    first = [(b.first_with, b.last_without) for b in (brackets(entry)[0] for entry in entries)]

    assert first == sorted(first)


def test_features_of_architectures_name_them() -> None:
    for feature in BOOK.features:
        if feature.kind in {"arch", "mtp-graph"}:
            assert feature.archs, feature.id


def test_an_architecture_has_one_beginning_of_each_kind() -> None:
    pairs = [(f.kind, arch) for f in BOOK.features for arch in f.archs if f.kind != "behaviour"]

    assert len(pairs) == len(set(pairs))


def test_bugs_are_about_architectures_that_can_draft() -> None:
    drafting = {arch for f in BOOK.features if f.kind == "mtp-graph" for arch in f.archs}

    assert {arch for bug in BOOK.bugs for arch in bug.archs} <= drafting


@pytest.mark.parametrize("entry", [*BOOK.features, *BOOK.bugs], ids=lambda entry: entry.id)
def test_a_title_is_read_within_a_sentence(entry: Feature | Bug) -> None:
    first = entry.title.split()[0]

    assert not entry.title.endswith(".")
    assert first.islower() or first.isupper() or not first[0].isalpha()


def test_a_flag_has_one_note_at_most() -> None:
    names = [name for note in BOOK.flags for name in note.names]

    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"--?[a-z][a-z0-9-]*", name) for name in names)


def test_no_successor_is_itself_a_flag_that_is_gone() -> None:
    gone = {name for note in BOOK.flags for name in note.names}

    assert not {note.successor for note in BOOK.flags} & gone


def test_semantic_versions_rise_with_their_builds() -> None:
    numbers = [tuple(map(int, version.version.split("."))) for version in BOOK.versions]
    builds = [version.first for version in BOOK.versions]

    assert numbers == sorted(set(numbers))
    assert builds == sorted(set(builds))


def test_every_check_that_a_signature_names_is_there() -> None:
    folder = Path(__file__).parents[2] / "checks" / "mtpdoctor_checks"
    checks = {path.parent.name.replace("_", "-") for path in folder.glob("*/__init__.py")}

    assert {entry.check for entry in BOOK.signatures if entry.check} <= checks
