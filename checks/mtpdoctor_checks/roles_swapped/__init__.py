"""Whether the drafter stands where the target belongs."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Drafter,
    Evidence,
    Finding,
    Fix,
    HubRepo,
    Launch,
    Model,
    SetFlag,
    Target,
    Unknown,
    check,
    known,
)
from mtpdoctor.gguf import Header
from mtpdoctor_checks.pair import ASSISTANT, PUBLISHED, UNREADABLE, integer, name
from mtpdoctor_checks.speculation import has_head

_DRAFTERS = frozenset({ASSISTANT, "gemma4_assistant", "gemma4_mtp", "eagle3", "dflash", "dspark"})
"""Architectures of files that are drafters and nothing else."""
_PROJECTOR = "clip"


@check("roles-swapped", "the drafter is given as the target", after=UNREADABLE)
def roles_swapped(
    target: Target, drafter: Drafter | None, hub: HubRepo | None, launch: Launch | None
) -> Iterator[Finding]:
    header = known(target.header)
    if header.arch == _PROJECTOR:
        fix = Advice(f"give the model itself after -m, and {name(target)} after --mmproj")
        yield _finding(target, "a multimodal projector", "the target", fix)
        return
    if header.arch not in _DRAFTERS and not _is_a_head_alone(header):
        return
    if drafter is not None and _is_target(drafter):
        yield _finding(target, "a drafter", "the target", _set(target, drafter))
        yield _finding(drafter, "a whole model", "the drafter", _set(drafter, target))
    else:
        yield _finding(target, "a drafter", "the target", _right_one(target, hub, launch))


def _is_a_head_alone(header: Header) -> bool:
    """Whether the file holds an MTP head, and none of the layers that it belongs to."""
    if not has_head(header):
        return False
    layers, own = integer(header, "block_count"), integer(header, "nextn_predict_layers")
    if layers is None or own is None or layers <= own:
        return False
    trunk = tuple(f"blk.{layer}." for layer in range(layers - own))
    return not any(tensor.startswith(trunk) for tensor in header.tensors)


def _right_one(target: Target, hub: HubRepo | None, launch: Launch | None) -> Fix:
    """Return how to name the model itself: its file in the repository, else its name."""
    if hub is not None and launch is not None and target.origin.startswith("-hf"):
        tag = (launch.value("--hf-repo") or "").partition(":")[2].lower()
        models = [file for file in hub.files if _is_model(file) and f"{tag}." in file.lower()]
        if tag and models:
            return SetFlag("--hf-file", models[0])
    header = target.header
    width = 0 if isinstance(header, Unknown) else integer(header, "embedding_length_out")
    made_for = PUBLISHED.get(width or 0)
    itself = f"the model itself ({made_for})" if made_for is not None else "the model itself"
    return Advice(f"give {itself} after -m, and {name(target)} after --spec-draft-model")


def _is_model(file: str) -> bool:
    lower = file.lower()
    return lower.endswith(".gguf") and not any(word in lower for word in ("mtp", "mmproj"))


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
