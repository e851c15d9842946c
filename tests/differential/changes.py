"""Single changes to the files of a pair, generated from tables; nobody says how they end."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pairs
from pairs import Sketch

from mtpdoctor.demo.blueprint import Blueprint, Kind, Scalar, Tensor

Side = Literal["target", "drafter"]
SIDES: tuple[Side, ...] = ("target", "drafter")
Edit = Callable[[Blueprint], None]


@dataclass(frozen=True, kw_only=True)
class Atom:
    """One change."""

    name: str
    place: str
    """What it touches; two changes of one place do not go together."""
    side: Side
    edit: Edit

    def __call__(self, pair: Sketch) -> None:
        self.edit(pair.target if self.side == "target" else pair.drafter)


def sound(side: Side) -> Blueprint:
    return pairs.sound().target if side == "target" else pairs.sound().drafter


def keys(side: Side, blueprint: Blueprint) -> Iterator[Atom]:
    """Yield each number of the architecture missing, in other types, with other values."""
    prefix = f"{blueprint.architecture}."
    for full, (value, kind) in blueprint.metadata.items():
        key = full.removeprefix(prefix)
        if key == full:
            continue
        yield _atom(side, key, "missing", _drop(full))
        if isinstance(value, int) and kind == "u32":
            yield from _some(3, _numbers(side, key, value))
        elif isinstance(value, float):
            yield from _some(3, _reals(side, key, value, kind))


def _some(count: int, atoms: Iterator[Atom]) -> list[Atom]:
    """Draw *count* of them, the same each time; over all keys every kind of change comes up."""
    listed = list(atoms)
    drawn = random.Random(listed[0].place).sample(range(len(listed)), min(count, len(listed)))
    return [listed[at] for at in sorted(drawn)]


def _reals(side: Side, key: str, value: float, kind: Kind) -> Iterator[Atom]:
    yield _put(side, key, "f64", value, "f64")
    yield _put(side, key, "u32", int(value), "u32")
    yield _put(side, key, "str", str(value), "str")
    for factor in (2.0, 0.5):
        yield _put(side, key, f"times-{factor:g}", value * factor, kind)


def _numbers(side: Side, key: str, value: int) -> Iterator[Atom]:
    yield _put(side, key, "u64", value, "u64")
    yield _put(side, key, "i32", value, "i32")
    yield _put(side, key, "u16", value, "u16")
    yield _put(side, key, "f32", float(value), "f32")
    yield _put(side, key, "str", str(value), "str")
    for word, number in {
        "zero": 0,
        "half": value // 2,
        "plus-1": value + 1,
        "twice": 2 * value,
    }.items():
        if number != value:
            yield _put(side, key, word, number, "u32")
    for kind in ("u32", "i32"):
        yield _put(side, key, f"array-{kind}", [value] * 4, kind)
    yield _put(side, key, "array-short", [value] * 3, "u32")


def _put(side: Side, key: str, word: str, value: Scalar | list[Any], kind: Kind) -> Atom:
    return _atom(side, key, word, lambda blueprint: blueprint.put(key, value, kind))


def _atom(side: Side, place: str, word: str, edit: Edit) -> Atom:
    return Atom(name=f"{side}.{place}-{word}", place=f"{side}.{place}", side=side, edit=edit)


def _drop(key: str) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        blueprint.metadata.pop(key, None)

    return edit


PATTERNS: dict[str, list[bool]] = {
    "inverse": [False, True, False, True],
    "all-full": [False] * 4,
    "all-sliding": [True] * 4,
    "one-sliding": [True, False, False, False],
    "long": [True, False, True, False, True],
    "short": [True, False, True],
    "sound-of-target": [True, False, True, False],
    "sound-of-drafter": [True, True, True, False],
}


def patterns(side: Side, _: Blueprint) -> Iterator[Atom]:
    key = "attention.sliding_window_pattern"
    for word, pattern in PATTERNS.items():
        yield _put(side, key, word, pattern, "bool")
    for kind in ("u32", "i32", "u8"):
        sound = PATTERNS[f"sound-of-{side}"]
        yield _put(side, key, f"sound-{kind}", [int(each) for each in sound], kind)
    yield _put(side, key, "scalar-bool", True, "bool")
    yield _put(side, key, "scalar-u32", 2, "u32")
    yield _put(side, key, "scalar-u32-1", 1, "u32")


def tensors(side: Side, blueprint: Blueprint) -> Iterator[Atom]:
    """Yield each kind of tensor missing, cut, turned, of another type, and one too many."""
    seen = set[str]()
    for name, tensor in blueprint.tensors.items():
        kind = name.split(".", 2)[-1] if name.startswith("blk.") else name
        if kind in seen:
            continue
        seen.add(kind)
        if name == "output.weight":
            continue  # tied embeddings load as well, and say something else
        yield missing(side, name)
        yield from _some(1, _spoilt(side, name, tensor))
    for extra in ("blk.0.attn_extra.weight", "blk.4.attn_norm.weight", "lost.weight"):
        yield _atom(side, extra, "extra", _extra(extra))


def _spoilt(side: Side, name: str, tensor: Tensor) -> Iterator[Atom]:
    if tensor.shape[0] > 1:
        yield _atom(side, name, "cut", _shaped(name, "cut"))
    if tensor.ndim > 1 and tensor.shape[0] != tensor.shape[1]:
        yield _atom(side, name, "turned", _shaped(name, "turned"))
    yield _atom(side, name, "f16", _typed(name, "F16"))


def missing(side: Side, name: str) -> Atom:
    return _atom(side, name, "missing", _without(name))


def _without(name: str) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        blueprint.tensors.pop(name, None)

    return edit


def _shaped(name: str, how: str) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        tensor = blueprint.tensors[name]
        spoilt = tensor[: len(tensor) // 2] if how == "cut" else tensor.T
        blueprint.tensors[name] = np.array(spoilt, np.float32)

    return edit


def _typed(name: str, kind: str) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        blueprint.types[name] = kind

    return edit


def _extra(name: str) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        blueprint.tensors[name] = np.ones(64, np.float32)

    return edit


_IDS = (
    "bos_token_id",
    "eos_token_id",
    "eot_token_id",
    "unknown_token_id",
    "padding_token_id",
    "mask_token_id",
)
_ID_VALUES: tuple[tuple[str, int, Kind], ...] = (
    ("1", 1, "u32"),
    ("i32", 1, "i32"),
    ("huge", 99_999, "u32"),
)
_GENERAL: tuple[tuple[str, Scalar, Kind], ...] = (
    ("general.name", "Other", "str"),
    ("general.size_label", "7.5B", "str"),
    ("general.basename", "gemma-4-E4B-it", "str"),
    ("general.quantization_version", 2, "u32"),
    ("general.file_type", 7, "u32"),
    ("general.file_type", 9999, "u32"),
    ("general.type", "adapter", "str"),
    ("general.license", "mit", "str"),
    ("general.alignment", 32, "u32"),
    ("someone.else", 1.5, "f64"),
)


def tokenizers(side: Side, blueprint: Blueprint) -> Iterator[Atom]:
    """Yield the tokenizer's keys missing, of other types, with other values."""
    for full in [key for key in blueprint.metadata if key.startswith("tokenizer.")]:
        yield _atom(side, _short(full), "missing", _drop(full))
    for key in _IDS:
        values = (
            _any(side, f"tokenizer.ggml.{key}", word, value, kind)
            for word, value, kind in _ID_VALUES
        )
        yield from _some(2, values)
    for model in ("llama", "gpt2", "bert", "no-such"):
        yield _any(side, "tokenizer.ggml.model", model, model, "str")
    for pre in ("default", "no-such"):
        yield _any(side, "tokenizer.ggml.pre", pre, pre, "str")
    for key in ("add_bos_token", "add_eos_token", "add_space_prefix"):
        for flag in (True, False):
            yield _any(side, f"tokenizer.ggml.{key}", str(flag).lower(), flag, "bool")
    yield _any(side, "tokenizer.ggml.add_bos_token", "u32", 1, "u32")
    yield _atom(side, "tokens", "renamed-one", _renamed(1))
    yield _atom(side, "tokens", "renamed-all", _renamed(10_000))
    yield _atom(side, "tokens", "one-less", _token_count(-1))
    yield _atom(side, "tokens", "one-more", _token_count(1))


def _short(key: str) -> str:
    return key.removeprefix("tokenizer.").removeprefix("ggml.")


def _any(side: Side, key: str, word: str, value: Scalar, kind: Kind) -> Atom:
    def edit(blueprint: Blueprint) -> None:
        blueprint.metadata[key] = (value, kind)

    return _atom(side, _short(key), word, edit)


def _renamed(count: int) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        tokens, kind = blueprint.metadata["tokenizer.ggml.tokens"]
        assert isinstance(tokens, list)
        named = [f"odd{n}" if 10 <= n < 10 + count else t for n, t in enumerate(tokens)]
        blueprint.metadata["tokenizer.ggml.tokens"] = (named, kind)

    return edit


def _token_count(more: int) -> Edit:
    """Change the list alone, not the embeddings."""

    def edit(blueprint: Blueprint) -> None:
        for key in ("tokens", "scores", "token_type"):
            values, kind = blueprint.metadata[f"tokenizer.ggml.{key}"]
            assert isinstance(values, list)
            changed = values[:more] if more < 0 else [*values, *values[-more:]]
            if key == "tokens" and more > 0:
                changed[-1] = "surplus"
            blueprint.metadata[f"tokenizer.ggml.{key}"] = (changed, kind)

    return edit


def general(side: Side, _: Blueprint) -> Iterator[Atom]:
    """Yield what stands under ``general.``, which llama.cpp mostly does not read."""
    for key, value, kind in _GENERAL:
        yield _any(side, key, str(value), value, kind)
    for key in ("general.name", "general.type", "general.file_type"):
        yield _atom(side, key, "missing", _drop(key))
    for arch in ("gemma3", "llama", "gemma4_assistant", "gemma4_mtp", "no-such"):
        yield _atom(side, "architecture", arch, _architecture(arch))


def _architecture(arch: str) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        old = f"{blueprint.architecture}."
        blueprint.metadata = {
            f"{arch}.{key.removeprefix(old)}" if key.startswith(old) else key: field
            for key, field in blueprint.metadata.items()
        }
        blueprint.metadata["general.architecture"] = (arch, "str")

    return edit


def weights(side: Side, _: Blueprint) -> Iterator[Atom]:
    """Yield other precisions of all matrices, and another order of the tensors."""
    for kind in ("F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        yield _atom(side, "weights", kind, _quantized(kind))
    yield _atom(side, "order", "reversed", _reverse)


def _quantized(kind: str) -> Edit:
    return lambda blueprint: blueprint.quantize(kind)


def _reverse(blueprint: Blueprint) -> None:
    blueprint.tensors = dict(reversed(blueprint.tensors.items()))


def every() -> tuple[Atom, ...]:
    """Return all of them for the Gemma 4 pair, in a fixed order."""
    kinds = (keys, patterns, tensors, tokenizers, general, weights)
    return tuple(atom for kind in kinds for side in SIDES for atom in kind(side, sound(side)))
