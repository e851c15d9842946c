"""Whether drafting made the generation faster."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, Severity, SmokeRun, Unknown, check, known
from mtpdoctor.facts import NotApplicable

BREAK_EVEN = 1.0


@check(
    "no-speed-up",
    "drafting does not make it faster",
    after=["draft-not-used"],
)
def no_speed_up(run: SmokeRun) -> Iterator[Finding]:
    stated = run.min_speedup
    if stated is None and (run.plain is None or run.mtp is None):
        raise NotApplicable("both arms did not run")
    speedup = known(run.speedup)
    floor = BREAK_EVEN if stated is None else stated
    if speedup >= floor:
        return
    wanted = f"; {floor:.2f} is wanted" if stated is not None else ""
    slower = "slower than without" if speedup < BREAK_EVEN else "faster, but not enough"
    yield Finding(
        says=(
            f"with drafting it runs at {speedup:.2f} times the speed of without{wanted}\n"
            f"Drafting is {slower}: a smaller --spec-draft-n-max wastes less on refused drafts."
        ),
        severity=Severity.WARNING if stated is None else Severity.ERROR,
        about="speed-up",
        evidence=tuple(
            Evidence(f"{name}: {arm.tokens_per_second:.1f} tokens per second")
            for name, arm in (("plain", run.plain), ("mtp", run.mtp))
            if arm is not None and not isinstance(arm.tokens_per_second, Unknown)
        )
        or (Evidence(f"speed-up {speedup:.2f}"),),
        fixes=(Advice("try --spec-draft-n-max 1 or 2, or run without drafting"),),
    )
