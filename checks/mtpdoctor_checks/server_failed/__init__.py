"""Whether llama-server came up and answered every request of the smoke run."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Evidence,
    Finding,
    Launch,
    NotApplicable,
    Server,
    Severity,
    SmokeRun,
    Undetermined,
    Unknown,
    check,
)
from mtpdoctor.facts import Attempt, Crash
from mtpdoctor.launch import speculative_types
from mtpdoctor.visible import visible
from mtpdoctor_checks.capability import LLAMA_CPP
from mtpdoctor_checks.speculation import SPEC_TYPE

_EXPLAINED = (
    "build-too-old",
    "target-arch-unknown",
    "drafter-arch-unknown",
    "removed-flag",
    "unknown-flag",
    "flag-value-refused",
    "device-not-found",
    "spec-type-unknown",
    "file-not-found",
    "not-a-gguf",
    "file-truncated",
    "roles-swapped",
    "no-mtp-head",
    "drafter-of-another-family",
    "drafter-width-mismatch",
    "drafter-head-mismatch",
    "attention-pattern-mismatch",
    "vocab-mismatch",
    "ordered-embeddings-drafter",
    "quantized-v-without-flash-attention",
    "flash-attention-abort",
    "out-of-memory",
)
"""Checks whose finding explains a crash better, and is an error wherever they find."""

_KINDS = frozenset({"draft-mtp", "draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark"})
_RARE = (
    "--split-mode",
    "--cache-type-k",
    "--cache-type-v",
    "--cache-type-k-draft",
    "--cache-type-v-draft",
    "--spec-draft-device",
    "--mmproj",
    "--parallel",
    "--n-cpu-moe",
)
_USUAL = frozenset({"layer", "f16", "1"})


@check("server-failed", "llama-server failed while it was run", after=_EXPLAINED)
def server_failed(run: SmokeRun, launch: Launch | None, server: Server | None) -> Iterator[Finding]:
    crash = run.crash
    if crash is None:
        yield from _without_drafting(run, launch, server)
        if not run.proved and any(attempt.outcome == "cancelled" for attempt in run.attempts):
            raise Undetermined("the smoke run was cancelled")
        return
    if crash.signal == "SIGILL":
        raise NotApplicable("it died of SIGILL: see cpu-features-missing")
    attempt = next(each for each in reversed(run.attempts) if each.crash is crash)
    yield Finding(
        says=f"{_end(crash)}{_moment(attempt)}\n{crash.cause or 'Its log does not say why.'}",
        about="drafting" if attempt.arm == "mtp" else "without drafting",
        evidence=_log(crash),
        fixes=tuple(_fixes(crash, launch, server)),
    )


def _without_drafting(
    run: SmokeRun, launch: Launch | None, server: Server | None
) -> Iterator[Finding]:
    """Find that the command works with drafting alone: there is nothing to compare it with."""
    attempt = run.failed_without_drafting
    if attempt is None or attempt.crash is None:
        return
    yield Finding(
        says=(
            f"{_end(attempt.crash)}{_moment(attempt)}; with drafting it answered\n"
            f"{attempt.crash.cause or 'Its log does not say why.'}\n"
            "So nothing is known of the speed-up, nor of whether the answers stay the same."
        ),
        severity=Severity.WARNING,
        about="without drafting",
        evidence=_log(attempt.crash),
        fixes=tuple(_fixes(attempt.crash, launch, server)),
    )


def _log(crash: Crash) -> tuple[Evidence, ...]:
    return tuple(Evidence(line) for line in crash.excerpt) or (Evidence(_end(crash)),)


def _end(crash: Crash) -> str:
    if crash.timed_out:
        return "llama-server did not answer in time"
    if crash.signal:
        return f"llama-server died of {crash.signal}"
    if crash.exit_code is not None:
        return f"llama-server ended with exit code {crash.exit_code}"
    return "llama-server refused a request"


def _moment(attempt: Attempt) -> str:
    assert attempt.crash is not None
    what = "with drafting" if attempt.arm == "mtp" else "without drafting"
    when = f"at the request {attempt.crash.request!r}" if attempt.crash.request else "at its start"
    return f", {what}, {when}"


def _fixes(crash: Crash, launch: Launch | None, server: Server | None) -> Iterator[Advice]:
    """Yield what may help, the surest first."""
    if crash.timed_out and not crash.signature:
        yield Advice("give it more time with a longer --timeout, if it was still at work")
    if crash.advice:
        yield Advice(crash.advice)
    if crash.check:
        yield Advice(f"read what it means: mtpdoctor explain {crash.check}")
    program = server.program if server is not None else Unknown()
    if not isinstance(program, Unknown) and program != LLAMA_CPP:
        yield Advice(f"try the same with llama.cpp itself: {visible(program)} is not it")
    if crash.signature:
        return
    risky = list(_risky(launch)) if launch is not None else []
    if risky:
        yield Advice(f"try it without {', '.join(risky)}, then with one after the other")
    yield Advice(
        "try a newer build of llama.cpp, then report it with the lines of the log, "
        "if nothing in them explains it"
    )


def _risky(launch: Launch) -> Iterator[str]:
    """Yield what the command asks for beside drafting that is rarely tried together with it."""
    yield from (
        f"{SPEC_TYPE} {each}"
        for each in speculative_types(launch)
        if each.startswith("draft-") and each not in _KINDS
    )
    for flag in _RARE:
        uses = launch.uses(flag)
        if uses and uses[-1].value not in _USUAL:
            yield uses[-1].spelled
