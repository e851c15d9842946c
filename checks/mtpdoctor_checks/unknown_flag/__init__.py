"""Whether llama-server knows every flag of the command."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    SetFlag,
    Undetermined,
    check,
    cited,
)
from mtpdoctor.knowledge import FlagNote
from mtpdoctor.launch import Refusal, refusals, suggest


@check(
    "unknown-flag",
    "llama-server does not know a flag of the command",
    after=["server-not-found", "server-does-not-run", "build-too-old"],
)
def unknown_flag(launch: Launch, knowledge: Knowledge) -> Iterator[Finding]:
    for refusal in refusals(launch):
        if refusal.kind == "unknown":
            yield _unknown(launch, refusal, knowledge.flag_note(refusal.word))
        elif refusal.kind == "joined":
            yield _joined(refusal)
        elif refusal.kind == "stray":
            yield _stray(launch, refusal)
    if not launch.table.asked:
        raise Undetermined("which flags this llama-server takes: its --help could not be read")


def _unknown(launch: Launch, refusal: Refusal, note: FlagNote | None) -> Finding:
    successor = note.successor if note and note.successor else suggest(refusal.word, launch.table)
    says = f"llama-server knows no flag {refusal.word}, and stops when it sees it"
    if note is not None:
        says += f"\nIt is {_whose(note)}: {note.says}."
    elif successor:
        says += f"\nDid you mean {successor}?"
    return Finding(
        says=says,
        about=refusal.word,
        evidence=(
            Evidence(f"{launch.table.source}: {refusal.word} is not listed"),
            *(cited(note.source) if note else ()),
        ),
        fixes=(_fix(launch, refusal, successor),),
    )


def _whose(note: FlagNote) -> str:
    return "one of earlier builds" if note.owner == "llama.cpp" else f"one of {note.owner}"


def _fix(launch: Launch, refusal: Refusal, successor: str) -> Fix:
    option = refusal.option
    if successor and option is not None and launch.table.accepts(successor):
        return SetFlag(successor, option.value, replaces=option.spelled)
    return DropFlag(refusal.word)


def _joined(refusal: Refusal) -> Finding:
    option = refusal.option
    value = option.value if option is not None else None
    return Finding(
        says=(
            f"llama-server does not take a value after '=', as in {refusal.word}=…\n"
            f"Write it as a word of its own: {refusal.word} {value or ''}"
        ).rstrip(),
        about=refusal.word,
        evidence=(Evidence(f"the command: {refusal.word}=…"),),
        fixes=(SetFlag(refusal.word, value),),
    )


def _stray(launch: Launch, refusal: Refusal) -> Finding:
    before = launch.words[refusal.at - 1]
    return Finding(
        says=(
            f"the word {refusal.word!r} after {before} belongs to no flag\n"
            "llama-server stops when it meets it."
        ),
        about=refusal.word,
        evidence=(Evidence(f"the command, word {refusal.at + 1}: {refusal.word}"),),
        fixes=(Advice(f"take {refusal.word} out, or give the flag that it belongs to"),),
    )
