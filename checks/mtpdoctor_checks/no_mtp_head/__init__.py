"""Whether there is anything to draft with."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    HubRepo,
    Knowledge,
    Launch,
    Model,
    NotApplicable,
    Server,
    Target,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor_checks import capability, sidecar
from mtpdoctor_checks.pair import ASSISTANT, UNREADABLE, its_drafter, name
from mtpdoctor_checks.speculation import asks_for_mtp, has_head, no_other_kind

_LAYERS = "nextn_predict_layers"


@check(
    "no-mtp-head",
    "there is no MTP head to draft with",
    after=[*UNREADABLE, "roles-swapped", "target-arch-unknown", "drafter-arch-unknown"],
)
def no_mtp_head(  # noqa: PLR0917  its facts
    launch: Launch,
    server: Server | None,
    target: Target,
    drafter: Drafter | None,
    hub: HubRepo | None,
    knowledge: Knowledge,
) -> Iterator[Finding]:
    no_other_kind(launch)
    if drafter is not None:
        if not has_head(known(drafter.header)):
            yield _without_head(target, drafter)
        return
    header = known(target.header)
    if has_head(header):
        return
    if hub is not None:
        _look_in_the_repository(launch, hub, target, server, knowledge)
    yield Finding(
        says=(
            f"{name(target)} has no MTP head, and the command names no drafter\n"
            "llama-server has nothing to draft with. Give the drafter after --spec-draft-model."
        ),
        about="--spec-draft-model",
        evidence=(_seen(target), Evidence("--spec-draft-model: not given")),
        fixes=its_drafter(target),
    )


def _without_head(target: Target, drafter: Drafter) -> Finding:
    same = not isinstance(target.path, Unknown) and target.path == drafter.path
    what = "the target itself" if same else "a model without an MTP head"
    return Finding(
        says=(
            f"{name(drafter)}, given as the drafter, is {what}\n"
            f"llama-server cannot draft with it. Give the target's MTP drafter, "
            f"whose architecture is {ASSISTANT} for Gemma 4."
        ),
        about=drafter.origin or "--spec-draft-model",
        evidence=(_seen(drafter),),
        fixes=its_drafter(target),
    )


def _seen(model: Model) -> Evidence:
    header = known(model.header)
    return Evidence(
        f"{name(model)}: architecture {header.arch}, {_LAYERS} = {header.get(_LAYERS) or 0}"
    )


def _look_in_the_repository(
    launch: Launch, hub: HubRepo, target: Target, server: Server | None, knowledge: Knowledge
) -> None:
    """Give up: llama-server itself looks for a drafter in the repository, and may find one."""
    if sidecar.found(hub, target) and not asks_for_mtp(launch):
        raise NotApplicable(f"{hub.repo} has a drafter that the command does not ask for")
    says = f"the local cache has no drafter of {hub.repo}"
    passed_over = sidecar.unseen(hub, target)
    if passed_over and _passes_over(server, knowledge):
        says += f" that is found beside the model ({passed_over[0]} is not)"
    raise Undetermined(f"{says}; llama-server looks for one in the repository itself")


def _passes_over(server: Server | None, knowledge: Knowledge) -> bool:
    """Whether this server may have the bug that hides a drafter in ``MTP/``."""
    build = Unknown() if server is None else capability.build(server)
    bug = knowledge.bug("sidecar-in-mtp-folder-unseen")
    return isinstance(build, Unknown) or knowledge.suffers(build, bug) is not False
