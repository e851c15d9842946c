"""What llama.cpp did in which build, and who says so.

``features.toml`` (what came when), ``bugs.toml`` (what was broken from when to when),
``flags.toml`` (renamed, removed and foreign flags, and values of flags), ``signatures.toml`` (log
lines and what they mean) and ``builds.tsv`` (build, commit, date); every entry has its sources.
What a binary shows of itself decides before anything in here, and nothing here is a claim about
builds past the horizon.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property
from pathlib import Path

from mtpdoctor import tables
from mtpdoctor.builds import Build, Span
from mtpdoctor.facts import Unknown
from mtpdoctor.findings import Evidence
from mtpdoctor.knowledge.entries import (
    Bug,
    Feature,
    FlagNote,
    Pattern,
    SemanticVersion,
    Signature,
    Source,
    Tables,
    ValueNote,
)
from mtpdoctor.knowledge.releases import Release, Releases
from mtpdoctor.tables import TableError

FILES = ("features.toml", "bugs.toml", "flags.toml", "signatures.toml")
_SIGNATURES = FILES[-1]
_HERE = Path(__file__).parent  # importlib.resources would cost more than all these files

__all__ = [
    "FILES",
    "Bug",
    "Feature",
    "FlagNote",
    "Knowledge",
    "Pattern",
    "Release",
    "Releases",
    "SemanticVersion",
    "Signature",
    "Source",
    "Tables",
    "ValueNote",
    "cited",
    "load",
    "read",
]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """All entries, the day they were revised, and the newest build they were checked against."""

    revision: date
    horizon: Build
    features: tuple[Feature, ...] = ()
    bugs: tuple[Bug, ...] = ()
    flags: tuple[FlagNote, ...] = ()
    values: tuple[ValueNote, ...] = ()
    versions: tuple[SemanticVersion, ...] = ()
    releases: Releases = field(default_factory=lambda: Releases(()))
    folder: Path | None = None
    """Where the signatures lie, which are read when they are first asked for."""

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """Log lines and what they mean; of two that match a line, the first is meant."""
        return _tables(self.folder, _SIGNATURES).signature if self.folder is not None else ()

    def named(self, id: str) -> Feature:
        """Return the feature *id*; :exc:`KeyError` if a check names one that is not there."""
        for feature in self.features:
            if feature.id == id:
                return feature
        raise KeyError(id)

    def feature(self, kind: str, arch: str = "") -> Feature | None:
        """Return the entry of that kind about *arch*."""
        for feature in self.features:
            if feature.kind == kind and (not arch or arch in feature.archs):
                return feature
        return None

    def bug(self, id: str) -> Bug:
        """Return the entry *id*; :exc:`KeyError` if a check names one that is not there."""
        for bug in self.bugs:
            if bug.id == id:
                return bug
        raise KeyError(id)

    def has(self, build: Span, feature: Feature) -> bool | Unknown:
        """Whether *build* has *feature*, as far as its number tells."""
        reached = feature.since.reached_by(build)
        if reached is None:
            return Unknown(f"{feature.title} came with {feature.since}, and this is {build}")
        if reached and build.last > self.horizon:
            return Unknown(self.past_horizon(build))
        return reached

    def suffers(self, build: Span, bug: Bug) -> bool | Unknown:
        """Whether *bug* is in *build*, as far as its number tells."""
        holds = bug.builds.holds(build, self.horizon)
        if holds is None:
            past = bug.fixed is None and build.last > self.horizon
            why = self.past_horizon(build) if past else f"known of {bug.builds}; this is {build}"
            return Unknown(f"{bug.title}: {why}")
        return holds

    def past_horizon(self, build: Span) -> str:
        return f"the knowledge of {self.revision} ends at {self.horizon}, and this is {build}"

    def flag_note(self, name: str) -> FlagNote | None:
        return next((note for note in self.flags if name in note.names), None)

    def value_note(self, flag: str, value: str) -> ValueNote | None:
        return next((n for n in self.values if n.flag == flag and n.value == value), None)


def cited(sources: tuple[Source, ...]) -> tuple[Evidence, ...]:
    """Return an entry's sources as a finding's evidence."""
    return tuple(Evidence(source.says, source.url) for source in sources)


@cache
def load() -> Knowledge:
    """Read what ships."""
    return read(_HERE)


def read(folder: Path) -> Knowledge:
    """Read the files in *folder*; :exc:`TableError` names every mistake, file and place first.

    Signatures alone are left for later: a static verdict never needs them.
    """
    parts, mistakes = [], []
    for name in FILES[:-1]:
        try:
            parts.append(_tables(folder, name))
        except TableError as error:
            mistakes += error.mistakes
    try:
        with (folder / "builds.tsv").open(encoding="utf-8") as lines:
            releases = Releases.read(lines)
    except TableError as error:
        mistakes += [f"builds.tsv: {mistake}" for mistake in error.mistakes]
    if mistakes:
        raise TableError(mistakes)
    return Knowledge(
        revision=max(part.revision for part in parts),
        horizon=min(part.horizon for part in parts),
        features=tuple(entry for part in parts for entry in part.feature),
        bugs=tuple(entry for part in parts for entry in part.bug),
        flags=tuple(entry for part in parts for entry in part.flag),
        values=tuple(entry for part in parts for entry in part.value),
        versions=tuple(entry for part in parts for entry in part.version),
        releases=releases,
        folder=folder,
    )


def _tables(folder: Path, name: str) -> Tables:
    try:
        return tables.loads((folder / name).read_text("utf-8"), Tables)
    except TableError as error:
        raise TableError([f"{name}: {mistake}" for mistake in error.mistakes]) from None
