"""Whether llama-server drafted at all while it was run."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, NotApplicable, SmokeRun, check


@check(
    "draft-not-used",
    "llama-server answered, and drafted nothing",
    after=["spec-type-missing", "no-mtp-head", "draft-limits-contradict", "server-failed"],
)
def draft_not_used(run: SmokeRun) -> Iterator[Finding]:
    arm = run.mtp
    if arm is None or not arm.predicted:
        raise NotApplicable("llama-server did not get so far")
    if arm.drafted:
        return
    yield Finding(
        says=(
            f"llama-server generated {arm.predicted} tokens and drafted none of them\n"
            "It serves as if there were no drafter. Its log, with -lv 4, says whether the "
            "drafter was set up."
        ),
        about="draft_n",
        evidence=(Evidence(f"timings: predicted_n {arm.predicted}, draft_n {arm.drafted}"),),
        fixes=(Advice("look for 'draft-mtp' in the log of the server started with -lv 4"),),
    )
