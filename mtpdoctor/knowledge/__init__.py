"""What llama.cpp did in which build, and who says so.

``features.toml`` (what came when), ``bugs.toml`` (what was broken from when to when),
``flags.toml`` (renamed, removed and foreign flags), ``signatures.toml`` (log lines and what they
mean) and ``builds.tsv`` (build, commit, date); every entry has its sources. What a binary shows
of itself decides before anything in here, and nothing here is a claim about builds past the
horizon.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

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
)
from mtpdoctor.knowledge.releases import Release, Releases

FILES = ("features.toml", "bugs.toml", "flags.toml", "signatures.toml")

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
    "cited",
    "load",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """All entries, the day they were revised, and the newest build they were checked against."""

    revision: date
    horizon: Build
    features: tuple[Feature, ...] = ()
    bugs: tuple[Bug, ...] = ()
    flags: tuple[FlagNote, ...] = ()
    signatures: tuple[Signature, ...] = ()
    versions: tuple[SemanticVersion, ...] = ()
    releases: Releases

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
            why = self.past_horizon(build) if past else f"it is in {bug.builds}; this is {build}"
            return Unknown(f"{bug.title}: {why}")
        return holds

    def past_horizon(self, build: Span) -> str:
        return f"the knowledge of {self.revision} ends at {self.horizon}, and this is {build}"

    def flag_note(self, name: str) -> FlagNote | None:
        return next((note for note in self.flags if name in note.names), None)


def cited(sources: tuple[Source, ...]) -> tuple[Evidence, ...]:
    """Return an entry's sources as a finding's evidence."""
    return tuple(Evidence(source.says, source.url) for source in sources)


@cache
def load() -> Knowledge:
    """Read the files that ship; :exc:`~mtpdoctor.tables.TableError` names every mistake."""
    here = files(__name__)
    parts = [tables.loads(here.joinpath(name).read_text("utf-8"), Tables) for name in FILES]
    with here.joinpath("builds.tsv").open(encoding="utf-8") as lines:
        releases = Releases.read(lines)
    return Knowledge(
        revision=max(part.revision for part in parts),
        horizon=min(part.horizon for part in parts),
        features=sum((part.feature for part in parts), ()),
        bugs=sum((part.bug for part in parts), ()),
        flags=sum((part.flag for part in parts), ()),
        signatures=sum((part.signature for part in parts), ()),
        versions=sum((part.version for part in parts), ()),
        releases=releases,
    )
