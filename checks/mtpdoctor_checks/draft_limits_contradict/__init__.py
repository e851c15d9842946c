"""Whether the limits on drafting leave anything to draft."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    DropFlag,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    Server,
    SetFlag,
    Undetermined,
    Unknown,
    check,
)
from mtpdoctor_checks import capability
from mtpdoctor_checks.speculation import need_mtp

_N_MAX, _N_MIN, _P_MIN = "--spec-draft-n-max", "--spec-draft-n-min", "--spec-draft-p-min"
_DEFAULT, _EARLIER_DEFAULT = 3, 16


@check("draft-limits-contradict", "the limits on drafting leave nothing to draft")
def draft_limits_contradict(
    launch: Launch, server: Server | None, knowledge: Knowledge
) -> Iterator[Finding]:
    need_mtp(launch)
    p_min = _number(launch.value(_P_MIN))
    if p_min is not None and p_min >= 1:
        yield _finding(
            _P_MIN,
            f"{_P_MIN} {launch.value(_P_MIN)} asks for drafts that are certain, and none ever is",
        )
    yield from _nothing_at_all(launch)
    n_min = _number(launch.value(_N_MIN))
    if n_min is None or n_min <= 1:
        return
    n_max = _number(launch.value(_N_MAX))
    stated = f"{_N_MAX} {launch.value(_N_MAX)}"
    if n_max is None:
        n_max = _default(server, knowledge, n_min)
        stated = f"{_N_MAX}, which is {n_max:g} by default"
    if n_min > max(n_max, 1):  # 0 drafts one token all the same
        yield _finding(_N_MIN, f"{_N_MIN} {launch.value(_N_MIN)} is more than {stated}")


def _nothing_at_all(launch: Launch) -> Iterator[Finding]:
    """Find an n-max below 1: several slots draft one token all the same, a single one aborts."""
    n_max = _number(launch.value(_N_MAX))
    if n_max is None or n_max >= 1 or launch.value("--parallel") != "1":
        return
    yield Finding(
        says=(
            f"{_N_MAX} {launch.value(_N_MAX)} asks for drafts of no tokens\n"
            "With one slot llama-server aborts at the first request."
        ),
        about=_N_MAX,
        evidence=(Evidence(f"{_N_MAX} {launch.value(_N_MAX)}, --parallel 1"),),
        fixes=(SetFlag(_N_MAX, "1"),),
    )


def _finding(flag: str, says: str) -> Finding:
    return Finding(
        says=f"{says}\nllama-server throws every draft away, and does not say so.",
        about=flag,
        evidence=(Evidence(says),),
        fixes=(DropFlag(flag),),
    )


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _default(server: Server | None, knowledge: Knowledge, n_min: float) -> float:
    """Return n-max where the command does not set it, as far as it matters for *n_min*."""
    if n_min <= _DEFAULT or n_min > _EARLIER_DEFAULT:
        return _DEFAULT
    feature = knowledge.named("draft-n-max-default-3")
    lower = Unknown("no server") if server is None else capability.has(server, feature, knowledge)
    if isinstance(lower, Unknown):
        raise Undetermined(f"the default of {_N_MAX}: {lower.reason}")
    return _DEFAULT if lower else _EARLIER_DEFAULT
