"""The two files of a pair: the target, and the drafter that guesses ahead of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from mtpdoctor.facts.known import Unknown
from mtpdoctor.gguf import Header


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a file cannot be read as a GGUF."""

    cause: str
    """One of :class:`mtpdoctor.gguf.Cause`."""
    says: str
    hint: str = ""
    offset: int | None = None
    """Byte of the file at which the trouble stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One GGUF of the command."""

    named: str = ""
    """As the user wrote it: a path, or ``org/repo:QUANT``."""
    origin: str = ""
    """What in the command names it: ``-m``, ``-hf``, ``found beside the target of -hf``."""
    path: str | Unknown = field(default_factory=Unknown)
    """Where it lies; unknown for a repository that is not in the local cache."""
    trouble: Trouble | None = None
    header: Header | Unknown = field(default_factory=Unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(Model):
    """The model whose answers are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter(Model):
    """The draft model, in a file of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRepo:
    """What the local Hugging Face cache holds of the repository behind ``-hf``."""

    repo: str
    revision: str | Unknown = field(default_factory=Unknown)
    files: tuple[str, ...] = ()
    """GGUF files of the newest cached snapshot, relative to it; also a ``preset.ini``."""
    unfinished: tuple[str, ...] = ()
    """Downloads that did not end: files of the snapshot without their data, and partial blobs."""
