"""Whether llama-server takes the values that the command gives its flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from mtpdoctor import (
    Advice,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Launch,
    SetFlag,
    Undetermined,
    check,
)
from mtpdoctor.facts import Flag, Option
from mtpdoctor.launch import Refusal, refusals, whole_number
from mtpdoctor.launch.values import SLOT
from mtpdoctor.visible import visible
from mtpdoctor_checks.speculation import SPEC_TYPE

_SLOTS = "--parallel"


@check(
    "flag-value-refused",
    "a flag has a value that llama-server does not take, or none",
    after=["server-not-found", "server-does-not-run"],
)
def flag_value_refused(launch: Launch) -> Iterator[Finding]:
    for refusal in refusals(launch):
        option = refusal.option
        if refusal.kind not in {"bad-value", "missing-value"} or option is None:
            continue
        if option.flag is not None and SPEC_TYPE in option.flag.names and option.values:
            continue  # spec-type-unknown knows more
        if option.flag is not None and _SLOTS in option.flag.names and refusal.wanted == SLOT:
            continue  # below, also for a server that was not asked
        yield _finding(launch, refusal, option)
    if whole_number(launch.value(_SLOTS) or "") == 0:
        yield Finding(
            says=f"llama-server does not take 0 for {_SLOTS}: at least one slot has to answer",
            about=_SLOTS,
            evidence=(Evidence(f"the command: {_SLOTS} {launch.value(_SLOTS)}"),),
            fixes=(DropFlag(_SLOTS),),
        )
    if not launch.table.asked:
        raise Undetermined("what this llama-server takes: its --help could not be read")


def _finding(launch: Launch, refusal: Refusal, option: Option) -> Finding:
    takes, listed = (sorted(option.flag.values), _listed(option.flag)) if option.flag else ([], [])
    if option.value is None:
        says = f"{refusal.word} has no value, and llama-server wants one"
    else:
        says = f"llama-server does not take {visible(option.value, 80)!r} for {refusal.word}"
    if listed:
        says += f"\nIt takes {', '.join(listed)}."
    elif refusal.wanted:
        says += f"\nIt wants {refusal.wanted}."
    return Finding(
        says=says,
        about=refusal.word,
        evidence=tuple(_evidence(launch, refusal, option, listed)),
        fixes=(_fix(launch, refusal, option, takes),),
    )


def _evidence(
    launch: Launch, refusal: Refusal, option: Option, listed: list[str]
) -> Iterator[Evidence]:
    wanted = ", ".join(listed) or (option.flag.placeholder if option.flag else "")
    yield Evidence(f"{launch.table.source}: {refusal.word} takes {wanted or 'a value'}")
    more = sorted(option.flag.values - set(listed)) if option.flag else []
    if more:
        yield Evidence(f"measured: it also takes {', '.join(more)}, and nothing else")
    if refusal.wanted:
        yield Evidence(f"measured on b10434: it stops unless {refusal.word} is {refusal.wanted}")


def _listed(flag: Flag) -> list[str]:
    """Return the values that the help itself names; it is silent on ``1`` for ``on``."""
    stated = re.findall(r"[\w.+-]+", flag.placeholder)
    return [value for value in stated if value in flag.values] or sorted(flag.values)


def _fix(launch: Launch, refusal: Refusal, option: Option, takes: list[str]) -> Fix:
    following = launch.words[option.at + 1 : option.at + 2] if option.at >= 0 else ()
    if takes and following and launch.table.find(following[0]) is not None:
        wanted = "on" if "on" in takes else takes[0]
        written = f"{refusal.word} {wanted} {following[0]}"
        return Advice(f"it takes {following[0]} for its value: write {written}")
    near = get_close_matches((option.value or "").lower(), takes, n=1)
    if near and not option.env:
        return SetFlag(option.spelled, near[0])
    return Advice(f"give {refusal.word} {refusal.wanted or 'a value that it takes'}")
