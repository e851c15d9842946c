"""Small pairs for tests: a sound one of acceptance 1.0, and every way to spoil it.

``write(folder)`` writes the sound pair in milliseconds, ``write(folder, name)`` one of the variants
in ``BROKEN``, ``DAMAGED``, ``SOUND`` or ``QUANTIZED``. What a real server does with each stands in
``fixtures/server-behaviour/``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mtpdoctor.demo.blueprint import Blueprint, Kind, Scalar, save
from mtpdoctor.demo.walk import Shape, drafter, target

TARGET = Shape(
    words=100,
    embedding_length=64,
    feed_forward_length=64,
    head_count=4,
    head_count_kv=2,
    key_length=64,
    key_length_swa=32,
    sliding_window_pattern=(True, False, True, False),
)
DRAFTER = replace(
    TARGET,
    embedding_length=32,
    feed_forward_length=32,
    sliding_window_pattern=(True, True, True, False),
)
DRAFT_FLAGS = ("--spec-type", "draft-mtp", "--spec-draft-n-max", "4")


@dataclass(slots=True)
class Sketch:
    """A pair before it is written, to be changed in place."""

    target: Blueprint
    drafter: Blueprint


@dataclass(frozen=True, slots=True)
class Written:
    """A pair on disk, as a user would name it; the drafter may be none or no file."""

    target: Path
    drafter: Path | None

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after ``llama-server`` that draft with this pair."""
        drafter = ("--model-draft", str(self.drafter)) if self.drafter else ()
        return ("-m", str(self.target), *drafter, *DRAFT_FLAGS)


Change = Callable[[Sketch], None]
Damage = Callable[[Path, Path], Written]


def sound() -> Sketch:
    return Sketch(target(TARGET), drafter(DRAFTER, TARGET))


def write(folder: Path, variant: str = "sound") -> Written:
    """Write ``variant`` as ``target.gguf`` and ``drafter.gguf`` into ``folder``."""
    sketch = sound()
    if change := (BROKEN | SOUND | QUANTIZED).get(variant):
        change(sketch)
    folder.mkdir(parents=True, exist_ok=True)
    main, head = folder / "target.gguf", folder / "drafter.gguf"
    save(sketch.target, main)
    save(sketch.drafter, head)
    if damage := DAMAGED.get(variant):
        return damage(main, head)
    if change is None and variant != "sound":
        raise KeyError(variant)
    return Written(main, head)


def _put(key: str, value: Scalar | list[Scalar], kind: Kind) -> Change:
    return lambda pair: pair.drafter.put(key, value, kind)


def _put_target(key: str, value: Scalar | list[Scalar], kind: Kind) -> Change:
    return lambda pair: pair.target.put(key, value, kind)


def _drop(key: str) -> Change:
    def change(pair: Sketch) -> None:
        del pair.drafter.metadata[f"gemma4-assistant.{key}"]

    return change


def _drafter(shape: Shape, of: Shape = TARGET) -> Change:
    def change(pair: Sketch) -> None:
        pair.drafter = drafter(shape, of)

    return change


def _shape_of_target(shape: Shape) -> Change:
    def change(pair: Sketch) -> None:
        pair.target = target(shape)

    return change


def _both(shape: Shape, head: Shape) -> Change:
    def change(pair: Sketch) -> None:
        pair.target, pair.drafter = target(shape), drafter(head, shape)

    return change


def _everywhere(key: str, value: Scalar | list[Scalar], kind: Kind) -> Change:
    """Set a key without an architecture in both files."""

    def change(pair: Sketch) -> None:
        for blueprint in (pair.target, pair.drafter):
            blueprint.metadata[key] = (value, kind)

    return change


def _drafter_key(key: str, value: Scalar | None, kind: Kind = "u32") -> Change:
    """Set a key without an architecture in the drafter, or remove it."""

    def change(pair: Sketch) -> None:
        pair.drafter.metadata.pop(key, None)
        if value is not None:
            pair.drafter.metadata[key] = (value, kind)

    return change


def _underscore(pair: Sketch) -> None:
    old, new = "gemma4-assistant", "gemma4_assistant"
    pair.drafter.metadata = {
        key.replace(old, new): field for key, field in pair.drafter.metadata.items()
    }
    pair.drafter.metadata["general.architecture"] = (new, "str")


def _ordered_embeddings(pair: Sketch) -> None:
    width, tokens = pair.drafter.tensors["token_embd.weight"].shape[::-1]
    pair.drafter.tensors |= {
        "masked_embd_centroids.weight": np.zeros((64, width), np.float32),
        "masked_embd_ordering": np.arange(tokens, dtype=np.int32),
    }
    pair.drafter.put("n_centroids", 64, "u32")
    pair.drafter.put("use_ordered_embeddings", True, "bool")


def _rope_scaling(pair: Sketch) -> None:
    pair.drafter.put("rope.scaling.type", "linear", "str")
    pair.drafter.put("rope.scaling.factor", 4.0, "f32")


def _quantized_target(pair: Sketch) -> None:
    pair.target.quantize("Q8_0")


def _quantized_drafter(pair: Sketch) -> None:
    pair.drafter.quantize("Q8_0")


def _half(pair: Sketch) -> None:
    pair.target.quantize("F16", columns=1)
    pair.target.metadata["general.file_type"] = (1, "u32")


BROKEN: dict[str, Change] = {
    # the width between the two
    "width-wrong": _drafter(DRAFTER, replace(TARGET, embedding_length=96)),
    "width-own": _put("embedding_length_out", DRAFTER.embedding_length, "u32"),
    "width-key-only": _put("embedding_length_out", 96, "u32"),
    # heads
    "heads-larger": _drafter(replace(DRAFTER, key_length=128, key_length_swa=64)),
    "heads-larger-swa": _drafter(replace(DRAFTER, key_length_swa=64)),
    "heads-larger-full": _drafter(replace(DRAFTER, key_length=128)),
    "heads-smaller": _drafter(replace(DRAFTER, key_length=32, key_length_swa=16)),
    "heads-smaller-swa": _drafter(replace(DRAFTER, key_length_swa=16)),
    "heads-smaller-full": _drafter(replace(DRAFTER, key_length=32)),
    "kv-heads-fewer": _put("attention.head_count_kv", 1, "u32"),
    "kv-heads-more": _put("attention.head_count_kv", 4, "u32"),
    # the architecture
    "arch-underscore": _underscore,
    # vocabulary
    "vocab-larger": _drafter(replace(DRAFTER, words=164)),
    "vocab-smaller": _drafter(replace(DRAFTER, words=68)),
    # sliding-window layers
    "target-without-swa": _shape_of_target(replace(TARGET, sliding_window_pattern=(False,) * 4)),
    "drafter-without-swa": _drafter(replace(DRAFTER, sliding_window_pattern=(False,) * 4)),
    "pattern-contradicts": _put("attention.sliding_window_pattern", [True] * 4, "bool"),
    "pattern-contradicts-full": _put(
        "attention.sliding_window_pattern", [True, True, False, False], "bool"
    ),
    "pattern-too-short": _put("attention.sliding_window_pattern", [True, True, False], "bool"),
    "window-missing": _drop("attention.sliding_window"),
    # value types
    "window-u64": _put("attention.sliding_window", 512, "u64"),
    "window-i32": _put("attention.sliding_window", 512, "i32"),
    "width-u64": _put("embedding_length_out", TARGET.embedding_length, "u64"),
    "blocks-i32": _put("block_count", 4, "i32"),
    # tensors that llama.cpp cannot read
    "ordered-embeddings": _ordered_embeddings,
    # RoPE unlike the target's
    "rope-base": _put("rope.freq_base", 10_000.0, "f32"),
    "rope-base-swa": _put("rope.freq_base_swa", 1_000_000.0, "f32"),
    "rope-dimensions": _put("rope.dimension_count", 32, "u32"),
    "rope-dimensions-swa": _put("rope.dimension_count_swa", 16, "u32"),
    "rope-scaling": _rope_scaling,
}
"""Name to what spoils the pair; a server refuses it, dies of it, or serves it and drafts badly."""

QUANTIZED: dict[str, Change] = {
    "quantized-target": _quantized_target,
    "quantized-drafter": _quantized_drafter,
}
"""Sound, yet a server dies of SIGILL where the processor lacks what its kernels were built for."""

SOUND: dict[str, Change] = {
    "eos-differs": _drafter_key("tokenizer.ggml.eos_token_id", 1),
    "eot-set": _drafter_key("tokenizer.ggml.eot_token_id", 6),
    "bos-differs": _drafter_key("tokenizer.ggml.bos_token_id", 1),
    "scores-absent": _drafter_key("tokenizer.ggml.scores", None),
    "template-absent": _drafter_key("tokenizer.chat_template", None),
    "template-differs": _drafter_key("tokenizer.chat_template", "{{ messages }}", "str"),
    "file-type-differs": _drafter_key("general.file_type", 32),
    "context-differs": _put("context_length", 4096, "u32"),
    "window-differs": _put("attention.sliding_window", 8, "u32"),
    "shared-kv-differs": _put("attention.shared_kv_layers", 0, "u32"),
    "kv-heads-array": _put("attention.head_count_kv", [2, 2, 2, 2], "i32"),
    "kv-heads-array-target": _put_target("attention.head_count_kv", [2, 2, 2, 2], "i32"),
    "half-precision": _half,
    "last-layer-swa": _both(
        replace(TARGET, sliding_window_pattern=(True, False) * 2 + (True,)), DRAFTER
    ),
    "add-bos-false": _everywhere("tokenizer.ggml.add_bos_token", False, "bool"),
}
"""Name to a difference that means nothing: acceptance stays 1.0."""


def _swapped(main: Path, head: Path) -> Written:
    return Written(head, main)


def _no_drafter(main: Path, head: Path) -> Written:
    head.unlink()
    return Written(main, None)


def _own_drafter(main: Path, head: Path) -> Written:
    head.unlink()
    return Written(main, main)


def _missing(main: Path, head: Path) -> Written:
    head.unlink()
    return Written(main, head)


def _html(main: Path, head: Path) -> Written:
    head.write_text("<!doctype html><html><title>404</title></html>\n")
    return Written(main, head)


def _byte_short(main: Path, head: Path) -> Written:
    with head.open("rb+") as file:
        file.truncate(head.stat().st_size - 1)
    return Written(main, head)


DAMAGED: dict[str, Damage] = {
    "swapped": _swapped,
    "no-drafter": _no_drafter,
    "own-drafter": _own_drafter,
    "drafter-missing": _missing,
    "drafter-html": _html,
    "drafter-byte-short": _byte_short,
}
"""Name to what happens to two good files."""
