"""What a smoke run measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mtpdoctor.facts.known import Unknown

_not_run = Unknown("not measured")
_SHOWN = 8
"""Lines of a log that a person is shown."""
ArmName = Literal["plain", "mtp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """How a server ended, or why it never became ready."""

    signal: str = ""
    """``SIGABRT``; empty when it exited by itself."""
    exit_code: int | None = None
    """``None`` when it was still running (a timeout, a refused request)."""
    request: str = ""
    """The request during which it happened; empty while starting."""
    cause: str = ""
    """The decisive line in words; empty when nothing known was found in the log."""
    signature: str = ""
    """Id of the knowledge entry that recognised it."""
    check: str = ""
    """Id of the check that explains it; empty when none does."""
    advice: str = ""
    """What to do about it, in words; empty when nothing is known to help."""
    error: str = ""
    """The line of the log that decided, or the first that tells of an error."""
    log_tail: tuple[str, ...] = ()
    timed_out: bool = False

    @property
    def excerpt(self) -> tuple[str, ...]:
        """The lines to show: from the decisive one on if the last ones do not hold it."""
        last = self.log_tail[-_SHOWN:]
        if self.error in last or self.error not in self.log_tail:
            return last
        at = self.log_tail.index(self.error)
        return self.log_tail[at : at + _SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One server, with or without drafting, over all its rounds."""

    ready_seconds: float
    tokens_per_second: float | Unknown = _not_run
    """Median generation speed of the single-slot requests."""
    prompt_tokens_per_second: float | Unknown = _not_run
    predicted: int = 0
    """Tokens of the single-slot requests; ``drafted`` and ``accepted`` are of the same."""
    drafted: int = 0
    accepted: int = 0
    requests: tuple[str, ...] = ()
    """Names of the requests that were answered."""
    short: tuple[str, ...] = ()
    """Those of them whose answer ended before as many tokens as were asked for."""
    left_out: tuple[str, ...] = ()
    """Names of requests that this server has too few slots or too small a KV cache for."""
    complaint: str = ""
    """What its log complains of although it served, in words; empty when it does not."""
    signature: str = ""
    """Id of the knowledge entry that recognised the complaint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One start of a server."""

    argv: tuple[str, ...]
    """As run, API key masked."""
    arm: ArmName
    outcome: Literal["answered", "crashed", "refused", "timeout", "cancelled"]
    request: str = ""
    crash: Crash | None = None
    corrected: bool = False
    """Whether fixes were applied to what the user gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Whether both arms gave the same tokens."""

    equal: bool
    first_difference: int | None = None
    """Index of the first generated token that differs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRun:
    """Both arms, and what can be said of them together."""

    plain: Arm | None = None
    mtp: Arm | None = None
    acceptance: float | Unknown = _not_run
    """Accepted over drafted tokens, single-slot free generation alone."""
    mean_accepted_length: float | Unknown = _not_run
    """Tokens gained by one pass of the target, its own included."""
    speedup: float | Unknown = _not_run
    """Generation speed with drafting over without."""
    parity: Parity | Unknown = _not_run
    attempts: tuple[Attempt, ...] = ()
    min_acceptance: float | None = None
    """The threshold that the user stated."""
    min_speedup: float | None = None
    proved: bool = False
    """Whether the command ran, drafted and answered every request."""

    @property
    def crash(self) -> Crash | None:
        """The crash of the command as it stands at the end, drafting first; none if it ran."""
        if self.proved:
            return None
        crashes = [attempt for attempt in self.attempts if attempt.crash is not None]
        drafting = [attempt for attempt in crashes if attempt.arm == "mtp"] or crashes
        return drafting[-1].crash if drafting else None

    @property
    def failed_without_drafting(self) -> Attempt | None:
        """The last attempt of the plain arm that failed, whatever became of the other arm."""
        failed = [each for each in self.attempts if each.arm == "plain" and each.crash is not None]
        return failed[-1] if failed else None
