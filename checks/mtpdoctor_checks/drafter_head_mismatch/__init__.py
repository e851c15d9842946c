"""Whether the drafter reads the target's KV cache with the target's own head sizes."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Evidence, Finding, Fix, Model, Target, check, known
from mtpdoctor_checks.attention import kind
from mtpdoctor_checks.pair import (
    NOT_A_PAIR,
    gemma4_pair,
    integer,
    its_drafter,
    name,
    replacement,
    stated,
)

_HEAD = {True: "attention.key_length_swa", False: "attention.key_length"}
_VALUE = {True: "attention.value_length_swa", False: "attention.value_length"}
_KV_HEADS = "attention.head_count_kv"


@check(
    "drafter-head-mismatch",
    "the drafter's attention heads do not fit the target's KV cache",
    after=[*NOT_A_PAIR, "malformed-header", "drafter-width-mismatch", "attention-pattern-mismatch"],
)
def drafter_head_mismatch(target: Target, drafter: Drafter) -> Iterator[Finding]:
    gemma4_pair(target, drafter)
    found: dict[tuple[str, int, int], list[str]] = {}
    for sliding, layers in ((True, "sliding-window"), (False, "full")):
        theirs, ours = kind(drafter, sliding=sliding), kind(target, sliding=sliding)
        if theirs is None or ours is None:
            continue
        if theirs.head != ours.head:
            found.setdefault((_HEAD[sliding], theirs.head, ours.head), []).append(layers)
        if theirs.kv_heads != ours.kv_heads:
            found.setdefault((_KV_HEADS, theirs.kv_heads, ours.kv_heads), []).append(layers)
    for (key, mine, wanted), where in found.items():
        yield _mismatch(target, drafter, where, key, mine=mine, wanted=wanted)
    for sliding in (True, False):
        for model in (target, drafter):
            yield from _uneven(model, its_drafter(target), sliding=sliding)


def _mismatch(
    target: Target, drafter: Drafter, where: list[str], key: str, *, mine: int, wanted: int
) -> Finding:
    layers = " and ".join(where)
    what = "number of KV heads" if key == _KV_HEADS else "head size"
    outcome = (
        "llama-server aborts when it starts."
        if mine > wanted
        else "llama-server serves and does not complain, but next to no draft is accepted."
    )
    return Finding(
        says=(
            f"{name(drafter)} reads the KV cache of {name(target)}'s {layers} layers with a {what} "
            f"of {mine}, and it is {wanted}\n{outcome}"
        ),
        about=key,
        evidence=(
            Evidence(f"{name(target)}, last of the {layers} layers: {key} = {wanted}"),
            Evidence(f"{name(drafter)}, last of the {layers} layers: {key} = {mine}"),
        ),
        fixes=its_drafter(target),
    )


def _uneven(model: Model, its: tuple[Fix, ...], *, sliding: bool) -> Iterator[Finding]:
    """Find keys and values of unequal size, which llama.cpp refuses in a Gemma 4 of either kind."""
    header = known(model.header)
    keys, values = integer(header, _HEAD[sliding]), integer(header, _VALUE[sliding])
    if keys is not None and values is not None and keys != values:
        yield Finding(
            says=(
                f"{name(model)} has keys of {keys} and values of {values} elements a head\n"
                "llama-server refuses a Gemma 4 in which they differ."
            ),
            about=_VALUE[sliding],
            evidence=(stated(model, _HEAD[sliding]), stated(model, _VALUE[sliding])),
            fixes=replacement(model, model) if isinstance(model, Target) else its,
        )
