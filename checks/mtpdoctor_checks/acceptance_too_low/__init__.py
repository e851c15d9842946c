"""Whether enough of the drafts were accepted."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Launch,
    NotApplicable,
    Server,
    Severity,
    SmokeRun,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor_checks.speculation import quantized

BROKEN = 0.05
"""Below it hardly any guess is right, which a drafter for a like model does better."""
_YOUNG = frozenset({"vulkan", "hip", "sycl", "metal"})
FLOOR = 0.3
"""Below it drafting hardly pays on any machine; healthy Gemma 4 pairs measure 0.5 to 0.9."""

FEWEST = 32
"""Drafted tokens below which a share that looks well says nothing."""


@check(
    "acceptance-too-low",
    "too few drafts are accepted",
    after=["drafter-head-mismatch", "drafter-rope-mismatch", "vocab-mismatch", "draft-not-used"],
)
def acceptance_too_low(
    run: SmokeRun, launch: Launch | None, server: Server | None
) -> Iterator[Finding]:
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
        fixes=(
            *(_broken(launch, server) if acceptance < BROKEN else ()),
            Advice("use the drafter that was published with this very target"),
        ),
    )


def _accepted(run: SmokeRun) -> int:
    return run.mtp.accepted if run.mtp is not None else 0


def _broken(launch: Launch | None, server: Server | None) -> Iterator[Fix]:
    """Yield what makes a sound drafter's guesses worthless: its cache, a backend's arithmetic."""
    for option in launch.options if launch is not None else ():
        if "hadamard" in option.spelled:
            yield Advice(f"drop {option.spelled}: the drafter may not read such a cache")
    for flag in ("--cache-type-k", "--cache-type-v"):
        value = launch.value(flag) if launch is not None else None
        if value is not None and quantized(value):
            yield DropFlag(flag)
    backends = server.backends if server is not None else Unknown()
    if not isinstance(backends, Unknown) and backends & _YOUNG:
        yield Advice("try another backend, or -dev none: the arithmetic of one may be at fault")
