"""Whether drafting made the generation faster."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, Severity, SmokeRun, Unknown, check, known
from mtpdoctor.facts import NotApplicable

BREAK_EVEN = 1.0


@check(
    "no-speed-up",
    "drafting does not make it faster",
    after=["draft-not-used", "acceptance-too-low"],
)
def no_speed_up(run: SmokeRun) -> Iterator[Finding]:
    if run.plain is None or run.mtp is None:
        raise NotApplicable("both arms did not run")
    speedup = known(run.speedup)
    stated = run.min_speedup
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
            Evidence(f"{arm}: {speed:.1f} tokens per second")
            for arm, speed in (
                ("plain", run.plain.tokens_per_second),
                ("mtp", run.mtp.tokens_per_second),
            )
            if not isinstance(speed, Unknown)
        )
        or (Evidence(f"speed-up {speedup:.2f}"),),
        fixes=(Advice("try --spec-draft-n-max 1 or 2, or run without drafting"),),
    )
