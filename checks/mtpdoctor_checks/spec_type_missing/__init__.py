"""Whether a command that has an MTP head at hand also asks llama-server to draft with it."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    HubRepo,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    Target,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor.launch import speculative_types
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import ASSISTANT, UNREADABLE, name
from mtpdoctor_checks.speculation import MTP, SPEC_TYPE, asks_for_mtp, has_head


@check(
    "spec-type-missing",
    "nothing in the command asks for MTP, so the server does not draft",
    after=[*UNREADABLE, "build-too-old", "spec-type-unknown", "roles-swapped", "no-mtp-head"],
)
def spec_type_missing(  # noqa: PLR0917  its facts
    launch: Launch,
    server: Server | None,
    target: Target | None,
    drafter: Drafter | None,
    hub: HubRepo | None,
    knowledge: Knowledge,
) -> Iterator[Finding]:
    if asks_for_mtp(launch):
        return
    has = _head_at_hand(target, drafter, hub)
    if drafter is not None and _told_by_itself(drafter, server, launch, knowledge):
        return
    others = speculative_types(launch)
    asked = f"only {SPEC_TYPE} {','.join(others)}" if others else f"no {SPEC_TYPE}"
    draws = "draft another way" if others else "serve without drafting, and not say so"
    # ngram drafting goes together with a drafter; two kinds of drafter do not
    kept = [each for each in others if not each.startswith("draft-")]
    yield Finding(
        says=(
            f"{has}, but the command has {asked}\n"
            f"llama-server would {draws}. Ask for MTP: {SPEC_TYPE} {MTP}"
        ),
        about=SPEC_TYPE,
        evidence=(Evidence(f"{SPEC_TYPE}: {', '.join(others) or 'not given'}"),),
        fixes=(SetFlag(SPEC_TYPE, ",".join((MTP, *kept))),),
    )


def _head_at_hand(target: Target | None, drafter: Drafter | None, hub: HubRepo | None) -> str:
    """Return in words what could draft; the question does not arise where nothing could."""
    if drafter is not None:
        header = known(drafter.header)
        if header.arch == ASSISTANT or has_head(header):
            return f"{name(drafter)} is an MTP drafter"
        raise NotApplicable(f"{name(drafter)} is no MTP drafter")
    if target is not None and not isinstance(target.header, Unknown) and has_head(target.header):
        return f"{name(target)} has an MTP head"
    if hub is not None:
        if any("mtp-" in file for file in hub.files):
            return f"{hub.repo} has an MTP drafter beside the model"
        raise Undetermined(f"whether {hub.repo} has an MTP drafter is not in the local cache")
    raise NotApplicable("the command has no MTP head to draft with")


def _told_by_itself(
    drafter: Drafter, server: Server | None, launch: Launch, knowledge: Knowledge
) -> bool:
    """Whether the server draws ``draft-mtp`` from the drafter itself, as some builds do."""
    if speculative_types(launch) or launch.has(SPEC_TYPE):
        return False
    from_hub = launch.has("--spec-draft-hf") or launch.has("-hfd")
    if known(drafter.header).arch == ASSISTANT and not from_hub:
        return False
    id = "hfd-infers-draft-mtp" if from_hub else "md-infers-type"
    feature = knowledge.named(id)
    if server is None:
        raise Undetermined(feature.title)
    infers = capability.has(server, feature, knowledge)
    if isinstance(infers, Unknown):
        raise Undetermined(f"whether the server sees by itself that this is MTP: {infers.reason}")
    return infers
