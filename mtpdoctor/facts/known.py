"""What is known, what is not, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that no probe could determine, and why."""

    reason: str = "not stated"

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false; ask known() or isinstance()")


class Undetermined(Exception):  # noqa: N818  not an error: an answer
    """Raised by :func:`known`; the engine turns it into the outcome *unknown*."""


class NotApplicable(Exception):  # noqa: N818  not an error: an answer
    """Raised by a check whose question does not arise; the engine answers *skipped*, and why."""


def known(value: T | Unknown) -> T:
    """Return *value*, or give up on the check with the reason why it is unknown."""
    if isinstance(value, Unknown):
        raise Undetermined(value.reason)
    return value


class Facts:
    """An immutable map from a fact's type to its value, with a reason for each absence."""

    __slots__ = ("_absent", "_values")

    def __init__(self, *values: object, absent: Mapping[type, str] = MappingProxyType({})) -> None:
        self._values: dict[type, object] = {type(value): value for value in values}
        self._absent = dict(absent)

    def get(self, kind: type[T]) -> T | None:
        return cast("T | None", self._values.get(kind))

    def why_absent(self, kind: type[Any]) -> str:
        return self._absent.get(kind, f"no {kind.__name__} was examined")

    def with_(self, *values: object) -> Facts:
        """Return these facts with *values* added, each in place of its type's old value."""
        return Facts(*self._values.values(), *values, absent=self._absent)

    def without(self, kind: type[Any], reason: str) -> Facts:
        kept = (value for key, value in self._values.items() if key is not kind)
        return Facts(*kept, absent=self._absent | {kind: reason})

    def __iter__(self) -> Iterator[object]:
        return iter(self._values.values())
