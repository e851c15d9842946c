"""TOML tables as frozen dataclasses; every mistake is reported at once, with its place.

Strict on purpose: no unknown key is let through, a string is never taken for a sequence, and
nothing is converted but an integer where a float is due. A type with a ``parse`` class method is
written in TOML as the string it parses. Of a union, TOML writes the first member that is neither
``None`` nor ``Unknown``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_SHOWN = 80
"""Characters of a wrong value that a message repeats."""


class TableError(ValueError):
    """A table that does not fit; ``mistakes`` holds one line for each mistake."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


def loads(text: str, kind: type[T]) -> T:
    """Read TOML *text* as a *kind*.

    Raises :exc:`TableError`, also for text that is no TOML.
    """
    return build(parse(text), kind)


def parse(text: str) -> dict[str, Any]:
    """Read TOML *text*; whatever is wrong with it is a :exc:`TableError`."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TableError(["nested too deeply"]) from None
    except ValueError as error:  # no TOML, or a number of too many digits
        raise TableError([str(error)]) from None


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
    wanted = ""
    if origin is Literal:
        if any(raw == a and type(raw) is type(a) for a in arguments):
            return raw
        wanted = f"one of {', '.join(map(repr, arguments))}"
    elif origin in (tuple, frozenset):
        if isinstance(raw, list):
            return origin(
                [_value(item, arguments[0], f"{at}[{i}]", mistakes) for i, item in enumerate(raw)]
            )
        wanted = "an array"
    elif origin is not None and issubclass(origin, Mapping):
        if isinstance(raw, dict):
            return {k: _value(v, arguments[1], _below(at, k), mistakes) for k, v in raw.items()}
        wanted = "a table"
    elif isinstance(kind, type) and issubclass(kind, Enum):
        member = next((m for m in kind if m.value == raw and type(m.value) is type(raw)), None)
        if member is not None:
            return member
        wanted = f"one of {', '.join(repr(m.value) for m in kind)}"
    elif hasattr(kind, "parse"):
        if isinstance(raw, str):
            return _attempt(lambda: kind.parse(raw), at, mistakes)
        wanted = "a string"
    elif is_dataclass(kind):
        if isinstance(raw, dict):
            return _fields(raw, kind, at, mistakes)
        wanted = "a table"
    elif type(raw) is kind:
        return raw
    elif kind is float and type(raw) is int:
        return _attempt(lambda: float(raw), at, mistakes)
    mistakes.append(f"{_place(at)}: expected {wanted or kind.__name__}, got {_shown(raw)}")
    return None


def _fields(raw: Mapping[str, Any], kind: Any, at: str, mistakes: list[str]) -> Any:
    hints, required = _shape(kind)
    before = len(mistakes)
    mistakes += _key_mistakes(raw, required, _place(at))
    values = {
        key: _value(value, hints[key], _below(at, key), mistakes)
        for key, value in raw.items()
        if key in required
    }
    if len(mistakes) > before:
        return None
    return _attempt(lambda: kind(**values), at, mistakes)


@cache
def _shape(kind: Any) -> tuple[Mapping[str, Any], Mapping[str, bool]]:
    """Return the types of a dataclass's fields, and which of those it takes it cannot do without.

    Looked up once for each type: resolving the annotations costs more than all the rest.
    """
    required = {
        f.name: f.default is MISSING and f.default_factory is MISSING
        for f in fields(kind)
        if f.init
    }
    return get_type_hints(kind), required


def _key_mistakes(
    raw: Mapping[str, Any], required: Mapping[str, bool], where: str
) -> Iterator[str]:
    yield from (f"{where}: unknown key {_shown(key)}" for key in raw if key not in required)
    yield from (
        f"{where}: missing key {key!r}"
        for key, needed in required.items()
        if needed and key not in raw
    )


def _attempt(make: Callable[[], Any], at: str, mistakes: list[str]) -> Any:
    try:
        return make()
    except (TypeError, ValueError, ArithmeticError) as error:
        mistakes.append(f"{_place(at)}: {error}")
        return None


def _below(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _place(at: str) -> str:
    return at or "top level"


def _shown(raw: object) -> str:
    """Return a value as a message repeats it: escaped, short, and never walked into."""
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, list):
        return "an array"
    if isinstance(raw, str) and len(raw) > _SHOWN:
        return f"{raw[:_SHOWN]!r}…"
    if isinstance(raw, int) and raw.bit_length() > _SHOWN:
        return "a very large number"
    return repr(raw)


def _is_written(kind: Any) -> bool:
    """Whether a member of a union is the one that TOML writes: not None, not Unknown."""
    return kind is not NoneType and getattr(kind, "__name__", "") != "Unknown"
