"""Whether the drafter counts positions as the target does."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Finding, Target, Undetermined, check
from mtpdoctor.gguf import Header
from mtpdoctor_checks.pair import NOT_A_PAIR, gemma4_pair, its_drafter, name, shown, stated

_ALWAYS = (
    "rope.freq_base",
    "rope.freq_base_swa",
    "rope.dimension_count",
    "rope.dimension_count_swa",
)
_DEFAULTS: dict[str, object] = {"rope.scaling.type": "none", "rope.scaling.factor": 1.0}


@check(
    "drafter-rope-mismatch",
    "the drafter's rotary position embedding is not the target's",
    after=[*NOT_A_PAIR, "drafter-width-mismatch", "drafter-head-mismatch"],
)
def drafter_rope_mismatch(target: Target, drafter: Drafter) -> Iterator[Finding]:
    ours, theirs = gemma4_pair(target, drafter)
    open_keys = []
    for key in (*_ALWAYS, *_DEFAULTS):
        wanted, mine = _value(ours, key), _value(theirs, key)
        if mine == wanted:
            continue
        if mine is None or wanted is None:
            open_keys.append(key)
            continue
        yield Finding(
            says=(
                f"{name(drafter)} was made with {key} = {shown(mine)}, {name(target)} with "
                f"{shown(wanted)}\nThe drafter misreads the positions in the target's KV cache: "
                "llama-server serves,\nbut next to no draft is accepted."
            ),
            about=key,
            evidence=(stated(target, key, wanted), stated(drafter, key, mine)),
            fixes=its_drafter(target),
        )
    if open_keys:
        raise Undetermined(f"only one of the two files states {', '.join(open_keys)}")


def _value(header: Header, key: str) -> object:
    value = header.get(key)
    if key == "rope.scaling.factor" and value == 0:
        return 1.0
    return _DEFAULTS.get(key) if value is None else value
