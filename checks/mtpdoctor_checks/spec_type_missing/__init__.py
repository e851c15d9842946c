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
from mtpdoctor.launch import MTP, speculative_types
from mtpdoctor_checks.pair import UNREADABLE, name
from mtpdoctor_checks.speculation import SPEC_TYPE, asks_for_mtp, has_head, infers_mtp


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
    if known(infers_mtp(launch, server, drafter, knowledge)):
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
        if has_head(header):
            return f"{name(drafter)} is an MTP drafter"
        raise NotApplicable(f"{name(drafter)} is no MTP drafter")
    if target is not None and not isinstance(target.header, Unknown) and has_head(target.header):
        return f"{name(target)} has an MTP head"
    if hub is not None:
        if any("mtp-" in file for file in hub.files):
            return f"{hub.repo} has an MTP drafter beside the model"
        raise Undetermined(f"whether {hub.repo} has an MTP drafter is not in the local cache")
    raise NotApplicable("the command has no MTP head to draft with")
