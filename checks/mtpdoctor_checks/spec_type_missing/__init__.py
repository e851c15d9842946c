"""Whether a command that has an MTP head at hand also asks llama-server to draft with it."""

from __future__ import annotations

import re
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
from mtpdoctor.launch import MTP, speculative_types, wants_mtp
from mtpdoctor.visible import visible
from mtpdoctor_checks import sidecar
from mtpdoctor_checks.capability import LLAMA_CPP
from mtpdoctor_checks.pair import UNREADABLE, name
from mtpdoctor_checks.speculation import SPEC_TYPE, has_head, infers_mtp

_MARK = re.compile(r"(?<![a-z])mtp(?![a-z])", re.IGNORECASE)
"""What the file with an MTP head has in its name where the one without has nothing."""


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
    if wants_mtp(launch):  # in a fork's word too: a server that does not know it says so
        return
    has = _head_at_hand(target, drafter, hub)
    program = server.program if server is not None else Unknown()
    if not isinstance(program, Unknown) and program != LLAMA_CPP:
        raise Undetermined(f"{program} is a fork, and may be asked for MTP in words of its own")
    if known(infers_mtp(launch, server, drafter, knowledge)):
        return
    others = speculative_types(launch)
    asked = f"only {SPEC_TYPE} {','.join(others)}" if others else _given_none(launch)
    draws = "draft another way" if others else "serve without drafting, and not say so"
    # ngram drafting goes together with a drafter; two kinds of drafter do not
    kept = [each for each in others if not each.startswith("draft-")]
    yield Finding(
        says=(
            f"{has}, but the command has {asked}\n"
            f"llama-server would {draws}. Ask for MTP: {SPEC_TYPE} {MTP}"
        ),
        about=SPEC_TYPE,
        evidence=(Evidence(f"the command: {asked}"),),
        fixes=(SetFlag(SPEC_TYPE, ",".join((MTP, *kept))), *_without(launch, drafter, hub)),
    )


def _given_none(launch: Launch) -> str:
    """Return in words what the command has in place of a kind of drafting."""
    uses = [use for use in launch.uses(SPEC_TYPE) if use.value is not None]
    if not uses:
        return f"no {SPEC_TYPE}"
    last = uses[-1]
    value = visible(last.value or "''", 80)
    return f"{last.env}={value} (environment)" if last.env else f"{last.spelled} {value}"


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
        if sidecar.found(hub, target):
            return f"{hub.repo} has an MTP drafter beside the model"
        raise Undetermined(f"whether {hub.repo} has an MTP drafter is not in the local cache")
    raise NotApplicable("the command has no MTP head to draft with")


def _without(launch: Launch, drafter: Drafter | None, hub: HubRepo | None) -> tuple[SetFlag, ...]:
    """Return how to load the same model without the head, if its repository has both."""
    if drafter is not None or hub is None or launch.has("--hf-file"):
        return ()
    tag = (launch.value("--hf-repo") or "").partition(":")[2].lower()
    models = [file for file in hub.files if _is_model(file) and tag in file.lower()]
    marked = [file for file in models if _MARK.search(file)]
    twins = {re.sub(r"[-_.]{2,}", "-", _MARK.sub("", file)) for file in marked}
    plain = [file for file in models if file not in marked]
    if not marked or not plain:
        return ()
    return (SetFlag("--hf-file", next((file for file in plain if file in twins), plain[0])),)


def _is_model(file: str) -> bool:
    lower = file.lower()
    ours = not lower.rpartition("/")[2].startswith("mtp-") and "mmproj" not in lower
    return lower.endswith(".gguf") and ours and not lower.startswith("mtp/")
