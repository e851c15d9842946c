"""TOML tables as frozen dataclasses; every mistake is reported at once, with its place.

Strict on purpose: nothing is coerced, no unknown key is let through, and a string is never taken
for a sequence. A type with a ``parse`` class method is written in TOML as the string it parses.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


class TableError(ValueError):
    """A table that does not fit; ``mistakes`` holds one line for each mistake."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


def loads(text: str, kind: type[T]) -> T:
    """Read TOML *text* as a *kind*.

    Raises :exc:`TableError`, also for text that is no TOML.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableError([str(error)]) from None
    return build(raw, kind)


def build(raw: object, kind: type[T], at: str = "") -> T:
    """Return *raw* as a *kind*, or raise :exc:`TableError` with all that is wrong."""
    mistakes: list[str] = []
    value: T = _value(raw, kind, at, mistakes)
    if mistakes:
        raise TableError(mistakes)
    return value


def _value(raw: Any, kind: Any, at: str, mistakes: list[str]) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return raw
    if origin in (Union, UnionType):
        return _value(raw, next(a for a in arguments if _is_written(a)), at, mistakes)
    if origin is Literal:
        if raw in arguments and type(raw) in {type(a) for a in arguments}:
            return raw
        mistakes.append(f"{at}: {raw!r} is none of {', '.join(map(repr, arguments))}")
    elif origin in (tuple, frozenset):
        if isinstance(raw, list):
            return origin(
                _value(item, arguments[0], f"{at}[{i}]", mistakes) for i, item in enumerate(raw)
            )
        mistakes.append(f"{at}: expected an array, got {raw!r}")
    elif origin is not None and issubclass(origin, Mapping):
        if isinstance(raw, dict):
            return {k: _value(v, arguments[1], f"{at}.{k}", mistakes) for k, v in raw.items()}
        mistakes.append(f"{at}: expected a table, got {raw!r}")
    elif isinstance(kind, type) and issubclass(kind, Enum):
        if raw in [member.value for member in kind]:
            return kind(raw)
        names = ", ".join(repr(member.value) for member in kind)
        mistakes.append(f"{at}: {raw!r} is none of {names}")
    elif hasattr(kind, "parse"):
        return _attempt(lambda: kind.parse(raw), at, mistakes)
    elif is_dataclass(kind):
        if isinstance(raw, dict):
            return _fields(raw, kind, at, mistakes)
        mistakes.append(f"{at}: expected a table, got {raw!r}")
    elif type(raw) is kind:
        return raw
    else:
        mistakes.append(f"{at}: expected {kind.__name__}, got {raw!r}")
    return None


def _fields(raw: Mapping[str, Any], kind: Any, at: str, mistakes: list[str]) -> Any:
    hints = get_type_hints(kind)
    before = len(mistakes)
    mistakes += _key_mistakes(raw, kind, at)
    values = {
        key: _value(value, hints[key], f"{at}.{key}" if at else key, mistakes)
        for key, value in raw.items()
        if key in hints
    }
    if len(mistakes) > before:
        return None
    return _attempt(lambda: kind(**values), at, mistakes)


def _key_mistakes(raw: Mapping[str, Any], kind: Any, at: str) -> Iterator[str]:
    required = {
        f.name: f.default is MISSING and f.default_factory is MISSING
        for f in fields(kind)
        if f.init
    }
    where = at or "top level"
    yield from (f"{where}: unknown key {key!r}" for key in raw if key not in required)
    yield from (
        f"{where}: missing key {key!r}"
        for key, needed in required.items()
        if needed and key not in raw
    )


def _attempt(make: Callable[[], Any], at: str, mistakes: list[str]) -> Any:
    try:
        return make()
    except (TypeError, ValueError, AttributeError) as error:
        mistakes.append(f"{at or 'top level'}: {error}")
        return None


def _is_written(kind: Any) -> bool:
    """Whether a member of a union is the one that TOML writes: not None, not Unknown."""
    return kind is not NoneType and getattr(kind, "__name__", "") != "Unknown"
