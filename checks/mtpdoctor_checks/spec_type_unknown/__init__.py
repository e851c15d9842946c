"""Whether llama-server knows every kind of drafting that the command asks for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from mtpdoctor import (
    Advice,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    check,
    cited,
    known,
)
from mtpdoctor.launch import MTP, speculative_types
from mtpdoctor.visible import visible
from mtpdoctor_checks.pair import program
from mtpdoctor_checks.speculation import SPEC_TYPE


@check(
    "spec-type-unknown",
    "llama-server does not know the kind of drafting that is asked for",
    after=["server-not-found", "server-does-not-run", "build-too-old"],
)
def spec_type_unknown(server: Server, launch: Launch, knowledge: Knowledge) -> Iterator[Finding]:
    asked = speculative_types(launch)
    yield from _gaps(launch)
    if not asked:
        raise NotApplicable(f"the command has no {SPEC_TYPE}")
    other_word = server.takes_spec_type("mtp") is True
    unlisted = [
        each
        for each in asked
        if server.takes_spec_type(each) is not True and (each != MTP or other_word)
    ]
    if not unlisted:
        return
    listed = known(server.spec_types)
    if not listed:
        raise NotApplicable(f"{program(server)} lists no values of {SPEC_TYPE}")
    for value in unlisted:
        note = knowledge.value_note(SPEC_TYPE, value)
        meant = note.successor if note else next(iter(get_close_matches(value, listed, n=1)), "")
        if value == MTP:
            meant = "mtp"
        says = f"{program(server)} knows no {SPEC_TYPE} {value}"
        if note is not None and note.owner != "llama.cpp":
            says += f": that is {note.owner}'s word"
        if meant in listed:
            says += f"\n{'It' if value == MTP else 'llama.cpp'} calls it {meant}."
        yield Finding(
            says=says,
            about=SPEC_TYPE,
            evidence=(
                Evidence(f"{program(server)} --help: {SPEC_TYPE} {','.join(sorted(listed))}"),
                *(cited(note.source) if note else ()),
            ),
            fixes=(_fix(asked, value, meant, listed),),
        )


def _gaps(launch: Launch) -> Iterator[Finding]:
    """Find a list with a comma or a blank too many; a server takes what is between for a kind."""
    for option in launch.uses(SPEC_TYPE):
        parts = (option.value or "").split(",")
        if option.value is None or all(part and part == part.strip() for part in parts):
            continue
        right = ",".join(part.strip() for part in parts if part.strip())
        yield Finding(
            says=(
                f"{SPEC_TYPE} {visible(repr(option.value))} has a comma or a blank too many\n"
                "llama-server looks for a kind of drafting of that name, and stops."
            ),
            about=SPEC_TYPE,
            evidence=(Evidence(f"the command: {SPEC_TYPE} {visible(repr(option.value))}"),),
            fixes=(SetFlag(SPEC_TYPE, right) if right else DropFlag(SPEC_TYPE),),
        )


def _fix(asked: tuple[str, ...], wrong: str, meant: str, listed: frozenset[str]) -> Fix:
    if meant not in listed:
        return Advice(f"choose a value that {SPEC_TYPE} takes: {', '.join(sorted(listed))}")
    right = dict.fromkeys(meant if value == wrong else value for value in asked)
    return SetFlag(SPEC_TYPE, ",".join(right))
