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
    check,
    known,
)
from mtpdoctor.gguf import Array, Header, ValueType
from mtpdoctor_checks import qwen35
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

_RECURRENT = {
    "ssm.conv_kernel": _U32,
    "ssm.inner_size": _U32,
    "ssm.state_size": _U32,
    "ssm.time_step_rank": _U32,
    "ssm.group_count": _U32,
}
"""What a ``qwen35`` needs besides."""

_ANYWHERE = ("context_length", "embedding_length", "block_count")
"""What every architecture needs."""
_COMMON = (*_ANYWHERE, "feed_forward_length", "attention.head_count", "nextn_predict_layers")
"""What every architecture that has it reads in one type."""

_PER_LAYER = frozenset(
    {"feed_forward_length", "attention.head_count", "attention.head_count_kv", PATTERN}
)
"""Keys that may be arrays instead, with one value for each layer."""

_ELEMENTS = frozenset({_U32, ValueType.INT32, ValueType.BOOL})
"""Types of the elements of such an array."""

_OF_ASSISTANT = (
    *_ANYWHERE,
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

_NEEDED = {
    ASSISTANT: _OF_ASSISTANT,
    "gemma4": (*_OF_ASSISTANT, "embedding_length_per_layer_input"),
    qwen35.ARCH: (
        *_ANYWHERE,
        "feed_forward_length",
        "attention.head_count",
        "attention.layer_norm_rms_epsilon",
        "rope.dimension_sections",
        *_RECURRENT,
    ),
}
"""Keys that llama.cpp demands, by architecture."""

_READ = {
    ASSISTANT: _TYPES,
    "gemma4": _TYPES | {"embedding_length_per_layer_input": _U32},
    qwen35.ARCH: _TYPES | _RECURRENT | {"full_attention_interval": _U32},
}
"""Keys that llama.cpp reads as single values, by architecture, with their types."""

_ONE_HEAD = frozenset({qwen35.ARCH, "qwen35moe"})
"""Architectures that draft with a single MTP block; others chain several."""


@check(
    "malformed-header",
    "a header lacks a key that llama.cpp reads, or has it in another type",
    after=[*UNREADABLE, "roles-swapped", "no-mtp-head", "drafter-arch-unknown"],
)
def malformed_header(target: Target | None, drafter: Drafter | None) -> Iterator[Finding]:
    models = [model for model in (target, drafter) if model is not None]
    if not models:
        raise NotApplicable("the command names no file")
    for model in models:
        header = known(model.header)
        fixes = replacement(model, target)
        yield from _missing(model, header, fixes)
        yield from _types(model, header, fixes)
        if header.arch in _READ:
            yield from _arrays(model, header, fixes)
        yield from _blocks(model, header, fixes)


def _missing(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    needed = _NEEDED.get(header.arch or "", _ANYWHERE)
    missing = [key for key in needed if header.get(key) is None]
    nothing = [key for key in _ANYWHERE if header.get(key) == 0]
    if nothing:
        yield Finding(
            says=f"{name(model)} states 0 for {', '.join(nothing)}\nllama-server cannot load it.",
            about=nothing[0],
            evidence=tuple(stated(model, key) for key in nothing),
            fixes=fixes,
        )
    if missing:
        yield Finding(
            says=f"{name(model)} does not state {', '.join(missing)}\nllama-server cannot load it.",
            about=missing[0],
            evidence=tuple(stated(model, key) for key in missing),
            fixes=fixes,
        )


def _types(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    read = _READ.get(header.arch or "", {key: _TYPES[key] for key in _COMMON})
    for key, wanted in read.items():
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
    if blocks is None:
        return
    if header.arch == ASSISTANT:
        odd = heads != blocks
        rule = "all have to be"
    elif header.arch in _ONE_HEAD:
        odd = (heads or 0) > 1 or heads == blocks
        rule = f"a {header.arch} drafts with one alone"
    else:
        return
    if odd:
        yield Finding(
            says=(
                f"{name(model)} says that {heads or 0} of its {blocks} layers are MTP layers; "
                f"{rule}\nllama-server aborts when it loads the file."
            ),
            about="nextn_predict_layers",
            evidence=(
                stated(model, "nextn_predict_layers", heads),
                stated(model, "block_count", blocks),
            ),
            fixes=fixes,
        )
