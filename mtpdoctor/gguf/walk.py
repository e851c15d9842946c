"""Reads one file's header front to back: counts, metadata, the tensor table.

The order of checks is llama.cpp's (``gguf_init_from_reader`` in ``ggml/src/gguf.cpp``), and what it
refuses is refused here, with three exceptions that are left to whoever reads the Header: the other
byte order, arrays in arrays, and tensor types that are unknown here and may be known to some build.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from mtpdoctor.gguf.array import Value, open_array
from mtpdoctor.gguf.header import ALIGNMENT, pad
from mtpdoctor.gguf.refusals import COMPLETE, CORRUPT, Cause, GGUFError, plural
from mtpdoctor.gguf.source import ByteOrder, Source
from mtpdoctor.gguf.types import CODES, GGML_TYPES, SIZES, Tensor, ValueType

VERSIONS = (2, 3)
ALIGNMENT_KEY = "general.alignment"
KEY_LEAST = 8 + 1 + 4 + 1  # length, a key of one byte, type, a value of one byte
TENSOR_LEAST = 8 + 4 + 4 + 8  # length of the name, number of dimensions, type, offset
NAME_LIMIT = 64  # GGML_MAX_NAME, with C's closing NUL
DIMENSIONS = 4  # GGML_MAX_DIMS


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """What one file holds; a split model has several."""

    source: Source
    version: int
    alignment: int
    metadata: dict[str, Value]
    types: dict[str, ValueType]
    tensors: dict[str, Tensor]


def walk(source: Source, version: int, part: int = 0) -> File:
    """Read everything behind magic and version; raise GGUFError where llama.cpp would refuse."""
    tensor_count = source.u64(8, "its counts")
    key_count = source.u64(16, "its counts")
    source.claim(24, tensor_count, TENSOR_LEAST, "tensors", at=8)
    source.claim(24, key_count, KEY_LEAST, "metadata keys", at=16)
    metadata, types, pos = _metadata(source, key_count)
    value = metadata.get(ALIGNMENT_KEY, ALIGNMENT)
    alignment = value if isinstance(value, int) else ALIGNMENT
    tensors, pos = _tensors(source, tensor_count, pos, part)
    if tensors:
        _place(source, tensors, pad(pos, alignment), alignment)
    return File(
        source=source,
        version=version,
        alignment=alignment,
        metadata=metadata,
        types=types,
        tensors=tensors,
    )


def version_of(path: str, head: bytes) -> tuple[int, ByteOrder]:
    """Return version and byte order from the first 8 bytes of a file, of which 4 are the magic."""
    if len(head) < 8:
        says = f"the file is cut short: {plural(len(head), 'byte')} are all there is of it"
        raise GGUFError(path, Cause.TRUNCATED, says, COMPLETE, offset=len(head))
    little = int.from_bytes(head[4:8], "little")
    # The format does not tell its byte order, but no version has its low half empty.
    order: ByteOrder = "big" if little & 0xFFFF == 0 and little else "little"
    version = int.from_bytes(head[4:8], order)
    if version in VERSIONS:
        return version, order
    if version == 1:
        says = "this is GGUF version 1 of August 2023, which llama.cpp no longer reads"
        hint = "download a newer conversion of the model, or convert the original again"
    elif version == 0 or version > 0xFF:
        says = f"where the GGUF version stands, there is {version:#x}"
        hint = CORRUPT
    else:
        says = f"this is GGUF version {version}, and only versions 2 and 3 are known"
        hint = "look for a newer mtpdoctor, and see which versions your llama.cpp reads"
    raise GGUFError(path, Cause.UNSUPPORTED_VERSION, f"{says} (at byte 4)", hint, offset=4)


def _metadata(source: Source, count: int) -> tuple[dict[str, Value], dict[str, ValueType], int]:
    metadata: dict[str, Value] = {}
    types: dict[str, ValueType] = {}
    pos = 24
    for number in range(count):
        what = f"metadata key {number:,}"
        start, end = source.string(pos, what)
        key = source.text(start, end)
        if not key:
            raise source.refuse(Cause.MALFORMED, f"{what} has an empty name", offset=pos)
        if key in metadata:
            raise source.refuse(
                Cause.DUPLICATE, f"metadata key {key[:80]!r} comes twice", offset=pos
            )
        what = f"metadata key {key[:80]!r}"
        type_number = source.u32(end, what)
        if type_number >= len(ValueType):
            says = f"{what} has type {type_number}, and GGUF has types 0 to 12 only"
            raise source.refuse(Cause.MALFORMED, says, offset=end)
        type_ = ValueType(type_number)
        metadata[key], pos = _value(source, type_, end + 4, what)
        types[key] = type_
        if key == ALIGNMENT_KEY:
            _check_alignment(source, metadata[key], type_, end + 4)
    return metadata, types, pos


def _value(source: Source, type_: ValueType, pos: int, what: str) -> tuple[Value, int]:
    if type_ is ValueType.ARRAY:
        array = open_array(source, pos, what)
        return array, array.end
    if type_ is ValueType.STRING:
        start, end = source.string(pos, what)
        return source.text(start, end), end
    size = SIZES[type_]
    if pos + size > source.size:
        raise source.cut(pos, size, what)
    value: Value = struct.unpack_from(source.mark + CODES[type_], source.buffer, pos)[0]
    return value, pos + size


def _check_alignment(source: Source, value: Value, type_: ValueType, at: int) -> None:
    if type_ is not ValueType.UINT32 or not isinstance(value, int):
        says = f"{ALIGNMENT_KEY} is of type {type_.short}, and must be u32"
        raise source.refuse(Cause.MALFORMED, says, offset=at)
    if value == 0 or value & (value - 1):
        says = f"{ALIGNMENT_KEY} is {value:,}, and must be a power of two"
        raise source.refuse(Cause.MALFORMED, says, offset=at)


def _tensors(source: Source, count: int, pos: int, part: int) -> tuple[dict[str, Tensor], int]:
    """Read the tensor table; offsets are still relative to the data."""
    tensors: dict[str, Tensor] = {}
    source.claim(pos, count, TENSOR_LEAST, "tensors", at=8)
    for number in range(count):
        what = f"tensor {number:,}"
        start, end = source.string(pos, f"the name of {what}")
        if end - start >= NAME_LIMIT:
            says = f"the name of {what} has {end - start:,} bytes, and ggml allows {NAME_LIMIT - 1}"
            raise source.refuse(Cause.MALFORMED, says, offset=pos)
        name = source.text(start, end).partition("\0")[0]  # ggml's names are C strings
        what = f"tensor {name!r}"
        if name in tensors:
            raise source.refuse(Cause.DUPLICATE, f"{what} comes twice", offset=pos)
        dimensions = source.u32(end, what)
        if dimensions > DIMENSIONS:
            says = f"{what} has {dimensions:,} dimensions, and ggml allows {DIMENSIONS}"
            raise source.refuse(Cause.MALFORMED, says, offset=end)
        rest = struct.Struct(f"{source.mark}{dimensions}QIQ")
        if end + 4 + rest.size > source.size:
            raise source.cut(end + 4, rest.size, what)
        *shape, type_, offset = rest.unpack_from(source.buffer, end + 4)
        tensor = Tensor(name=name, shape=tuple(shape), type=type_, offset=offset, part=part)
        _check_shape(source, tensor, end + 4)
        tensors[name] = tensor
        pos = end + 4 + rest.size
    return tensors, pos


def _check_shape(source: Source, tensor: Tensor, at: int) -> None:
    """Refuse what ggml cannot count in 64 bits, and rows that are no whole number of blocks."""
    shape = tensor.shape
    if max(shape, default=0) >= 1 << 63 or tensor.elements >= (1 << 63) - 1:
        says = f"tensor {tensor.name!r} claims the shape {list(shape)}"
        raise source.refuse(Cause.ABSURD, says, offset=at)
    layout = GGML_TYPES.get(tensor.type)
    row = shape[0] if shape else 1
    if layout and row % layout.block:
        says = (
            f"tensor {tensor.name!r} has rows of {plural(row, 'element')}, and {layout.name}"
            f" stores {layout.block} in a block"
        )
        raise source.refuse(Cause.MALFORMED, says, offset=at)


def _place(source: Source, tensors: dict[str, Tensor], data: int, alignment: int) -> None:
    """Check that the data lies in the file as llama.cpp wants it, and make offsets absolute.

    Each tensor starts where the one before it ends, rounded up to the alignment. The last one
    needs no padding behind it: the loader maps ``nbytes`` of it and no more.
    """
    expected: int | None = 0
    end, last = data, ""
    for name, tensor in tensors.items():
        start = data + tensor.offset
        if expected is None:  # the tensor before is of unknown size
            wrong = start < end or tensor.offset % alignment != 0
        else:
            wrong = tensor.offset != expected
        if wrong:
            raise _misplaced(source, tensor, start, end, last)
        nbytes = tensor.nbytes
        end, last = start + (nbytes or 0), name
        expected = None if nbytes is None else pad(tensor.offset + nbytes, alignment)
        tensors[name] = Tensor(
            name=name, shape=tensor.shape, type=tensor.type, offset=start, part=tensor.part
        )
    if end > source.total:
        raise _short(source, end, next(t for t in tensors.values() if _end(t) > source.total))


def _end(tensor: Tensor) -> int:
    return tensor.offset + (tensor.nbytes or 0)


def _short(source: Source, end: int, tensor: Tensor) -> GGUFError:
    missing = plural(end - source.total, "byte")
    says = (
        f"the file is cut short: it has {source.total:,} of {plural(end, 'byte')}, {missing}"
        f" {'is' if end - source.total == 1 else 'are'} missing, from tensor {tensor.name!r} on"
    )
    return GGUFError(source.path, Cause.TRUNCATED, says, COMPLETE, offset=source.total)


def _misplaced(source: Source, tensor: Tensor, start: int, end: int, before: str) -> GGUFError:
    what = f"tensor {tensor.name!r}"
    if start > source.total:
        says = f"{what} should start at byte {start:,}, and the file has {source.total:,} bytes"
        cause = Cause.OUT_OF_FILE
    elif start < end:
        says = f"{what} starts inside tensor {before!r}, which ends at byte {end:,} only"
        cause = Cause.OVERLAP
    else:
        after = f"tensor {before!r}, which ends at byte {end:,}" if before else "the header"
        says = f"{what} does not follow {after}: llama.cpp takes no gap and no other order"
        cause = Cause.MISPLACED
    return source.refuse(cause, says, offset=start)
