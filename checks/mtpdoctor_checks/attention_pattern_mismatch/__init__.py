"""Whether each file says truly which of its layers have a sliding window."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Finding,
    Fix,
    Knowledge,
    Model,
    Server,
    Target,
    Undetermined,
    Unknown,
    check,
)
from mtpdoctor.gguf import Array, Header
from mtpdoctor_checks import capability
from mtpdoctor_checks.attention import PATTERN, sliding_layers
from mtpdoctor_checks.pair import (
    NOT_A_PAIR,
    gemma4_pair,
    integer,
    its_drafter,
    name,
    replacement,
    stated,
)

_WINDOW = "attention.sliding_window"


@check(
    "attention-pattern-mismatch",
    "a file says wrongly which layers have a sliding window",
    after=[*NOT_A_PAIR, "malformed-header", "drafter-width-mismatch"],
)
def attention_pattern_mismatch(
    target: Target, drafter: Drafter, server: Server | None, knowledge: Knowledge
) -> Iterator[Finding]:
    ours, theirs = gemma4_pair(target, drafter)
    fixes = its_drafter(target)
    for model, header, way in (
        (target, ours, replacement(target, target)),
        (drafter, theirs, fixes),
    ):
        if isinstance(header.get(PATTERN), bool):
            yield _one_value(model, "llama.cpp reads that as a number or an array alone", way)
            continue
        yield from _no_window(model, header, way)
        if pattern := sliding_layers(header):
            yield from _contradiction(model, header, pattern, way)
    yield from _no_array(drafter, theirs, server, knowledge, fixes)


def _no_window(model: Model, header: Header, fixes: tuple[Fix, ...]) -> Iterator[Finding]:
    pattern = sliding_layers(header)
    if pattern is None:
        missing = PATTERN
    elif header.get(_WINDOW) is None:
        missing = _WINDOW
    elif not any(pattern):
        yield Finding(
            says=(
                f"{name(model)} has no layer with a sliding window\nllama.cpp takes for granted "
                "that a Gemma 4 has some: llama-server aborts when it starts."
            ),
            about=PATTERN,
            evidence=(stated(model, PATTERN, "all false"),),
            fixes=fixes,
        )
        return
    else:
        return
    yield Finding(
        says=f"{name(model)} does not state {missing}\nllama-server refuses to load it.",
        about=missing,
        evidence=(stated(model, missing),),
        fixes=fixes,
    )


def _contradiction(
    model: Model, header: Header, pattern: tuple[bool, ...], fixes: tuple[Fix, ...]
) -> Iterator[Finding]:
    layers = integer(header, "block_count")
    if layers is not None and layers != len(pattern):
        yield Finding(
            says=(
                f"{name(model)} has {layers} layers, and says of {len(pattern)} whether they "
                "have a sliding window\nllama-server refuses to load it."
            ),
            about=PATTERN,
            evidence=(stated(model, "block_count"), stated(model, PATTERN)),
            fixes=fixes,
        )
        return
    for layer, sliding in enumerate(pattern):
        key = "attention.key_length_swa" if sliding else "attention.key_length"
        wanted, norm = integer(header, key), header.tensors.get(f"blk.{layer}.attn_q_norm.weight")
        if norm is None or wanted is None or norm.shape[:1] == (wanted,):
            continue
        yield Finding(
            says=(
                f"{name(model)} calls layer {layer} a {'sliding-window' if sliding else 'full'} "
                f"one, whose heads have {wanted} elements, but its tensors have {norm.shape[0]}\n"
                "llama-server refuses to load it."
            ),
            about=PATTERN,
            evidence=(stated(model, PATTERN, list(pattern)), stated(model, key, wanted)),
            fixes=fixes,
        )
        return


def _no_array(
    drafter: Drafter,
    header: Header,
    server: Server | None,
    knowledge: Knowledge,
    fixes: tuple[Fix, ...],
) -> Iterator[Finding]:
    value = header.get(PATTERN)
    if value is None or isinstance(value, bool | Array):
        return
    entry = knowledge.named("sliding-window-pattern-array")
    wants_array = (
        Unknown("no server") if server is None else capability.has(server, entry, knowledge)
    )
    if isinstance(wants_array, Unknown):
        raise Undetermined(
            f"{name(drafter)} states {PATTERN} as one value, which builds from "
            f"{entry.since.first_with} on refuse; {_which(server)}"
        )
    if wants_array:
        yield _one_value(drafter, "this build wants one for each layer", fixes)


def _one_value(model: Model, why: str, fixes: tuple[Fix, ...]) -> Finding:
    return Finding(
        says=(
            f"{name(model)} states {PATTERN} as one value, and {why}\n"
            "llama-server refuses to load it."
        ),
        about=PATTERN,
        evidence=(stated(model, PATTERN),),
        fixes=fixes,
    )


def _which(server: Server | None) -> str:
    build = Unknown("no server was examined") if server is None else capability.build(server)
    return build.reason if isinstance(build, Unknown) else f"this is {build}"
