"""From the answers of both arms to the figures of a smoke run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from mtpdoctor.facts import Arm, ArmName, Attempt, Parity, SmokeRun, Unknown
from mtpdoctor.smoke.client import Refused
from mtpdoctor.smoke.plan import Ask, Settings

_FEWEST = 16
"""Tokens below which a speed says nothing."""
_MOST = 10**9
"""Of anything in the timings; what is above was not measured."""
_LENGTH = re.compile(
    r"\(\s*(\d{1,9}) accepted /\s*(\d{1,9}) generated\), mean len =\s*(\d{1,4}\.\d{1,6})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the server's own timings say of one answer."""

    request: str
    free: bool
    predicted: int
    tokens_per_second: float
    prompt: int
    """Prompt tokens that were evaluated, those from the cache not counted."""
    prompt_tokens_per_second: float
    drafted: int
    accepted: int
    seconds: float
    """Of generation."""
    tokens: tuple[int, ...]
    short: bool
    """Fewer tokens than were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One server from start to stop."""

    arm: ArmName
    ready_seconds: float
    samples: tuple[Sample, ...]
    left_out: tuple[str, ...]
    log: tuple[str, ...]
    """Its lines, for the mean length that it prints."""
    complaint: str = ""
    signature: str = ""
    """What its log complains of, and which entry of the knowledge says so."""


def sample(ask: Ask, answer: dict[str, Any]) -> Sample:
    """Read *answer*; :exc:`~mtpdoctor.smoke.client.Refused` where it is no completion."""
    timings, tokens = answer.get("timings"), answer.get("tokens", [])
    if not isinstance(timings, dict):
        raise Refused("/completion answered without timings")
    predicted = _count(timings, "predicted_n")
    if predicted == 0:
        raise Refused("/completion answered, but generated no token")
    drafted, accepted = _count(timings, "draft_n"), _count(timings, "draft_n_accepted")
    if accepted > drafted:
        raise Refused(f"/completion counts {accepted} accepted tokens of {drafted} drafted")
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        tokens = []
    return Sample(
        request=ask.name,
        free=ask.free,
        predicted=predicted,
        tokens_per_second=_number(timings, "predicted_per_second"),
        prompt=_count(timings, "prompt_n"),
        prompt_tokens_per_second=_number(timings, "prompt_per_second"),
        drafted=drafted,
        accepted=accepted,
        seconds=_number(timings, "predicted_ms") / 1000,
        tokens=tuple(tokens),
        short=predicted < ask.predict,
    )


def _count(timings: dict[str, Any], key: str) -> int:
    value = timings.get(key, 0)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise Refused(f"/completion answered with {key} = {str(value)[:40]!r}")
    return value


def _number(timings: dict[str, Any], key: str) -> float:
    """Return a number of the timings; 0 for one that was not measured (``null``, absent)."""
    value = timings.get(key)
    if value is None:
        return 0.0
    if type(value) not in {int, float} or not 0 <= value <= _MOST:
        raise Refused(f"/completion answered with {key} = {str(value)[:40]!r}")
    return float(value)


def summary(rounds: Sequence[Round], attempts: tuple[Attempt, ...], settings: Settings) -> SmokeRun:
    """Return what *rounds* measured; ``proved`` by every attempt of the drafting arm."""
    plain, mtp = ([round_ for round_ in rounds if round_.arm == name] for name in ("plain", "mtp"))
    plain_arm, mtp_arm = _arm(plain), _arm(mtp)
    drafting = [attempt for attempt in attempts if attempt.arm == "mtp"]
    return SmokeRun(
        plain=plain_arm,
        mtp=mtp_arm,
        acceptance=_acceptance(mtp_arm),
        mean_accepted_length=_mean_length(mtp),
        speedup=_speedup(plain_arm, mtp_arm),
        parity=_parity(plain, mtp),
        attempts=attempts,
        min_acceptance=settings.min_acceptance,
        min_speedup=settings.min_speedup,
        proved=(
            bool(drafting)
            and all(attempt.outcome == "answered" for attempt in drafting)
            and any(each.drafted > 0 for round_ in mtp for each in round_.samples)
        ),
    )


def _free(rounds: Iterable[Round]) -> Iterator[Sample]:
    return (each for round_ in rounds for each in round_.samples if each.free)


def _arm(rounds: Sequence[Round]) -> Arm | None:
    if not rounds:
        return None
    free = list(_free(rounds))
    every = [each for round_ in rounds for each in round_.samples]
    speeds = [each.tokens_per_second for each in free if each.predicted >= _FEWEST]
    longest = max((each.prompt for each in every), default=0)
    prompts = [
        each.prompt_tokens_per_second
        for each in every
        if each.prompt == longest and each.prompt_tokens_per_second > 0
    ]
    too_short = Unknown(f"no answer was as long as {_FEWEST} tokens")
    return Arm(
        ready_seconds=median(round_.ready_seconds for round_ in rounds),
        tokens_per_second=median(speeds) if speeds and median(speeds) > 0 else too_short,
        prompt_tokens_per_second=median(prompts) if prompts else Unknown("not measured"),
        predicted=sum(each.predicted for each in free),
        drafted=sum(each.drafted for each in free),
        accepted=sum(each.accepted for each in free),
        requests=tuple(each.request for each in every),
        short=tuple(dict.fromkeys(each.request for each in every if each.short)),
        left_out=tuple(dict.fromkeys(name for round_ in rounds for name in round_.left_out)),
        complaint=next((each.complaint for each in rounds if each.complaint), ""),
        signature=next((each.signature for each in rounds if each.signature), ""),
    )


def _acceptance(mtp: Arm | None) -> float | Unknown:
    if mtp is None:
        return Unknown("the server did not run with drafting")
    if not mtp.drafted:
        return Unknown("nothing was drafted")
    return mtp.accepted / mtp.drafted


def _mean_length(rounds: Sequence[Round]) -> float | Unknown:
    """Return ``mean len`` as llama.cpp prints it: 1 + accepted tokens a draft.

    The timings do not say how many drafts there were. The log does, for each pair of counts; where
    it does not, every pass of the target after the first token counts as one, which errs by the
    few passes that nothing was drafted for.
    """
    drafts, accepted = 0.0, 0
    for round_ in rounds:
        printed = _printed_lengths(round_.log)
        for each in _free((round_,)):
            if not each.drafted:
                continue
            mean = printed.get((each.accepted, each.drafted), 0.0)
            passes = max(1, each.predicted - 1 - each.accepted)
            drafts += each.accepted / (mean - 1) if mean > 1 and each.accepted else passes
            accepted += each.accepted
    return 1 + accepted / drafts if drafts else Unknown("nothing was drafted")


def _printed_lengths(log: Iterable[str]) -> dict[tuple[int, int], float]:
    """Return the mean length that was printed for each (accepted, drafted)."""
    matches = filter(None, map(_LENGTH.search, log))
    return {(int(match[1]), int(match[2])): float(match[3]) for match in matches}


def _speedup(plain: Arm | None, mtp: Arm | None) -> float | Unknown:
    if plain is None or mtp is None:
        return Unknown("one of the two arms did not answer")
    if plain.drafted:
        return Unknown("the arm without drafting drafted too")
    slow, fast = plain.tokens_per_second, mtp.tokens_per_second
    if isinstance(slow, Unknown):
        return slow
    if isinstance(fast, Unknown):
        return fast
    return fast / slow


def _parity(plain: Sequence[Round], mtp: Sequence[Round]) -> Parity | Unknown:
    """Compare the n-th answer to each free request in one arm with that in the other."""
    ours, theirs = _answers(plain), _answers(mtp)
    both = [(ours[key], theirs[key]) for key in ours if key in theirs]
    if not both:
        return Unknown("one of the two arms did not answer")
    if not all(left and right for left, right in both):
        return Unknown("the server does not say which tokens it generated")
    different = [pair for pair in both if pair[0] != pair[1]]
    if not different:
        return Parity(equal=True)
    left, right = different[0]
    first = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    shorter = min(len(left), len(right))
    return Parity(equal=False, first_difference=shorter if first is None else first)


def _answers(rounds: Sequence[Round]) -> dict[tuple[str, int], tuple[int, ...]]:
    seen: Counter[str] = Counter()
    found = {}
    for each in _free(rounds):
        found[each.request, seen[each.request]] = each.tokens
        seen[each.request] += 1
    return found
