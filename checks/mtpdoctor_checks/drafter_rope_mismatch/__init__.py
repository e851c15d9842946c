"""Whether the drafter counts positions as the target does."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Finding, Severity, Target, check
from mtpdoctor.gguf import Header
from mtpdoctor_checks.pair import NOT_A_PAIR, gemma4_pair, its_drafter, name, shown, stated

_DEFAULTS: dict[str, object] = {
    "rope.freq_base": 10000.0,
    "rope.freq_base_swa": 10000.0,
    "rope.dimension_count": "attention.key_length",
    "rope.dimension_count_swa": None,
    "rope.scaling.type": "none",
    "rope.scaling.factor": 1.0,
}
"""What llama.cpp takes where a key is missing: a value, or that of another key."""

_NEAR = 2.0
"""Factor between two bases; a pair of acceptance 1 kept 0.5 to 1 of it, and lost all at 10."""


@check(
    "drafter-rope-mismatch",
    "the drafter's rotary position embedding is not the target's",
    after=[*NOT_A_PAIR, "malformed-header", "drafter-width-mismatch", "drafter-head-mismatch"],
)
def drafter_rope_mismatch(target: Target, drafter: Drafter) -> Iterator[Finding]:
    ours, theirs = gemma4_pair(target, drafter)
    for key in _DEFAULTS:
        wanted, mine = _value(ours, key), _value(theirs, key)
        if mine == wanted or mine is None or wanted is None:
            continue
        near = _near(key, mine, wanted)
        few = "fewer drafts are" if near else "next to no draft is"
        yield Finding(
            says=(
                f"{name(drafter)} was made with {key} = {shown(mine)}, {name(target)} with "
                f"{shown(wanted)}\nThe drafter misreads the positions in the target's KV cache: "
                f"llama-server serves,\nbut {few} accepted."
            ),
            severity=Severity.WARNING if near else Severity.ERROR,
            about=key,
            evidence=(stated(target, key, wanted), stated(drafter, key, mine)),
            fixes=its_drafter(target),
        )


def _near(key: str, mine: object, wanted: object) -> bool:
    """Whether two bases are so close that drafts are still accepted, if fewer than could be."""
    if not key.startswith("rope.freq_base"):
        return False
    if not isinstance(mine, float) or not isinstance(wanted, float) or min(mine, wanted) <= 0:
        return False
    return max(mine, wanted) / min(mine, wanted) <= _NEAR


def _value(header: Header, key: str) -> object:
    value: object = header.get(key)
    if value is None:
        value = _DEFAULTS[key]
    if isinstance(value, str) and "." in value:
        value = header.get(value)
    return 1.0 if key == "rope.scaling.factor" and value == 0 else value
