"""Whether the drafter takes and gives hidden states as wide as the target's."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Finding, Knowledge, Launch, Target, Undetermined, check, known
from mtpdoctor.gguf import Header
from mtpdoctor_checks.pair import (
    ASSISTANT,
    NOT_A_PAIR,
    gemma4_pair,
    integer,
    its_drafter,
    name,
    stated,
)
from mtpdoctor_checks.speculation import has_head, no_other_kind

_KEY = "embedding_length_out"


@check(
    "drafter-width-mismatch",
    "the drafter was made for another target",
    after=[*NOT_A_PAIR, "malformed-header"],
)
def drafter_width_mismatch(
    launch: Launch | None, target: Target, drafter: Drafter, knowledge: Knowledge
) -> Iterator[Finding]:
    header = known(drafter.header)
    if header.arch != ASSISTANT and _takes_hidden_states(header, knowledge):
        no_other_kind(launch)
        yield from _head(target, known(target.header), drafter, header)
        return
    ours, theirs = gemma4_pair(target, drafter)
    width, own = integer(ours, "embedding_length"), integer(theirs, "embedding_length")
    if width is None:
        raise Undetermined(f"{name(target)} has no embedding_length")
    out = integer(theirs, _KEY)
    evidence = (stated(target, "embedding_length", width), stated(drafter, _KEY, out))
    if out is None or out == own != width:
        says = (
            f"{name(drafter)} does not say how wide its target is: {_KEY} "
            f"{'is not there' if out is None else f'is its own width, {out}'}, "
            f"and should be {width}\nllama-server refuses it. Take a drafter that was converted "
            "by llama.cpp's own converter."
        )
    elif out != width:
        says = (
            f"{name(drafter)} drafts for a target that is {out} wide, and {name(target)} is "
            f"{width} wide\nllama-server aborts when it starts. Each size of Gemma 4 has its own "
            "drafter."
        )
    else:
        return
    yield Finding(says=says, about=_KEY, evidence=evidence, fixes=its_drafter(target))


def _takes_hidden_states(header: Header, knowledge: Knowledge) -> bool:
    """Whether it is a head of a kind that is known to be as wide as its target."""
    graph = knowledge.feature("mtp-graph", header.arch or "-")
    return graph is not None and has_head(header)


def _head(target: Target, ours: Header, drafter: Drafter, theirs: Header) -> Iterator[Finding]:
    """Find a head in a file of its own that takes hidden states of another width."""
    given = integer(ours, _KEY) or integer(ours, "embedding_length")
    taken = integer(theirs, "embedding_length")
    for model, width in ((target, given), (drafter, taken)):
        if width is None:
            raise Undetermined(f"{name(model)} has no embedding_length")
    if given != taken:
        yield Finding(
            says=(
                f"{name(drafter)} drafts for a target that is {taken} wide, and {name(target)} is "
                f"{given} wide\nllama-server aborts when it starts. A head belongs to the model "
                "that it was trained with."
            ),
            about="embedding_length",
            evidence=(
                stated(target, "embedding_length", given),
                stated(drafter, "embedding_length", taken),
            ),
            fixes=its_drafter(target),
        )
