"""The header of a model: what a GGUF file says about itself, without the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from mtpdoctor.gguf.array import Value
from mtpdoctor.gguf.handmade import WHERE, value_of
from mtpdoctor.gguf.source import ByteOrder
from mtpdoctor.gguf.types import Tensor, ValueType

ALIGNMENT = 32
"""Bytes to which tensor data is aligned where ``general.alignment`` does not say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """One model's metadata and tensor table; the parts of a split model are joined.

    Arrays lie in the file, which stays mapped while the Header or one of its Arrays lives; there
    is nothing to close.
    """

    path: str
    """The file as it was given."""
    parts: tuple[str, ...]
    """Every file of the model in order; one for a model that is not split."""
    version: int
    """The version of the GGUF format, 2 or 3."""
    byte_order: ByteOrder
    """llama.cpp loads only files in the machine's own order."""
    alignment: int
    """Bytes to which the tensor data is aligned, a power of two."""
    metadata: Mapping[str, Value]
    """Values by key in the file's order; those of the first part for a split model."""
    types: Mapping[str, ValueType]
    """The type of each value as the file has it; ``Array.type`` is that of the elements."""
    tensors: Mapping[str, Tensor]
    """Tensors by name in the file's order, over all parts."""

    @property
    def arch(self) -> str | None:
        """``general.architecture``, such as ``gemma4``; None if absent or no string."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else None

    def get(self, suffix: str) -> Value | None:
        """Return the architecture's own value: ``get("block_count")`` is ``gemma4.block_count``."""
        return self.metadata.get(f"{self.arch}.{suffix}")

    @classmethod
    def of(
        cls,
        metadata: Mapping[str, object] | None = None,
        tensors: Mapping[str, Tensor | Sequence[int]] | None = None,
        *,
        types: Mapping[str, ValueType] | None = None,
        path: str = WHERE,
    ) -> Self:
        """Make a header without a file, as reading one with these contents would give it.

        Lists and tuples become Arrays. Types are inferred as a converter chooses them (bool, str,
        u32 or i32, f32; integers in arrays i32), or taken from ``types``: for an array, the type
        of its elements. A tensor given by its shape alone (``ne[0]`` first) is F32. Raises
        ValueError for a value that its type cannot hold.
        """
        chosen = types or {}
        if unknown := chosen.keys() - (metadata or {}).keys():
            raise ValueError(f"types for keys that are not there: {', '.join(sorted(unknown))}")
        made = {key: value_of(value, chosen.get(key)) for key, value in (metadata or {}).items()}
        table, offset = {}, 0
        for name, tensor in (tensors or {}).items():
            if not isinstance(tensor, Tensor):
                tensor = Tensor(name=name, shape=tuple(tensor), offset=offset)
            offset = pad(tensor.offset + (tensor.nbytes or 0), ALIGNMENT)
            table[name] = tensor
        return cls(
            path=path,
            parts=(path,),
            version=3,
            byte_order="little",
            alignment=ALIGNMENT,
            metadata=MappingProxyType({key: value for key, (value, _) in made.items()}),
            types=MappingProxyType({key: type_ for key, (_, type_) in made.items()}),
            tensors=MappingProxyType(table),
        )


def pad(number: int, alignment: int) -> int:
    """Round up to a multiple of ``alignment``, as ``GGML_PAD`` does."""
    return (number + alignment - 1) // alignment * alignment
