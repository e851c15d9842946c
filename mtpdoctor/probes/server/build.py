"""Which llama.cpp build a server is, with how that is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from mtpdoctor.builds import Build, Span
from mtpdoctor.facts import CommitDate, FlagTable, Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.probes.server.banner import Banner, fork_of_path
from mtpdoctor.probes.server.checkout import Checkout

_FIRST, _LAST = 4000, 1_000_000
"""Build numbers that are believed; shallow clones print 1, archives 0, forks and partial clones
anything, among it what llama.cpp counted years before it drafted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The build and its age, as closely as they can be told."""

    build: Span | Unknown
    how: str = ""
    day: CommitDate | Unknown


def tell(
    banner: Banner,
    named_fork: str,
    spec_types: frozenset[str],
    knowledge: Knowledge,
    checkout: Callable[[], Checkout | None],
) -> Told:
    """Tell the build from a server's own words and from *knowledge*.

    Its commit decides over the number that it prints. Where that number says nothing (shallow
    clones print 1, archives 0), a checkout of the same commit and the semantic version do.
    *checkout* is only called when it is needed.
    """
    if named_fork:
        why = f"it is {named_fork}, whose build numbers are not llama.cpp's"
        return Told(build=Unknown(why), day=Unknown(why))
    if banner.number is None:
        why = "it printed no version line"
        return Told(build=Unknown(why), day=Unknown(why))
    release = knowledge.releases.of_commit(banner.commit)
    if release is not None:
        how = f"its commit {banner.commit} is {release.build}"
        if banner.number > 1 and banner.number != release.build.number:
            how += f", although it calls itself build {banner.number}"
        return _dated(Span(release.build, release.build), how, knowledge)
    doubt = _doubt(banner, spec_types, knowledge)
    if not doubt:
        how = f"its own version line: {banner.lines[0]}"
        return _dated(Span.exactly(banner.number), how, knowledge)
    found = checkout()
    if found is not None:
        return _of_checkout(found, doubt, knowledge)
    span = of_version(banner.version, knowledge) if banner.version else Unknown()
    if isinstance(span, Span) and (banner.number <= 1 or not banner.commit):
        return _dated(span, f"its version {banner.version}; {doubt}", knowledge)
    also = f"; {span.reason}" if banner.version and isinstance(span, Unknown) else ""
    why = doubt + (f"; its commit {banner.commit} is not a known build's" * bool(banner.commit))
    return Told(build=Unknown(why + also), day=Unknown(why + also))


def fork(
    banner: Banner, folders: Iterable[str], flags: FlagTable | Unknown, knowledge: Knowledge
) -> str:
    """Return the fork that a server is; empty where nothing says that it is one.

    Forks print the same version line. Their own flags give them away, and the folder that they
    were built in.
    """
    if banner.fork:
        return banner.fork
    if not isinstance(flags, Unknown):
        for note in knowledge.flags:
            ours = note.owner.startswith("llama")  # llama.cpp, or another of its programs
            if not ours and any(flags.accepts(name) for name in note.names):
                return note.owner
    return fork_of_path(folders)


def _doubt(banner: Banner, spec_types: frozenset[str], knowledge: Knowledge) -> str:
    """Return why the printed number is not to be trusted; empty where nothing speaks against it."""
    number = banner.number
    assert number is not None
    if number in {0, 1}:
        where = "a shallow clone" if number else "sources without git"
        return f"it calls itself build {number}, as builds from {where} do"
    if not _FIRST <= number < _LAST:
        return f"it calls itself build {number}, which no llama.cpp release of interest is"
    build = Span.exactly(number)
    for row in knowledge.releases.rows:
        if row.build.number == number and row.commit and banner.commit:
            return f"it calls itself build {number}, whose commit is {row.commit[:9]}, not its own"
    versions = sorted(knowledge.versions, key=lambda each: each.first)
    if versions and not banner.version and build.first >= versions[0].first:
        return f"it calls itself build {number}, but prints no semantic version, as those do"
    if banner.version:
        low, high = _bounds(banner.version, knowledge)
        if (low is not None and build.first < low) or (high is not None and build.last > high):
            return f"its build number {number} and its version {banner.version} do not go together"
    for feature in knowledge.features:
        value = feature.id.removeprefix("spec-type-")
        listed = feature.kind == "spec-type" and value in spec_types
        if listed and feature.since.reached_by(build) is False:
            came = feature.since.first_with
            return f"it calls itself build {number}, but has {value}, which came with {came}"
    return ""


def of_version(version: str, knowledge: Knowledge) -> Span | Unknown:
    """Return the builds that call themselves by *version*."""
    low, high = _bounds(version, knowledge)
    if low is None:
        return Unknown(f"version {version} is none that is known")
    return Span.since(low) if high is None else Span(low, high)


def _bounds(version: str, knowledge: Knowledge) -> tuple[Build | None, Build | None]:
    """Return the first and the last build that may call themselves by *version*.

    An entry says where its version was first *seen*; it may have come any time after the one
    before it was.
    """
    wanted = _numbers(version)
    versions = sorted(knowledge.versions, key=lambda each: each.first)
    before = [each.first for each in versions if _numbers(each.version) < wanted]
    after = [each.first for each in versions if _numbers(each.version) > wanted]
    if before:
        low = Build(before[-1].number + 1)
    elif versions and wanted == _numbers(versions[0].version):
        older = [row.build for row in knowledge.releases.rows if row.build < versions[0].first]
        low = Build(older[-1].number + 1) if older else versions[0].first
    else:
        return None, None
    return low, Build(after[0].number - 1) if after else None


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _of_checkout(found: Checkout, doubt: str, knowledge: Knowledge) -> Told:
    how = f"the git checkout {found.folder}, at {found.commit[:9]}"
    day = CommitDate(earliest=found.day, latest=found.day, how=how)
    release = knowledge.releases.of_commit(found.commit)
    if release is not None:
        return Told(build=Span(release.build, release.build), how=how, day=day)
    if found.count is not None and found.count >= _FIRST:
        return Told(build=Span.exactly(found.count), how=f"commits in {how}", day=day)
    span = of_day(found.day, knowledge)
    return Told(build=span, how=f"the day of its commit, from {how}; {doubt}", day=day)


def of_day(day: date, knowledge: Knowledge) -> Span | Unknown:
    """Return the builds that may have been committed on *day*."""
    rows = knowledge.releases.rows
    before = [row.build for row in rows if row.latest < day]
    after = [row.build for row in rows if row.earliest > day]
    if not before or not after or not max(before) < min(after):
        return Unknown(f"no known builds lie around {day}")
    return Span(Build(max(before).number + 1), Build(min(after).number - 1))


def days(span: Span, knowledge: Knowledge) -> CommitDate | Unknown:
    """Return when a build of *span* was committed, told from the known builds around it."""
    bounds = knowledge.releases.days(span)
    if bounds is None:
        return Unknown(f"{span} lies outside of the builds whose day is known")
    earliest, latest = bounds
    if latest < earliest:
        return Unknown(f"the known builds around {span} contradict each other")
    how = "told from the days of the builds around it"
    return CommitDate(earliest=earliest, latest=latest, how=how)


def _dated(span: Span, how: str, knowledge: Knowledge) -> Told:
    return Told(build=span, how=how, day=days(span, knowledge))
