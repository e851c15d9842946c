"""The kinds of entry that the knowledge files hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from mtpdoctor.builds import Bracket, Build, BuildRange


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression for one log line."""

    text: str
    compiled: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> Pattern:
        try:
            return cls(text, re.compile(text))
        except re.error as error:
            raise ValueError(f"not a pattern: {text!r} ({error})") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who says so; ``run`` means that it was reproduced on a real server."""

    kind: Literal["pull", "issue", "commit", "release", "source", "run"]
    says: str
    url: str = ""
    seen: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Something that builds have from ``since`` on."""

    id: str
    title: str
    kind: Literal["arch", "mtp-graph", "spec-type", "flag", "behaviour"]
    since: Bracket
    archs: frozenset[str] = frozenset()
    """Architectures it is about: what loads (``arch``) or drafts (``mtp-graph``)."""
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """Something that is broken in a range of builds."""

    id: str
    title: str
    introduced: Bracket
    fixed: Bracket | None = None
    archs: frozenset[str] = frozenset()
    backends: frozenset[str] = frozenset()
    source: tuple[Source, ...]

    def __post_init__(self) -> None:
        BuildRange(self.introduced, self.fixed)  # raises where the range is empty

    @property
    def builds(self) -> BuildRange:
        return BuildRange(self.introduced, self.fixed)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagNote:
    """A flag that llama-server no longer takes, or never did."""

    id: str
    names: tuple[str, ...]
    successor: str = ""
    """What to write instead; empty where nothing takes its place."""
    removed: Bracket | None = None
    """When it stopped working; none for a flag that only forks or wrappers know."""
    owner: str = "llama.cpp"
    """Whose flag it is."""
    says: str = ""
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueNote:
    """A value of a flag that llama-server no longer takes, or never did."""

    id: str
    flag: str
    value: str
    successor: str = ""
    """What to write instead; empty where nothing takes its place."""
    owner: str = "llama.cpp"
    """Whose value it is."""
    says: str = ""
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A log line that means something."""

    id: str
    pattern: Pattern
    meaning: Literal["cause", "consequence", "benign"]
    says: str = ""
    """What it means, in words; ``{0}`` is the whole match, ``{1}`` the first group."""
    check: str = ""
    """Id of the check that explains it."""
    advice: str = ""
    """What to do about it, in words; a check's own fix goes before."""
    signals: frozenset[str] = frozenset()
    """The signals that such an end comes with; another end rules the line out as its cause."""
    source: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticVersion:
    """The first build that called itself by a semantic version."""

    version: str
    first: Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """One knowledge file; all of them have this shape, and most parts are in one file only."""

    schema: Literal[1]
    revision: date
    horizon: Build
    feature: tuple[Feature, ...] = ()
    bug: tuple[Bug, ...] = ()
    flag: tuple[FlagNote, ...] = ()
    value: tuple[ValueNote, ...] = ()
    signature: tuple[Signature, ...] = ()
    version: tuple[SemanticVersion, ...] = ()
