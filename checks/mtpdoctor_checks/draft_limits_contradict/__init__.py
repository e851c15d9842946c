"""Whether the limits on drafting leave anything to draft."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    DropFlag,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor.launch import MTP, real_number, whole_number
from mtpdoctor.visible import visible
from mtpdoctor_checks import capability
from mtpdoctor_checks.speculation import SPEC_TYPE, will_draft

_N_MAX, _N_MIN, _P_MIN = "--spec-draft-n-max", "--spec-draft-n-min", "--spec-draft-p-min"
_SLOTS, _CONTEXT, _BATCH = "--parallel", "--ctx-size", "--batch-size"
_DEFAULT, _EARLIER_DEFAULT = 3, 16


@check("draft-limits-contradict", "the limits on drafting leave nothing to draft")
def draft_limits_contradict(
    launch: Launch, server: Server | None, drafter: Drafter | None, knowledge: Knowledge
) -> Iterator[Finding]:
    drafts = will_draft(launch, server, drafter, knowledge)
    if drafts is False:
        raise NotApplicable(f"the command does not ask for {SPEC_TYPE} {MTP}")
    for finding in _contradictions(launch, server, knowledge):
        known(drafts)
        yield finding


def _contradictions(
    launch: Launch, server: Server | None, knowledge: Knowledge
) -> Iterator[Finding]:
    p_min = _real(launch, _P_MIN)
    if p_min is not None and p_min >= 1:
        yield _finding(
            _P_MIN,
            f"{_stated(launch, _P_MIN, p_min)} asks for drafts that are certain, and none ever is",
        )
    yield from _nothing_at_all(launch)
    yield from _no_room(launch, server, knowledge)
    n_min = _whole(launch, _N_MIN)
    if n_min is not None and n_min < 0:
        yield _finding(_N_MIN, f"{_stated(launch, _N_MIN, n_min)} asks for more than there can be")
    if n_min is None or n_min <= 1:
        return
    n_max = _whole(launch, _N_MAX)
    if n_max is None:
        n_max = _default(server, knowledge, n_min)
        most = f"{_N_MAX}, which is {n_max} by default"
    else:
        most = _stated(launch, _N_MAX, n_max)
    if n_min > max(n_max, 1):  # 0 drafts one token all the same
        yield _finding(_N_MIN, f"{_stated(launch, _N_MIN, n_min)} is more than {most}")


def _nothing_at_all(launch: Launch) -> Iterator[Finding]:
    """Find an n-max below 1: several slots draft one token all the same, a single one aborts."""
    n_max = _whole(launch, _N_MAX)
    if n_max is None or n_max >= 1 or _whole(launch, _SLOTS) != 1:
        return
    stated = _stated(launch, _N_MAX, n_max)
    yield Finding(
        says=(
            f"{stated} asks for drafts of no tokens\n"
            "With one slot llama-server aborts at the first request."
        ),
        about=_N_MAX,
        evidence=(Evidence(f"{stated}, {_stated(launch, _SLOTS, 1)}"),),
        fixes=(SetFlag(_N_MAX, "1"),),
    )


def _no_room(launch: Launch, server: Server | None, knowledge: Knowledge) -> Iterator[Finding]:
    """Find a context or a batch that does not hold one token and its drafts: a server aborts."""
    n_max = _whole(launch, _N_MAX)
    for flag in (_CONTEXT, _BATCH):
        room = _whole(launch, flag)
        if room is None or room <= 0 or room > _EARLIER_DEFAULT:
            continue
        drafts = _default(server, knowledge, room) if n_max is None else n_max
        if room <= drafts:
            stated = _stated(launch, flag, room)
            yield Finding(
                says=(
                    f"{stated} has no room for a token and its {drafts} drafts\n"
                    "llama-server aborts."
                ),
                about=flag,
                evidence=(Evidence(f"{stated}; {drafts} drafts at a time"),),
                fixes=(DropFlag(flag),),
            )


def _finding(flag: str, says: str) -> Finding:
    return Finding(
        says=f"{says}\nllama-server throws every draft away, and does not say so.",
        about=flag,
        evidence=(Evidence(says),),
        fixes=(DropFlag(flag),),
    )


def _whole(launch: Launch, flag: str) -> int | None:
    value = launch.value(flag)
    return None if value is None else whole_number(value)


def _real(launch: Launch, flag: str) -> float | None:
    value = launch.value(flag)
    return None if value is None else real_number(value)


def _stated(launch: Launch, flag: str, read: float) -> str:
    """Return what the command says, and what the server reads of it where that is less."""
    value = launch.value(flag) or ""
    try:
        as_meant = float(value) == read
    except ValueError:
        as_meant = False
    return f"{flag} {value}" if as_meant else f"{flag} {visible(value, 40)} (read as {read:g})"


def _default(server: Server | None, knowledge: Knowledge, n_min: int) -> int:
    """Return n-max where the command does not set it, as far as it matters for *n_min*."""
    if n_min <= _DEFAULT or n_min > _EARLIER_DEFAULT:
        return _DEFAULT
    feature = knowledge.named("draft-n-max-default-3")
    lower = Unknown("no server") if server is None else capability.has(server, feature, knowledge)
    if isinstance(lower, Unknown):
        raise Undetermined(f"the default of {_N_MAX}: {lower.reason}")
    return _DEFAULT if lower else _EARLIER_DEFAULT
