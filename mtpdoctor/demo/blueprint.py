"""A GGUF file as a value that can be copied, changed and written."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import gguf
import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal[
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "u64", "i64", "f64"
]
"""A GGUF value type, in the words of llama.cpp's log."""

Scalar: TypeAlias = int | float | bool | str
Field: TypeAlias = tuple[Scalar | Sequence[Scalar], Kind]
"""A value and its type; a list or tuple is an array of that type."""

Tensor: TypeAlias = NDArray[np.float32] | NDArray[np.int32]

_TYPES: dict[Kind, gguf.GGUFValueType] = {
    "u8": gguf.GGUFValueType.UINT8,
    "i8": gguf.GGUFValueType.INT8,
    "u16": gguf.GGUFValueType.UINT16,
    "i16": gguf.GGUFValueType.INT16,
    "u32": gguf.GGUFValueType.UINT32,
    "i32": gguf.GGUFValueType.INT32,
    "f32": gguf.GGUFValueType.FLOAT32,
    "bool": gguf.GGUFValueType.BOOL,
    "str": gguf.GGUFValueType.STRING,
    "u64": gguf.GGUFValueType.UINT64,
    "i64": gguf.GGUFValueType.INT64,
    "f64": gguf.GGUFValueType.FLOAT64,
}


@dataclass(slots=True)
class Blueprint:
    """What a GGUF file will hold; mutable, so that a copy can be spoilt on purpose."""

    metadata: dict[str, Field]
    """Key to value, in the order of the file; ``general.architecture`` is among them."""
    tensors: dict[str, Tensor]
    """Name to data, row-major: numpy shape ``(rows, columns)`` is ggml's ``[columns, rows]``."""
    types: dict[str, str] = field(default_factory=dict)
    """Name to ggml type (``Q8_0``, ``F16``) of the tensors that are not stored as they are."""

    @property
    def architecture(self) -> str:
        return str(self.metadata["general.architecture"][0])

    def copy(self) -> Blueprint:
        """Return a blueprint that shares nothing which assignment or deletion could change."""
        return Blueprint(dict(self.metadata), dict(self.tensors), dict(self.types))

    def put(self, key: str, value: Scalar | Sequence[Scalar], kind: Kind) -> None:
        """Set ``<architecture>.<key>``."""
        self.metadata[f"{self.architecture}.{key}"] = (value, kind)

    def quantize(self, kind: str, *, columns: int = 32) -> None:
        """Store every matrix as ggml type ``kind`` whose rows are a multiple of ``columns``."""
        for name, tensor in self.tensors.items():
            if tensor.ndim > 1 and tensor.shape[-1] % columns == 0:
                self.types[name] = kind


def save(blueprint: Blueprint, path: Path) -> None:
    """Write ``blueprint`` to ``path`` as GGUF v3, little-endian.

    The file appears under its name complete or not at all: it is written and synced under a name
    of this thread beside it, then moved. Raises ``OSError``.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    writer = gguf.GGUFWriter(None, blueprint.architecture)
    for key, (value, kind) in blueprint.metadata.items():
        if key != "general.architecture":  # the writer has put it first
            _add(writer, key, value, _TYPES[kind])
    for name, tensor in blueprint.tensors.items():
        if wanted := blueprint.types.get(name):
            stored = gguf.GGMLQuantizationType[wanted]
            writer.add_tensor(name, gguf.quants.quantize(tensor, stored), raw_dtype=stored)
        else:
            writer.add_tensor(name, tensor)
    try:
        writer.write_header_to_file(unfinished)
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.flush()
        with unfinished.open("rb") as written:
            os.fsync(written.fileno())
        unfinished.replace(path)
    finally:
        writer.close()
        unfinished.unlink(missing_ok=True)


def _add(writer: gguf.GGUFWriter, key: str, value: Any, kind: gguf.GGUFValueType) -> None:
    if isinstance(value, list | tuple):
        writer.add_key_value(key, value, gguf.GGUFValueType.ARRAY, sub_type=kind)
    else:
        writer.add_key_value(key, value, kind)
