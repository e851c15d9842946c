"""Whether the drafter carries tensors for ordered embeddings, which llama.cpp cannot use."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Knowledge,
    NotApplicable,
    Server,
    Target,
    Undetermined,
    Unknown,
    check,
    cited,
    known,
)
from mtpdoctor_checks.capability import known_build
from mtpdoctor_checks.pair import ASSISTANT, NOT_A_PAIR, name, replacement

_BUGS = ("masked-embd-wrong-count", "masked-embd-refused")


@check(
    "ordered-embeddings-drafter",
    "the drafter holds masked_embd tensors, and does not load",
    after=NOT_A_PAIR,
)
def ordered_embeddings_drafter(
    server: Server, target: Target | None, drafter: Drafter, knowledge: Knowledge
) -> Iterator[Finding]:
    header = known(drafter.header)
    if header.arch != ASSISTANT:
        raise NotApplicable(f"not a {ASSISTANT} drafter")
    masked = sorted(tensor for tensor in header.tensors if tensor.startswith("masked_embd_"))
    if not masked:
        return
    build = known_build(server)
    reasons = []
    for id in _BUGS:
        bug = knowledge.bug(id)
        suffers = knowledge.suffers(build, bug)
        if isinstance(suffers, Unknown):
            reasons.append(suffers.reason)
        elif suffers:
            yield Finding(
                says=(
                    f"{name(drafter)} holds {' and '.join(masked)}, and {build} does not load "
                    "such a drafter\nTake one without them, as llama.cpp's own converter writes it."
                ),
                about=masked[0],
                evidence=(Evidence(f"{name(drafter)}: {', '.join(masked)}"), *cited(bug.source)),
                fixes=replacement(drafter, target),
            )
            return
    if reasons:
        raise Undetermined(f"{name(drafter)} holds {', '.join(masked)}. {'; '.join(reasons)}")
