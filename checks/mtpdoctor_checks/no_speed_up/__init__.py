"""Whether drafting made the generation faster."""

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
    Unknown,
    check,
    known,
)
from mtpdoctor.facts import Arm
from mtpdoctor.launch import draft_n_max
from mtpdoctor_checks.speculation import quantized

BREAK_EVEN = 1.0
HIGH = 0.85
"""Acceptance from which on shorter drafts save next to nothing."""
PROMPTS = 0.6
"""Share of the prompt speed below which long prompts are felt; a busy machine leaves more."""


@check(
    "no-speed-up",
    "drafting does not make it faster",
    after=["draft-not-used"],
)
def no_speed_up(run: SmokeRun, launch: Launch | None, server: Server | None) -> Iterator[Finding]:
    stated = run.min_speedup
    if stated is None and (run.plain is None or run.mtp is None):
        raise NotApplicable("both arms did not run")
    if run.plain is not None and run.mtp is not None:
        yield from _prompts(run.plain, run.mtp)
    speedup = known(run.speedup)
    floor = BREAK_EVEN if stated is None else stated
    if speedup >= floor:
        return
    wanted = f"; {floor:.2f} is wanted" if stated is not None else ""
    slower = "slower than without" if speedup < BREAK_EVEN else "faster, but not enough"
    why, advice = _cost(run, launch)
    yield Finding(
        says=(
            f"with drafting it runs at {speedup:.2f} times the speed of without{wanted}\n"
            f"Drafting is {slower}: {why}."
        ),
        severity=Severity.WARNING if stated is None else Severity.ERROR,
        about="speed-up",
        evidence=tuple(
            Evidence(f"{name}: {arm.tokens_per_second:.1f} tokens per second")
            for name, arm in (("plain", run.plain), ("mtp", run.mtp))
            if arm is not None and not isinstance(arm.tokens_per_second, Unknown)
        )
        or (Evidence(f"speed-up {speedup:.2f}"),),
        fixes=(
            *_cache(launch, server),
            Advice(advice),
        ),
    )


def _cost(run: SmokeRun, launch: Launch | None) -> tuple[str, str]:
    """Return why drafting does not pay, and what may help."""
    depth = draft_n_max(launch) if launch is not None else None
    if not isinstance(run.acceptance, Unknown) and run.acceptance >= HIGH:
        return (
            "the drafts are good, but making them costs too much beside this target",
            "take a smaller or a quantized drafter, put it on the GPU, or run without drafting",
        )
    if depth is not None and depth <= 1:
        return (
            "too few of its drafts are accepted, and they are as short as can be",
            "take a drafter that was made for this very target, or run without drafting",
        )
    shorter = "1" if depth == 2 else "1 or 2"
    return (
        "a smaller --spec-draft-n-max wastes less on refused drafts",
        f"try --spec-draft-n-max {shorter}, or run without drafting",
    )


def _prompts(plain: Arm, mtp: Arm) -> Iterator[Finding]:
    """Find that prompts are read much more slowly, which no drafted token makes up for."""
    before, with_ = plain.prompt_tokens_per_second, mtp.prompt_tokens_per_second
    if isinstance(before, Unknown) or isinstance(with_, Unknown):
        return
    if before <= 0 or with_ >= PROMPTS * before:
        return
    yield Finding(
        says=(
            f"with drafting, prompts are read at {with_ / before:.2f} times the speed of without\n"
            "The drafter has to read them too. Long prompts with short answers lose by it."
        ),
        severity=Severity.WARNING,
        about="prompt speed",
        evidence=(
            Evidence(f"plain: {before:.0f} prompt tokens per second"),
            Evidence(f"mtp: {with_:.0f} prompt tokens per second"),
        ),
        fixes=(Advice("keep the model on one GPU if it fits (-sm none), or accept it"),),
    )


def _cache(launch: Launch | None, server: Server | None) -> Iterator[Fix]:
    """Yield the flags of a quantized cache, which Metal is slow with."""
    backends = server.backends if server is not None else Unknown()
    if launch is None or isinstance(backends, Unknown) or "metal" not in backends:
        return
    for flag in ("--cache-type-k", "--cache-type-v"):
        value = launch.value(flag)
        if value is not None and quantized(value):
            yield DropFlag(flag)
