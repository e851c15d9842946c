"""Metadata values made by hand, encoded as a file would hold them, so that they read the same."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from mtpdoctor.gguf.array import Array, Value, open_array
from mtpdoctor.gguf.source import Source
from mtpdoctor.gguf.types import CODES, ValueType

WHERE = "<made by hand>"
"""What stands for the path of what is in no file."""


def value_of(value: object, type_: ValueType | None = None) -> tuple[Value, ValueType]:
    """Return a value as a file would give it, and its type.

    ``type_`` overrides what is inferred; for a list or tuple it is the type of the elements.
    Floats come back rounded to the precision of their type. Raises ValueError if a value does
    not fit the type.
    """
    if isinstance(value, Array):
        return value, ValueType.ARRAY
    if isinstance(value, list | tuple):
        raw = _array(value, None if type_ is ValueType.ARRAY else type_)
        return open_array(Source(WHERE, raw, "little"), 0, "the array"), ValueType.ARRAY
    type_ = _infer((value,), ValueType.UINT32) if type_ is None else type_
    raw = _encode(value, type_)
    if type_ is ValueType.STRING:
        return raw[8:].decode("utf-8"), type_
    decoded: Value = struct.unpack("<" + CODES[type_], raw)[0]
    return decoded, type_


def _infer(values: Sequence[object], small: ValueType) -> ValueType:
    """Return the type a converter would choose; ``small`` for integers that fit it.

    Converters write single integers as u32 and integers in arrays as i32.
    """
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return ValueType.BOOL
    if kinds == {str}:
        return ValueType.STRING
    if kinds and kinds <= {list, tuple}:
        return ValueType.ARRAY
    if kinds == {int}:
        numbers = [value for value in values if isinstance(value, int)]
        low, high = min(numbers), max(numbers)
        if small is ValueType.UINT32 and low >= 0:
            return small if high < 1 << 32 else ValueType.UINT64
        if low >= -(1 << 31) and high < 1 << 31:
            return ValueType.INT32
        return ValueType.INT64 if high < 1 << 63 else ValueType.UINT64
    if kinds and kinds <= {int, float}:
        return ValueType.FLOAT32
    if not kinds:
        return ValueType.INT32
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise ValueError(f"no GGUF type holds {names}")


def _array(values: Sequence[object], type_: ValueType | None) -> bytes:
    type_ = _infer(values, ValueType.INT32) if type_ is None else type_
    head = struct.pack("<IQ", type_, len(values))
    return head + b"".join(_encode(value, type_) for value in values)


def _encode(value: object, type_: ValueType) -> bytes:
    if type_ is ValueType.ARRAY and isinstance(value, list | tuple):
        return _array(value, None)
    if type_ is ValueType.STRING and isinstance(value, str):
        raw = value.encode("utf-8")
        return struct.pack("<Q", len(raw)) + raw
    if type_ in CODES and isinstance(value, bool | int | float):
        try:
            return struct.pack("<" + CODES[type_], value)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"{value!r} is no {type_.short}: {error}") from None
    raise ValueError(f"{value!r} is no {type_.short}")
