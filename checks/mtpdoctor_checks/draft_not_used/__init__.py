"""Whether llama-server drafted at all while it was run."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, Knowledge, NotApplicable, SmokeRun, check
from mtpdoctor.facts import Arm


@check(
    "draft-not-used",
    "llama-server answered, and drafted nothing",
    after=["spec-type-missing", "no-mtp-head", "draft-limits-contradict", "server-failed"],
)
def draft_not_used(run: SmokeRun, knowledge: Knowledge) -> Iterator[Finding]:
    arm = run.mtp
    if arm is None or not arm.predicted:
        raise NotApplicable("llama-server did not get so far")
    if arm.drafted:
        return
    why = (
        f"Its log says why: {arm.complaint}."
        if arm.complaint
        else "Its log, with -lv 4, says whether the drafter was set up."
    )
    yield Finding(
        says=(
            f"llama-server generated {arm.predicted} tokens and drafted none of them\n"
            f"It serves as if there were no drafter. {why}"
        ),
        about="draft_n",
        evidence=(Evidence(f"timings: predicted_n {arm.predicted}, draft_n {arm.drafted}"),),
        fixes=(Advice(_advice(arm, knowledge)),),
    )


def _advice(arm: Arm, knowledge: Knowledge) -> str:
    for entry in knowledge.signatures if arm.signature else ():
        if entry.id == arm.signature and entry.advice:
            return entry.advice
    return "look for 'draft-mtp' in the log of the server started with -lv 4"
