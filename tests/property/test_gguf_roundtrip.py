"""Whatever two writers write, we read as gguf.GGUFReader does."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import gguf
import gguf_bytes as g
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mtpdoctor.gguf import Array, Header, Value, ValueType, read
from mtpdoctor.gguf.types import GGML_TYPES

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=20)
RANGES = {g.U8: (0, 8), g.I8: (-1, 7), g.U16: (0, 16), g.I16: (-1, 15), g.U32: (0, 32)}
RANGES |= {g.I32: (-1, 31), g.U64: (0, 64), g.I64: (-1, 63)}
SCALARS: dict[int, st.SearchStrategy[Any]] = {
    type_: st.integers(-(1 << bits) if low else 0, (1 << bits) - 1)
    for type_, (low, bits) in RANGES.items()
}
SCALARS |= {
    g.F32: st.floats(width=32),
    g.F64: st.floats(),
    g.BOOL: st.booleans(),
    g.STR: TEXT,
}


@st.composite
def values(draw: st.DrawFn) -> tuple[int, Any]:
    type_ = draw(st.sampled_from(sorted(SCALARS)))
    if draw(st.booleans()):
        return type_, draw(SCALARS[type_])
    size = draw(st.sampled_from([1, 3, 600]))
    return g.ARR, (type_, draw(st.lists(SCALARS[type_], min_size=1, max_size=6)) * size)


@st.composite
def tensors(draw: st.DrawFn) -> tuple[tuple[int, ...], int, int]:
    """Shape, type and bytes of a tensor."""
    type_ = draw(st.sampled_from(sorted(k for k in GGML_TYPES if k not in {9, 42})))
    layout = GGML_TYPES[type_]
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    shape[0] *= layout.block
    return tuple(shape), type_, math.prod(shape) // layout.block * layout.nbytes


PAIRS = st.dictionaries(NAMES.filter(lambda k: k != "general.alignment"), values(), max_size=8)
TABLE = st.dictionaries(NAMES, tensors(), max_size=6)
HEADER_KEYS = {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count"}


def same(mine: Value, theirs: Any) -> bool:
    if isinstance(mine, Array):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    return mine == theirs or (mine != mine and theirs != theirs)  # noqa: PLR0124 - NaN


def compare(header: Header, path: Path) -> None:
    reader = gguf.GGUFReader(path)
    theirs = {k: f for k, f in reader.fields.items() if k not in HEADER_KEYS}

    assert list(header.metadata) == list(theirs)
    for key, field in theirs.items():
        mine = header.metadata[key]

        assert header.types[key] == int(field.types[0])
        assert not isinstance(mine, Array) or mine.type == int(field.types[-1])
        assert same(mine, field.contents()), key
    assert [
        (t.name, t.shape, t.type, t.offset, t.nbytes, t.elements) for t in header.tensors.values()
    ] == [
        (
            t.name,
            tuple(int(n) for n in t.shape),
            int(t.tensor_type),
            t.data_offset,
            int(t.n_bytes),
            t.n_elements,
        )
        for t in reader.tensors
    ]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(PAIRS, TABLE, st.sampled_from("<>"), st.sampled_from([2, 3]), st.sampled_from([8, 32, 64]))
def test_equal_to_ggufreader_on_what_our_writer_writes(
    pairs: dict[str, tuple[int, Any]],
    table: dict[str, tuple[tuple[int, ...], int, int]],
    mark: str,
    version: int,
    alignment: int,
) -> None:
    written: list[g.Pair] = [(key, type_, value) for key, (type_, value) in pairs.items()]
    written.append(("general.alignment", g.U32, alignment))
    entries: list[g.Entry] = [(name, *entry) for name, entry in table.items()]
    image = g.image(written, entries, mark=mark, version=version, alignment=alignment)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        path.write_bytes(image.raw)
        header = read(path)

        assert header.byte_order == ("little" if mark == "<" else "big")
        compare(header, path)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(PAIRS, st.dictionaries(NAMES, st.lists(st.integers(1, 4), min_size=1, max_size=4)))
def test_equal_to_ggufreader_on_what_ggufwriter_writes(
    pairs: dict[str, tuple[int, Any]], shapes: dict[str, list[int]]
) -> None:
    for endian in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.gguf"
            writer = gguf.GGUFWriter(path, "gemma4", endianess=endian)
            for key, (type_, value) in pairs.items():
                inner = gguf.GGUFValueType(value[0]) if type_ == g.ARR else None
                content = value[1] if type_ == g.ARR else value
                if key != "general.architecture" and content != "":  # "" is not written at all
                    writer.add_key_value(key, content, gguf.GGUFValueType(type_), inner)
            for name, shape in shapes.items():
                writer.add_tensor(name, np.zeros(shape, np.float32))
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            header = read(path)

            assert header.byte_order == endian.name.lower()
            compare(header, path)


@settings(max_examples=100, deadline=None)
@given(st.lists(SCALARS[g.STR], max_size=600), st.integers(-700, 700), st.integers(-700, 700))
def test_an_array_slices_as_a_tuple_does(words: list[str], start: int, stop: int) -> None:
    array = Header.of({"k": words}, types={"k": ValueType.STRING}).metadata["k"]
    assert isinstance(array, Array)

    for step in (1, 2, -1):
        assert array[start:stop:step] == tuple(words)[start:stop:step]
