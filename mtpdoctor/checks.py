"""How a check is written: a generator of findings whose parameter types are its needs.

    @check("drafter-width-mismatch", "the drafter was made for another target")
    def drafter_width_mismatch(target: Target, drafter: Drafter) -> Iterator[Finding]:
        wanted = known(drafter.header).get("embedding_length_out")
        ...

A parameter typed ``X | None`` is given ``None`` when there is no such fact; any other absence makes
the check *skipped*. ``known()`` on an unknown value makes it *unknown*.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, Generic, ParamSpec, Union, get_args, get_origin, get_type_hints

from mtpdoctor.facts import SmokeRun
from mtpdoctor.findings import Finding, Severity

P = ParamSpec("P")
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Need:
    """One parameter of a check."""

    kind: type[Any]
    optional: bool


@dataclass(frozen=True, slots=True)
class Check(Generic[P]):
    """A named question; called with the facts it needs, it answers with findings."""

    id: str
    title: str
    severity: Severity
    """The worst it may find; a check that could fail the verdict counts when it cannot tell."""
    body: Callable[P, Iterator[Finding]]
    needs: dict[str, Need]
    """Parameter name to fact, in the order of the signature."""
    after: frozenset[str] = frozenset()
    """Checks whose finding makes this one pointless."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Iterator[Finding]:
        return self.body(*args, **kwargs)

    @property
    def module(self) -> str:
        return self.body.__module__

    @property
    def reads_run(self) -> bool:
        """Whether a smoke run can change the answer."""
        return any(need.kind is SmokeRun for need in self.needs.values())

    @property
    def needs_run(self) -> bool:
        return any(need.kind is SmokeRun and not need.optional for need in self.needs.values())


def check(
    id: str,
    title: str,
    *,
    severity: Severity = Severity.ERROR,
    after: Collection[str] = (),
) -> Callable[[Callable[P, Iterator[Finding]]], Check[P]]:
    """Turn a generator of findings into a check.

    *title* states the trouble in a few words. Raises :exc:`ValueError` for an id that is not
    lower-case-with-dashes, and :exc:`TypeError` or :exc:`NameError` for parameters whose types
    cannot be read: a broken plugin says so when it is loaded, not when it runs.
    """
    if _SLUG.fullmatch(id) is None:
        raise ValueError(f"check id {id!r} is not lower-case-with-dashes")

    def wrap(body: Callable[P, Iterator[Finding]]) -> Check[P]:
        return Check(id, title, severity, body, _needs(body), frozenset(after))

    return wrap


def _needs(body: Callable[..., Any]) -> dict[str, Need]:
    hints = get_type_hints(body)
    hints.pop("return", None)
    needs = {}
    for name, parameter in signature(body).parameters.items():
        if parameter.kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}:
            raise TypeError(f"{body.__name__} takes *{name}; a check names each fact that it needs")
        if name not in hints:
            raise TypeError(f"parameter {name!r} of {body.__name__} has no type")
        needs[name] = _need(hints[name])
    return needs


def _need(hint: Any) -> Need:
    if get_origin(hint) in (Union, UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not NoneType]
        if len(kinds) != 1:
            raise TypeError(f"a check needs one type of fact per parameter, not {hint}")
        return Need(kinds[0], optional=True)
    return Need(hint, optional=False)


def checks_in(package: str) -> tuple[Check[Any], ...]:
    """Every check that is defined in a direct submodule of *package*, by module name."""
    root = import_module(package)
    names = sorted(
        module.name
        for module in pkgutil.iter_modules(root.__path__)
        if not module.name.startswith("test_")
    )
    modules = (import_module(f"{package}.{name}") for name in names)
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Check) and value.module == module.__name__
    )
