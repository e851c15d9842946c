"""What a check says about the facts, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is; an error fails the verdict, an info never does."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a finding is believed: what was measured here, or who says so."""

    says: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class SetFlag:
    """Give a flag a value, in place of its old one. Safe: the next start alone changes."""

    flag: str
    value: str | None = None
    replaces: str = ""
    """A flag that this one takes the place of, where it stands."""

    kind = "set-flag"
    safe = True

    @property
    def title(self) -> str:
        wanted = self.flag if self.value is None else f"{self.flag} {self.value}"
        return f"replace {self.replaces} by {wanted}" if self.replaces else f"use {wanted}"


@dataclass(frozen=True, slots=True)
class DropFlag:
    """Take every use of a flag out of the command. Safe: the next start alone changes."""

    flag: str

    kind = "drop-flag"
    safe = True

    @property
    def title(self) -> str:
        return f"drop {self.flag}"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Take a newer build."""

    to: str
    """The first build that will do: ``b9847``."""
    what: str = "llama.cpp"

    kind = "upgrade"
    safe = False

    @property
    def title(self) -> str:
        return f"upgrade {self.what} to {self.to} or newer"


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Build llama.cpp with other settings."""

    definitions: tuple[str, ...]
    """cmake definitions: ``-DCMAKE_CUDA_ARCHITECTURES=89``."""
    why: str = ""

    kind = "rebuild"
    safe = False

    @property
    def title(self) -> str:
        return f"rebuild llama.cpp with {' '.join(self.definitions)}"

    @property
    def command(self) -> str:
        settings = " ".join(self.definitions)
        return f"cmake -B build {settings} && cmake --build build --config Release -j"


@dataclass(frozen=True, slots=True)
class Download:
    """Get a file from the Hugging Face hub."""

    repo: str
    file: str

    kind = "download"
    safe = False

    @property
    def title(self) -> str:
        return f"download {self.file} from {self.repo}"

    @property
    def argv(self) -> tuple[str, ...]:
        return ("hf", "download", self.repo, self.file)


@dataclass(frozen=True, slots=True)
class Advice:
    """What only a person can do."""

    says: str
    command: str = ""
    """A line to copy, if there is one."""

    kind = "advice"
    safe = False

    @property
    def title(self) -> str:
        return self.says


Fix = SetFlag | DropFlag | Upgrade | Rebuild | Download | Advice


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    says: str
    """At most three lines: what is wrong, in whose terms, what to do."""
    severity: Severity = Severity.ERROR
    about: str = ""
    """What it speaks of: a file, a flag, a key, a device."""
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    """Alternatives, the best first; the first safe one is applied to the corrected command."""
