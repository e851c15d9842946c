"""Whether the drafter reads the target's KV cache with the target's own head sizes."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Evidence, Finding, Target, check
from mtpdoctor_checks.attention import kind
from mtpdoctor_checks.pair import NOT_A_PAIR, gemma4_pair, integer, its_drafter, name, stated

_HEAD = {True: "attention.key_length_swa", False: "attention.key_length"}
_VALUE = {True: "attention.value_length_swa", False: "attention.value_length"}
_KV_HEADS = "attention.head_count_kv"


@check(
    "drafter-head-mismatch",
    "the drafter's attention heads do not fit the target's KV cache",
    after=[*NOT_A_PAIR, "drafter-width-mismatch", "attention-pattern-mismatch"],
)
def drafter_head_mismatch(target: Target, drafter: Drafter) -> Iterator[Finding]:
    gemma4_pair(target, drafter)
    for sliding, layers in ((True, "sliding-window"), (False, "full")):
        theirs = kind(drafter, sliding=sliding)
        ours = kind(target, sliding=sliding)
        if theirs is None or ours is None:
            continue
        for key, mine, wanted in (
            (_HEAD[sliding], theirs.head, ours.head),
            (_KV_HEADS, theirs.kv_heads, ours.kv_heads),
        ):
            if mine != wanted:
                yield _mismatch(target, drafter, layers, key, mine=mine, wanted=wanted)
        yield from _uneven(target, drafter, sliding=sliding)


def _mismatch(
    target: Target, drafter: Drafter, layers: str, key: str, *, mine: int, wanted: int
) -> Finding:
    what = "KV heads" if key == _KV_HEADS else "elements a head"
    outcome = (
        "llama-server aborts when it starts."
        if mine > wanted
        else "llama-server serves and does not complain, but next to no draft is accepted."
    )
    return Finding(
        says=(
            f"{name(drafter)} reads {name(target)}'s KV cache of the {layers} layers with "
            f"{mine} {what}, and it has {wanted}\n{outcome}"
        ),
        about=key,
        evidence=(
            Evidence(f"{name(target)}, last of the {layers} layers: {key} = {wanted}"),
            Evidence(f"{name(drafter)}, last of the {layers} layers: {key} = {mine}"),
        ),
        fixes=its_drafter(target),
    )


def _uneven(target: Target, drafter: Drafter, *, sliding: bool) -> Iterator[Finding]:
    """Find keys and values of unequal size, which llama.cpp refuses in a drafter."""
    _, header = gemma4_pair(target, drafter)
    keys, values = integer(header, _HEAD[sliding]), integer(header, _VALUE[sliding])
    if keys is not None and values is not None and keys != values:
        yield Finding(
            says=(
                f"{name(drafter)} has keys of {keys} and values of {values} elements a head\n"
                "llama-server refuses a drafter in which they differ."
            ),
            about=_VALUE[sliding],
            evidence=(stated(drafter, _HEAD[sliding]), stated(drafter, _VALUE[sliding])),
            fixes=its_drafter(target),
        )
