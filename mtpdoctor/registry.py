"""Finding the installed checks, without letting a broken plugin stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from typing import Any

from mtpdoctor.checks import Check

GROUP = "mtpdoctor.checks"
FIRST_PARTY = "mtpdoctor"
"""The entry point of the checks that ship; anyone else's ids are prefixed with their own name."""


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """An entry point that could not be used, and why."""

    plugin: str
    reason: str


@dataclass(frozen=True, slots=True)
class Registry:
    """Checks by their full id, and what could not be loaded."""

    checks: Mapping[str, Check[Any]]
    broken: tuple[BrokenPlugin, ...] = ()

    def page(self, id: str) -> str | None:
        """Return the page of a check, in Markdown; ``None`` for a check without one."""
        package = self.checks[id].module
        try:
            return files(package).joinpath("README.md").read_text("utf-8")
        except (OSError, TypeError, UnicodeDecodeError):
            return None


def origin(id: str) -> str:
    """Return the entry point that a check with this full id came from."""
    return id.partition("/")[0] if "/" in id else FIRST_PARTY


def load(points: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every plugin; one that raises, or whose checks wait for each other, is broken."""
    checks: dict[str, Check[Any]] = {}
    broken: list[BrokenPlugin] = []
    found = entry_points(group=GROUP) if points is None else points
    for point in sorted(found, key=lambda point: (point.name != FIRST_PARTY, point.name)):
        prefix = "" if point.name == FIRST_PARTY else f"{point.name}/"
        try:
            loaded = _checks(point.load(), prefix)
            _refuse_strangers({**checks, **loaded}, prefix)
            _refuse_cycles({**checks, **loaded}, prefix)
        except (Exception, SystemExit) as error:  # noqa: BLE001  a plugin may do anything
            broken.append(BrokenPlugin(point.name, f"{type(error).__name__}: {error}"))
        else:
            checks |= loaded
    return Registry(checks, tuple(broken))


def _checks(value: Any, prefix: str) -> dict[str, Check[Any]]:
    checks: dict[str, Check[Any]] = {}
    for each in value:
        if not isinstance(each, Check):
            raise TypeError(f"{each!r} is not a check; use the @check decorator")
        if prefix + each.id in checks:
            raise ValueError(f"two checks are called {each.id!r}")
        checks[prefix + each.id] = each
    return checks


def prerequisites(id: str, checks: Mapping[str, Check[Any]]) -> frozenset[str]:
    """Return the full ids that *id* waits for; a plugin may name its own checks or shipped ones."""
    prefix = id[: id.rfind("/") + 1]
    after = checks[id].after
    return frozenset(
        full for name in after for full in (prefix + name, name) if full in checks and full != id
    )


def _refuse_strangers(checks: Mapping[str, Check[Any]], prefix: str) -> None:
    for id, each in checks.items():
        for name in each.after:
            if id.startswith(prefix) and prefix + name not in checks and name not in checks:
                raise ValueError(f"{each.id!r} waits for {name!r}, which is no check")


def _refuse_cycles(checks: Mapping[str, Check[Any]], prefix: str) -> None:
    try:
        TopologicalSorter({id: prerequisites(id, checks) for id in checks}).prepare()
    except CycleError as error:
        names = " → ".join(name.removeprefix(prefix) for name in error.args[1])
        raise ValueError(f"checks wait for each other: {names}") from None
