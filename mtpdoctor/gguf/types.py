"""The two vocabularies of a GGUF file: types of metadata values and types of tensors."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class ValueType(IntEnum):
    """The type of a metadata value, by the number that stands in the file (``gguf.h``)."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12

    @property
    def short(self) -> str:
        """llama.cpp's own name, as its log prints it: ``u32``, ``str``, ``arr``."""
        return _SHORT[self]

    def __str__(self) -> str:
        return _SHORT[self]


_SHORT = {
    ValueType.UINT8: "u8",
    ValueType.INT8: "i8",
    ValueType.UINT16: "u16",
    ValueType.INT16: "i16",
    ValueType.UINT32: "u32",
    ValueType.INT32: "i32",
    ValueType.FLOAT32: "f32",
    ValueType.BOOL: "bool",
    ValueType.STRING: "str",
    ValueType.ARRAY: "arr",
    ValueType.UINT64: "u64",
    ValueType.INT64: "i64",
    ValueType.FLOAT64: "f64",
}

CODES = {
    ValueType.UINT8: "B",
    ValueType.INT8: "b",
    ValueType.UINT16: "H",
    ValueType.INT16: "h",
    ValueType.UINT32: "I",
    ValueType.INT32: "i",
    ValueType.FLOAT32: "f",
    ValueType.BOOL: "?",  # any byte but 0 is true, in llama.cpp too
    ValueType.UINT64: "Q",
    ValueType.INT64: "q",
    ValueType.FLOAT64: "d",
}
"""``struct`` codes of the types with a fixed size."""

SIZES = {type_: struct.calcsize("<" + code) for type_, code in CODES.items()}
"""Bytes of one value of each type with a fixed size."""

LEAST = {**SIZES, ValueType.STRING: 8, ValueType.ARRAY: 12}
"""The fewest bytes a value can take: a string has its length, an array its type and count."""


class Layout(NamedTuple):
    """How ggml stores a type: rows are cut into blocks of ``block`` elements, ``nbytes`` each."""

    name: str
    block: int
    nbytes: int


# A copy, since gguf.constants imports numpy, which costs more than reading a whole header.
# Ids 4, 5, 31-33 and 36-38 were types once; ggml refuses them today.
GGML_TYPES = {
    0: Layout("F32", 1, 4),
    1: Layout("F16", 1, 2),
    2: Layout("Q4_0", 32, 18),
    3: Layout("Q4_1", 32, 20),
    6: Layout("Q5_0", 32, 22),
    7: Layout("Q5_1", 32, 24),
    8: Layout("Q8_0", 32, 34),
    9: Layout("Q8_1", 32, 36),
    10: Layout("Q2_K", 256, 84),
    11: Layout("Q3_K", 256, 110),
    12: Layout("Q4_K", 256, 144),
    13: Layout("Q5_K", 256, 176),
    14: Layout("Q6_K", 256, 210),
    15: Layout("Q8_K", 256, 292),
    16: Layout("IQ2_XXS", 256, 66),
    17: Layout("IQ2_XS", 256, 74),
    18: Layout("IQ3_XXS", 256, 98),
    19: Layout("IQ1_S", 256, 50),
    20: Layout("IQ4_NL", 32, 18),
    21: Layout("IQ3_S", 256, 110),
    22: Layout("IQ2_S", 256, 82),
    23: Layout("IQ4_XS", 256, 136),
    24: Layout("I8", 1, 1),
    25: Layout("I16", 1, 2),
    26: Layout("I32", 1, 4),
    27: Layout("I64", 1, 8),
    28: Layout("F64", 1, 8),
    29: Layout("IQ1_M", 256, 56),
    30: Layout("BF16", 1, 2),
    34: Layout("TQ1_0", 256, 54),
    35: Layout("TQ2_0", 256, 66),
    39: Layout("MXFP4", 32, 17),
    40: Layout("NVFP4", 64, 36),
    41: Layout("Q1_0", 128, 18),
    42: Layout("Q2_0", 64, 18),
}
"""ggml's tensor types by the id in the file (``ggml.h``, ``ggml_type``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One entry of a file's tensor table; the data itself is never read."""

    name: str
    shape: tuple[int, ...]
    """Elements per dimension in ggml's order: ``ne[0]``, the row length, first; up to 4."""
    type: int = 0
    """ggml's type id; may be one that this version does not know."""
    offset: int = 0
    """Where the data starts, in bytes from the start of the file it is in."""
    part: int = 0
    """Which file of a split model holds it: an index into ``Header.parts``."""

    @property
    def type_name(self) -> str:
        """The name in ggml, such as ``Q4_0``, or ``unknown type 99``."""
        layout = GGML_TYPES.get(self.type)
        return layout.name if layout else f"unknown type {self.type}"

    @property
    def elements(self) -> int:
        """The product of the shape; 1 for a scalar without dimensions."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int | None:
        """The size of the data without padding; None where the type is unknown."""
        layout = GGML_TYPES.get(self.type)
        return self.elements // layout.block * layout.nbytes if layout else None
