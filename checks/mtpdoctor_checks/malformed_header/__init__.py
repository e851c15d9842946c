"""Whether the headers hold what llama.cpp reads, in the types that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Fix,
    Model,
    NotApplicable,
    Target,
    Unknown,
    check,
    known,
)
from mtpdoctor.gguf import Array, Header, ValueType
from mtpdoctor_checks.attention import PATTERN
from mtpdoctor_checks.pair import ASSISTANT, UNREADABLE, integer, name, replacement, shown, stated

_U32, _F32 = ValueType.UINT32, ValueType.FLOAT32

_TYPES = {
    "context_length": _U32,
    "embedding_length": _U32,
    "embedding_length_out": _U32,
    "block_count": _U32,
    "feed_forward_length": _U32,
    "nextn_predict_layers": _U32,
    "attention.head_count": _U32,
    "attention.head_count_kv": _U32,
    "attention.key_length": _U32,
    "attention.value_length": _U32,
    "attention.key_length_swa": _U32,
    "attention.value_length_swa": _U32,
    "attention.sliding_window": _U32,
    "attention.shared_kv_layers": _U32,
    "attention.layer_norm_rms_epsilon": _F32,
    "rope.freq_base": _F32,
    "rope.freq_base_swa": _F32,
    "rope.dimension_count": _U32,
    "rope.dimension_count_swa": _U32,
}
"""The type that llama.cpp insists on for a single value."""

_OF_TARGET = {"embedding_length_per_layer_input": _U32}
"""Keys that llama.cpp reads of a target alone, and needs."""

_PER_LAYER = frozenset(
    {"feed_forward_length", "attention.head_count", "attention.head_count_kv", PATTERN}
)
"""Keys that may be arrays instead, with one value for each layer."""

_ELEMENTS = frozenset({_U32, ValueType.INT32, ValueType.BOOL})
"""Types of the elements of such an array."""

_NEEDED = (
    "context_length",
    "embedding_length",
    "block_count",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.key_length_swa",
    "attention.value_length_swa",
    "attention.layer_norm_rms_epsilon",
    "rope.dimension_count_swa",
)
"""Keys without which a Gemma 4 of either kind is refused, or the server aborts."""


@check(
    "malformed-header",
    "a header lacks a key that llama.cpp reads, or has it in another type",
    after=[*UNREADABLE, "roles-swapped", "no-mtp-head"],
)
def malformed_header(target: Target | None, drafter: Drafter | None) -> Iterator[Finding]:
    models = [model for model in (target, drafter) if model is not None and _is_gemma4(model)]
    if not models:
        raise NotApplicable("neither file is a Gemma 4")
    for model in models:
        header = known(model.header)
        fixes = replacement(model, target)
        yield from _missing(model, header, fixes)
        yield from _types(model, header, fixes)
        yield from _arrays(model, header, fixes)
        if header.arch == ASSISTANT:
            yield from _blocks(model, header, fixes)


def _is_gemma4(model: Model) -> bool:
    return isinstance(model.header, Unknown) or model.header.arch in {"gemma4", ASSISTANT}


def _missing(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    needed = _NEEDED if header.arch == ASSISTANT else (*_NEEDED, *_OF_TARGET)
    missing = [key for key in needed if header.get(key) is None]
    if missing:
        yield Finding(
            says=f"{name(model)} does not state {', '.join(missing)}\nllama-server cannot load it.",
            about=missing[0],
            evidence=tuple(stated(model, key) for key in missing),
            fixes=fixes,
        )


def _types(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    for key, wanted in (_TYPES if header.arch == ASSISTANT else _TYPES | _OF_TARGET).items():
        value = header.get(key)
        found = header.types.get(f"{header.arch}.{key}")
        if value is None or found is None or found is wanted:
            continue
        if isinstance(value, Array) and key in _PER_LAYER:
            continue
        yield Finding(
            says=(
                f"{name(model)} has {key} as {found}, and llama.cpp reads it as {wanted} alone\n"
                "llama-server refuses to load it."
            ),
            about=key,
            evidence=(Evidence(f"{name(model)}: {key} {found} = {shown(value)}"),),
            fixes=fixes,
        )


def _arrays(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    layers = integer(header, "block_count")
    for key in sorted(_PER_LAYER):
        value = header.get(key)
        if not isinstance(value, Array):
            continue
        if value.type not in _ELEMENTS:
            wrong = f"in numbers of type {value.type}, which llama.cpp does not read there"
        elif key != PATTERN and layers is not None and len(value) != layers:
            wrong = f"for {len(value)} layers, and has {layers}"
        else:
            continue
        yield Finding(
            says=f"{name(model)} states {key} {wrong}\nllama-server refuses to load it.",
            about=key,
            evidence=(Evidence(f"{name(model)}: {key} = {shown(value)}"),),
            fixes=fixes,
        )


def _blocks(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    blocks, heads = integer(header, "block_count"), integer(header, "nextn_predict_layers")
    if blocks is not None and blocks != heads:
        yield Finding(
            says=(
                f"{name(model)} says that {heads or 0} of its {blocks} layers are MTP layers; "
                "all have to be\nllama-server aborts when it loads the file."
            ),
            about="nextn_predict_layers",
            evidence=(
                stated(model, "nextn_predict_layers", heads),
                stated(model, "block_count", blocks),
            ),
            fixes=fixes,
        )
