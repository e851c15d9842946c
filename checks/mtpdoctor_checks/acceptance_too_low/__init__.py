"""Whether enough of the drafts were accepted."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, Severity, SmokeRun, check, known
from mtpdoctor.facts import NotApplicable, Undetermined

FLOOR = 0.3
"""Below it drafting hardly pays on any machine; healthy Gemma 4 pairs measure 0.5 to 0.9."""

FEWEST = 32
"""Drafted tokens below which a share that looks well says nothing."""


@check(
    "acceptance-too-low",
    "too few drafts are accepted",
    after=["drafter-head-mismatch", "drafter-rope-mismatch", "vocab-mismatch", "draft-not-used"],
)
def acceptance_too_low(run: SmokeRun) -> Iterator[Finding]:
    stated = run.min_acceptance
    drafted = run.mtp.drafted if run.mtp is not None else 0
    if stated is None and not drafted:
        raise NotApplicable("nothing was drafted")
    acceptance = known(run.acceptance)
    floor = FLOOR if stated is None else stated
    if acceptance >= floor:
        if drafted >= FEWEST:
            return
        few = f"only {drafted} tokens were drafted, and {FEWEST} are the least to judge by"
        raise NotApplicable(few) if stated is None else Undetermined(few)
    wanted = f"{floor:.2f} is wanted" if stated is not None else f"under {floor:.2f} is suspicious"
    yield Finding(
        says=(
            f"{acceptance:.2f} of the drafted tokens were accepted; {wanted}\n"
            "A drafter that was made for another target, or for one that was tuned further, "
            "guesses badly."
        ),
        severity=Severity.WARNING if stated is None else Severity.ERROR,
        about="acceptance",
        evidence=(Evidence(f"{_accepted(run)} accepted of {drafted} drafted tokens"),),
        fixes=(Advice("use the drafter that was published with this very target"),),
    )


def _accepted(run: SmokeRun) -> int:
    return run.mtp.accepted if run.mtp is not None else 0
