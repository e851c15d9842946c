"""The llama-server that is to run: which build it is, and what it can do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from mtpdoctor.builds import Span
from mtpdoctor.facts.command import FlagTable
from mtpdoctor.facts.known import Unknown

_not_asked = Unknown()
_MORE = "..."
"""Stands in a list of values for those that are not named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailure:
    """Why the program does not even print its version."""

    kind: Literal[
        "missing-library",
        "library-version",
        "wrong-architecture",
        "not-executable",
        "no-program",
        "bad-interpreter",
        "flood",
        "signal",
        "exit",
        "timeout",
    ]
    says: str
    """What the system or the program said, bounded."""
    signal: str = ""
    """Name of the signal it died of: ``SIGILL``."""
    library: str = ""
    """The library that is missing or too old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitDate:
    """When the server's sources were committed, as closely as can be told."""

    earliest: date
    latest: date
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One row of ``--list-devices``."""

    name: str
    """As flags spell it: ``CUDA0``."""
    description: str = ""
    total_mib: int | Unknown = _not_asked
    free_mib: int | Unknown = _not_asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Architectures:
    """The architecture names that a libllama holds."""

    names: frozenset[str]
    """Names that stand in it as whole strings: surely known to it."""
    absent: frozenset[str] = frozenset()
    """Names looked for and surely not there; what is in neither set is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCode:
    """What ``libggml-cuda`` was compiled for, as compute capabilities times ten: 89, 90, 100."""

    sass: frozenset[int] = frozenset()
    """Machine code: runs on the same major version at this minor version or above."""
    ptx: frozenset[int] = frozenset()
    """Portable code: the driver can compile it for this capability and any later one."""
    exact: frozenset[int] = frozenset()
    """Code of either kind that runs on this very capability alone (``sm_120a``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The program that the command names, and what was learnt by asking it."""

    named: str = "llama-server"
    """As the user wrote it."""
    path: str | Unknown = _not_asked
    """Where it was found; unknown with the places that were searched."""
    binary: str | Unknown = _not_asked
    """The executable that really runs, behind wrapper scripts and links."""
    failure: StartFailure | Unknown | None = _not_asked
    """Why it does not start; ``None`` when it printed its version."""
    banner: str | Unknown = _not_asked
    """Its own version lines."""
    program: str | Unknown = _not_asked
    """``llama.cpp``, or the fork that it says it is."""
    build: Span | Unknown = _not_asked
    build_how: str = ""
    """Where the build number comes from: the banner, the commit, the semantic version."""
    commit: str | Unknown = _not_asked
    version: str | Unknown = _not_asked
    """The semantic version, ``0.1.0-dev``; builds before b10405 have none."""
    commit_date: CommitDate | Unknown = _not_asked
    flags: FlagTable | Unknown = _not_asked
    devices: tuple[Device, ...] | Unknown = _not_asked
    backends: frozenset[str] | Unknown = _not_asked
    """``cuda``, ``hip``, ``vulkan``, ``metal``, …: what it can offload to; ``cpu`` is not named."""
    architectures: Architectures | Unknown = _not_asked
    gpu_code: GpuCode | Unknown = _not_asked
    cpu_features: frozenset[str] | Unknown = _not_asked
    """Instruction sets its CPU code was compiled for, in the words of ``system_info``: AMX_INT8."""

    @property
    def spec_types(self) -> frozenset[str] | Unknown:
        """All values of ``--spec-type`` that its own help lists; empty when it has no such flag."""
        listed = self._listed_spec_types
        if not isinstance(listed, Unknown) and _MORE in listed:
            return Unknown("the server's own --help does not list every value of --spec-type")
        return listed

    def takes_spec_type(self, value: str) -> bool | Unknown:
        """Whether its own help lists *value* for ``--spec-type``."""
        listed = self._listed_spec_types
        if isinstance(listed, Unknown):
            return listed
        everything = self.spec_types
        return value in listed or (everything if isinstance(everything, Unknown) else False)

    @property
    def _listed_spec_types(self) -> frozenset[str] | Unknown:
        if isinstance(self.flags, Unknown):
            return self.flags
        if not self.flags.asked:
            return Unknown("the server's own --help could not be read")
        flag = self.flags.find("--spec-type")
        if flag is None:
            return frozenset()
        if not flag.values:
            return Unknown("the values of --spec-type could not be read from the server's --help")
        return flag.values
