"""Whether llama-server takes the values that the command gives its flags."""

from __future__ import annotations

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
from mtpdoctor.facts import Option
from mtpdoctor.launch import Refusal, refusals, whole_number
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
    takes = sorted(option.flag.values) if option.flag is not None else []
    if option.value is None:
        says = f"{refusal.word} has no value, and llama-server wants one"
    else:
        says = f"llama-server does not take {option.value!r} for {refusal.word}"
    if takes:
        says += f"\nIt takes {', '.join(takes)}."
    return Finding(
        says=says,
        about=refusal.word,
        evidence=(Evidence(f"{launch.table.source}: {refusal.word} takes {_wanted(option)}"),),
        fixes=(_fix(launch, refusal, option, takes),),
    )


def _wanted(option: Option) -> str:
    if option.flag is None:
        return "a value"
    return ", ".join(sorted(option.flag.values)) or option.flag.placeholder or "a value"


def _fix(launch: Launch, refusal: Refusal, option: Option, takes: list[str]) -> Fix:
    following = launch.words[option.at + 1 : option.at + 2] if option.at >= 0 else ()
    if takes and following and launch.table.find(following[0]) is not None:
        wanted = "on" if "on" in takes else takes[0]
        written = f"{refusal.word} {wanted} {following[0]}"
        return Advice(f"it takes {following[0]} for its value: write {written}")
    near = get_close_matches((option.value or "").lower(), takes, n=1)
    if near and not option.env:
        return SetFlag(option.spelled, near[0])
    return Advice(f"give {refusal.word} a value that it takes")
