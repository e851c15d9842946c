"""Whether llama.cpp can draft with the MTP heads of this architecture at all."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Drafter,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    Model,
    NotApplicable,
    Server,
    Target,
    Undetermined,
    Unknown,
    check,
    cited,
    known,
)
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import UNREADABLE, name, program, shown
from mtpdoctor_checks.speculation import SPEC_TYPE, asks_for_mtp, has_head

_LOADED_ONLY = "nextn-without-graph"


@check(
    "mtp-graph-missing",
    "llama.cpp cannot draft with the MTP head of this architecture",
    after=[
        "server-not-found",
        "server-does-not-run",
        "build-too-old",
        "target-arch-unknown",
        "drafter-arch-unknown",
        "roles-swapped",
        *UNREADABLE,
    ],
)
def mtp_graph_missing(
    server: Server, launch: Launch, target: Target, drafter: Drafter | None, knowledge: Knowledge
) -> Iterator[Finding]:
    model: Model = target if drafter is None else drafter
    header = known(model.header)
    arch = header.arch or ""
    if not has_head(header):
        raise NotApplicable(f"{name(model)} has no MTP head")
    if knowledge.feature("mtp-graph", arch):
        return
    without = knowledge.named(_LOADED_ONLY)
    if arch not in without.archs:
        raise Undetermined(f"nothing is known of MTP drafting with the architecture {shown(arch)}")
    has = knowledge.has(capability.known_build(server), without)
    if isinstance(has, Unknown):
        raise Undetermined(has.reason)
    if not has:
        raise NotApplicable("this build has no MTP drafting at all")
    yield Finding(
        says=(
            f"{name(model)} holds an MTP head, and {program(server)} cannot draft with one of the "
            f"architecture {shown(arch)}\nThe model itself runs. Run it without {SPEC_TYPE}, or "
            "with another kind of drafting."
        ),
        about="general.architecture",
        evidence=(
            Evidence(f"{name(model)}: general.architecture = {arch}"),
            *cited(without.source),
        ),
        fixes=_fixes(launch),
    )


def _fixes(launch: Launch) -> tuple[Fix, ...]:
    advice = Advice("draft with --spec-type ngram-mod, which needs no head")
    return (DropFlag(SPEC_TYPE), advice) if asks_for_mtp(launch) else (advice,)
