"""Arrays of a GGUF header: known by type, count and place, decoded only where one looks."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import ClassVar, Never, TypeAlias, overload

from mtpdoctor.gguf.refusals import Cause
from mtpdoctor.gguf.source import Source
from mtpdoctor.gguf.types import CODES, LEAST, SIZES, ValueType

STRIDE = 256
"""Every so many elements of unequal size, the walk keeps a mark: reading element ``i`` starts at
the mark before it, and 262,144 tokens cost 1,024 marks instead of as many offsets."""

DEPTH = 4
"""How deep arrays may lie in arrays. llama.cpp refuses any; ``gguf.GGUFWriter`` can write them."""

_CHUNK = 4096  # numbers decoded at a time while iterating
_PIECE = 1 << 20  # bytes compared at a time


class Array(Sequence["Value"]):
    """A typed, immutable sequence whose elements lie in the file.

    The length is the count that stands in the file. ``array[i]`` and ``array[a:b]`` (a tuple)
    decode what they return and nothing else. Strings are decoded as ``Source.text`` does, elements
    that are arrays are Arrays.

    The file stays mapped while the Array lives. Overwriting it in place meanwhile changes what is
    read; lengths are checked again, so that it cannot make a read leave the array.
    """

    __slots__ = ("_count", "_marks", "_source", "end", "offset", "type")
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(
        self, source: Source, type_: ValueType, count: int, offset: int, what: str
    ) -> None:
        """Walk over the elements at ``offset``; ``open_array`` is how to get here checked."""
        self._source = source
        self.type = type_
        """The type of the elements."""
        self._count = count
        self.offset = offset
        """Where the first element is, in bytes from the start of the file."""
        self._marks = array("Q")
        self.end = span(source, type_, count, offset, what, marks=self._marks)
        """Where the bytes of the last element end."""

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Value, ...]: ...
    def __getitem__(self, index: int | slice) -> Value | tuple[Value, ...]:
        if isinstance(index, slice):
            wanted = range(self._count)[index]
            if wanted.step == 1:
                return tuple(self._run(wanted.start, wanted.stop))
            return tuple(self[i] for i in wanted)
        i = index + self._count if index < 0 else index
        if not 0 <= i < self._count:
            raise IndexError(f"index {index} of an array of {self._count:,}")
        return next(self._run(i, i + 1))

    def __iter__(self) -> Iterator[Value]:
        return self._run(0, self._count)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Array):
            return self.same_as(other)
        if isinstance(other, list | tuple):
            return self._count == len(other) and all(
                a == b for a, b in zip(self, other, strict=True)
            )
        return NotImplemented

    def __repr__(self) -> str:
        return f"<Array of {self._count} {self.type.short}>"

    def same_as(self, other: Array) -> bool:
        """Say whether both hold equal elements.

        With one type and byte order the bytes are compared, 10 MB in 1.4 ms; else the values.
        """
        if self._count != other._count:
            return False
        mine, theirs = self._source, other._source
        if self.type is not other.type or mine.order != theirs.order:
            return all(a == b for a, b in zip(self, other, strict=True))
        size = self.end - self.offset
        if size != other.end - other.offset:
            return False
        a, b = self.offset, other.offset
        return all(
            mine.buffer[a + i : min(a + i + _PIECE, self.end)]
            == theirs.buffer[b + i : min(b + i + _PIECE, other.end)]
            for i in range(0, size, _PIECE)
        )

    def _run(self, start: int, stop: int) -> Iterator[Value]:
        """Decode elements ``start`` to ``stop``, both within the array."""
        source = self._source
        if self.type in SIZES:
            code, size = CODES[self.type], SIZES[self.type]
            for first in range(start, stop, _CHUNK):
                form = f"{source.mark}{min(stop - first, _CHUNK)}{code}"
                yield from struct.unpack_from(form, source.buffer, self.offset + first * size)
            return
        if start >= stop:
            return
        nearest = start - start % STRIDE
        pos = span(source, self.type, start - nearest, self._marks[start // STRIDE], "an array")
        if self.type is ValueType.STRING:
            yield from self._texts(stop - start, pos)
            return
        for _ in range(start, stop):
            element = open_array(source, pos, "a nested array")
            pos = element.end
            yield element

    def _texts(self, count: int, pos: int) -> Iterator[str]:
        source, end = self._source, self.end
        length_at, buffer, text = source.u64s.unpack_from, source.buffer, source.text
        for _ in repeat(None, count):
            start = pos + 8
            if start <= end:
                pos = start + length_at(buffer, pos)[0]
            if not start <= pos <= end:
                raise source.refuse(Cause.MALFORMED, "the file changed while open", offset=start)
            yield text(start, pos)


Value: TypeAlias = bool | int | float | str | Array
"""What a metadata key holds."""


def open_array(source: Source, pos: int, what: str) -> Array:
    """Read the array whose element type stands at ``pos``: u32 type, u64 count, elements."""
    type_, count = array_head(source, pos, what)
    return Array(source, type_, count, pos + 12, what)


def array_head(source: Source, pos: int, what: str) -> tuple[ValueType, int]:
    """Read element type and count of the array at ``pos``; the count fits in the file."""
    number = source.u32(pos, what)
    count = source.u64(pos + 4, what)
    if number >= len(ValueType):
        says = f"{what} is an array of type {number}, and GGUF has types 0 to 12 only"
        raise source.refuse(Cause.MALFORMED, says, offset=pos)
    type_ = ValueType(number)
    source.claim(pos + 12, count, LEAST[type_], f"elements of {what}", at=pos + 4)
    return type_, count


def span(
    source: Source,
    type_: ValueType,
    count: int,
    pos: int,
    what: str,
    *,
    marks: array[int] | None = None,
    depth: int = 1,
) -> int:
    """Return where ``count`` elements that start at ``pos`` end; the end is within the file.

    ``marks`` takes the place of every ``STRIDE``-th element if elements differ in size.
    """
    if type_ in SIZES:
        return pos + count * SIZES[type_]  # array_head saw to it that they fit
    if type_ is ValueType.ARRAY and depth >= DEPTH:
        says = f"arrays lie in arrays more than {DEPTH} deep in {what}"
        raise source.refuse(Cause.MALFORMED, says, offset=pos)
    for left in range(count, 0, -STRIDE):
        if marks is not None:
            marks.append(pos)
        number = min(left, STRIDE)
        if type_ is ValueType.STRING:
            pos = _strings(source, number, pos, what)
        else:
            for _ in repeat(None, number):
                inner, length = array_head(source, pos, what)
                pos = span(source, inner, length, pos + 12, what, depth=depth + 1)
    return pos


def _strings(source: Source, count: int, pos: int, what: str) -> int:
    """Step over strings: the loop that decides how fast a header is read.

    Lengths are unsigned and Python's integers do not wrap, so ``pos`` only grows, and unpack_from
    refuses a place past the end: the one comparison that is left is the last.
    """
    start = pos
    length_at, buffer = source.u64s.unpack_from, source.buffer
    try:
        for _ in repeat(None, count):
            pos += length_at(buffer, pos)[0] + 8
    except (struct.error, OverflowError):
        pos = source.size + 1
    if pos > source.size:
        _blame(source, count, start, what)
    return pos


def _blame(source: Source, count: int, pos: int, what: str) -> Never:
    """Find the string that leaves the file, slowly, and say so."""
    for _ in range(count):
        pos = source.string(pos, f"a string of {what}")[1]
    raise source.cut(pos, 1, what)  # only if the file changed meanwhile
