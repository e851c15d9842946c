"""Whether the drafter was made for models like the target at all."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Launch,
    NotApplicable,
    Target,
    Undetermined,
    check,
    known,
)
from mtpdoctor_checks.pair import ASSISTANT, NOT_A_PAIR, its_drafter, name, shown
from mtpdoctor_checks.speculation import has_head, no_other_kind

_GEMMA4 = "gemma4"


@check(
    "drafter-of-another-family",
    "the drafter was made for another kind of model",
    after=[*NOT_A_PAIR, "target-arch-unknown", "drafter-width-mismatch"],
)
def drafter_of_another_family(
    launch: Launch | None, target: Target, drafter: Drafter
) -> Iterator[Finding]:
    theirs = known(drafter.header)
    if not has_head(theirs):
        raise NotApplicable(f"{name(drafter)} is no MTP drafter")
    arch = known(target.header).arch
    if arch is None:
        raise Undetermined(f"{name(target)} does not state its architecture")
    if theirs.arch == ASSISTANT:
        if arch != _GEMMA4:
            yield _no_gemma4(target, drafter, arch)
        return
    no_other_kind(launch)
    if theirs.arch != arch:
        raise Undetermined(
            f"{name(drafter)} is the head of a {shown(theirs.arch)}, and {name(target)} is a "
            f"{shown(arch)}; nothing is known of such a pair"
        )


def _no_gemma4(target: Target, drafter: Drafter, arch: str) -> Finding:
    return Finding(
        says=(
            f"{name(drafter)} drafts for a Gemma 4, and {name(target)} is a {shown(arch)}\n"
            "It reads the KV cache of a gemma4 target, which is not there: llama-server dies of "
            "SIGSEGV\nor aborts when it starts."
        ),
        about="general.architecture",
        evidence=(
            Evidence(f"{name(target)}: general.architecture = {shown(arch)}"),
            Evidence(f"{name(drafter)}: general.architecture = {ASSISTANT}"),
        ),
        fixes=its_drafter(target),
    )
