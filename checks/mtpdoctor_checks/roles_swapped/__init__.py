"""Whether the drafter stands where the target belongs."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Drafter,
    Evidence,
    Finding,
    Fix,
    Model,
    SetFlag,
    Target,
    Unknown,
    check,
    known,
)
from mtpdoctor_checks.pair import ASSISTANT, UNREADABLE, name

_DRAFTERS = frozenset({ASSISTANT, "gemma4_assistant", "gemma4_mtp", "eagle3", "dflash", "dspark"})
"""Architectures of files that are drafters and nothing else."""


@check("roles-swapped", "the drafter is given as the target", after=UNREADABLE)
def roles_swapped(target: Target, drafter: Drafter | None) -> Iterator[Finding]:
    if known(target.header).arch not in _DRAFTERS:
        return
    if drafter is not None and _is_target(drafter):
        yield _finding(target, "a drafter", "the target", _set(target, drafter))
        yield _finding(drafter, "a whole model", "the drafter", _set(drafter, target))
    else:
        fix = Advice(f"give the model itself after -m, and {name(target)} after --spec-draft-model")
        yield _finding(target, "a drafter", "the target", fix)


def _is_target(drafter: Drafter) -> bool:
    return not isinstance(drafter.header, Unknown) and drafter.header.arch not in _DRAFTERS


def _finding(model: Model, what: str, role: str, fix: Fix) -> Finding:
    arch = None if isinstance(model.header, Unknown) else model.header.arch
    return Finding(
        says=(
            f"{name(model)} is {what}, and {model.origin} gives it as {role}\n"
            "llama-server cannot start with it in that place."
        ),
        about=model.origin or name(model),
        evidence=(Evidence(f"{name(model)}: general.architecture = {arch}"),),
        fixes=(fix,),
    )


def _set(here: Model, there: Model) -> Fix:
    """Return the fix that names *there*'s file where *here*'s stood."""
    if here.origin.startswith("-") and there.origin in {"-m", "--model", "-md", *_DRAFT_FLAGS}:
        return SetFlag(here.origin, there.named)
    return Advice(f"give {there.named} after {here.origin or '-m'}")


_DRAFT_FLAGS = ("--model-draft", "--spec-draft-model")
