"""Whether two kinds of drafting want the same drafter."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Launch,
    NotApplicable,
    SetFlag,
    check,
    known,
)
from mtpdoctor.launch import MTP, speculative_types
from mtpdoctor_checks.pair import UNREADABLE, name
from mtpdoctor_checks.speculation import SPEC_TYPE, has_head

_WITH_A_DRAFTER = "draft-"


@check(
    "spec-types-contradict",
    "two kinds of drafting want the same drafter",
    after=["spec-type-unknown", "build-too-old", *UNREADABLE, "roles-swapped", "no-mtp-head"],
)
def spec_types_contradict(launch: Launch, drafter: Drafter) -> Iterator[Finding]:
    asked = speculative_types(launch)
    kinds = [each for each in asked if each.startswith(_WITH_A_DRAFTER)]
    if MTP not in kinds:
        raise NotApplicable(f"the command does not ask for {MTP}")
    if len(kinds) == 1:
        return
    if not has_head(known(drafter.header)):
        raise NotApplicable(f"{name(drafter)} is no MTP drafter")
    others = ", ".join(each for each in kinds if each != MTP)
    kept = [each for each in asked if each == MTP or each not in kinds]
    yield Finding(
        says=(
            f"{SPEC_TYPE} asks for {MTP} and {others}, and {name(drafter)} can serve {MTP} alone\n"
            "llama-server starts, and answers every request with an error."
        ),
        about=SPEC_TYPE,
        evidence=(
            Evidence(f"the command: {SPEC_TYPE} {','.join(asked)}"),
            Evidence("b10434: decode() failed: failed to process speculative batch"),
            Evidence(
                "two kinds with one drafter do not go together",
                "https://github.com/ggml-org/llama.cpp/issues/27839",
            ),
        ),
        fixes=(SetFlag(SPEC_TYPE, ",".join(kept)),),
    )
