"""What is to be examined and how: the options, merged with a configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Literal

from mtpdoctor import tables
from mtpdoctor.errors import DoctorError
from mtpdoctor.findings import Severity

CONFIG = "mtpdoctor.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One examination."""

    words: tuple[str, ...] = ()
    """The user's llama-server command, ``NAME=value`` before it included."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The environment that the server would be started with."""
    smoke: bool = False
    select: frozenset[str] | None = None
    """Ids of the only checks to run; ``None`` for all."""
    ignore: Mapping[str, str] = field(default_factory=dict)
    """Ids of checks to leave out, with the reason."""
    fail_on: Severity = Severity.ERROR
    strict: bool = False
    min_acceptance: float | None = None
    min_speedup: float | None = None
    timeout: float = 600.0
    """Seconds that a server may take to become ready."""
    offline: bool = False
    force: bool = False
    """Run the smoke run although a static error stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """``mtpdoctor.toml``, or ``[tool.mtpdoctor]`` in ``pyproject.toml``."""

    command: str = ""
    select: tuple[str, ...] = ()
    ignore: Mapping[str, str] = field(default_factory=dict)
    fail_on: Literal["error", "warning"] | None = None
    strict: bool = False
    min_acceptance: float | None = None
    min_speedup: float | None = None
    timeout: float | None = None
    offline: bool = False

    def __post_init__(self) -> None:
        for name, value, most in (
            ("min_acceptance", self.min_acceptance, 1.0),
            ("min_speedup", self.min_speedup, inf),
            ("timeout", self.timeout, inf),
        ):
            if value is not None and not (0 <= value <= most and value < inf):
                raise ValueError(f"{name}: {value} is out of range")


def read_config(folder: Path) -> Config:
    """Read the configuration of *folder*, the file of our own first.

    Raises :exc:`DoctorError` with every mistake and its place; without a file all is default.
    """
    own, project = folder / CONFIG, folder / "pyproject.toml"
    if own.exists():
        return _config(own, _toml(own))
    if project.is_file() and "mtpdoctor" in project.read_text("utf-8", errors="replace"):
        table = _toml(project).get("tool", {})
        if isinstance(table, dict) and "mtpdoctor" in table:
            return _config(project, table["mtpdoctor"])
    return Config()


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tables.parse(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tables.TableError) as error:
        raise DoctorError(f"{path}: {error}", "mend the file, or run in another folder") from None


def _config(path: Path, raw: Any) -> Config:
    if not isinstance(raw, dict):
        raise DoctorError(f"{path}: tool.mtpdoctor is no table", "write [tool.mtpdoctor]")
    known = {key.replace("-", "_"): value for key, value in raw.items()}
    try:
        return tables.build(known, Config)
    except tables.TableError as error:
        raise DoctorError(
            f"{path}: " + "; ".join(error.mistakes).replace("_", "-"),
            "the keys are those of --help",
        ) from None
