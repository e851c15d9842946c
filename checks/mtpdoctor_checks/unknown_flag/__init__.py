"""Whether llama-server knows every flag of the command."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
from mtpdoctor.facts import Option
from mtpdoctor.knowledge import FlagNote
from mtpdoctor.launch import Refusal, mended, refusals, suggest


@check(
    "unknown-flag",
    "llama-server does not know a flag of the command",
    after=["server-not-found", "server-does-not-run", "build-too-old"],
)
def unknown_flag(launch: Launch, knowledge: Knowledge) -> Iterator[Finding]:
    for refusal in refusals(launch):
        option = refusal.option
        if refusal.kind == "stray":
            yield _stray(launch, refusal)
        elif option is None:
            continue
        elif refusal.kind == "unknown" or (refusal.kind == "joined" and _unlisted(launch, option)):
            yield _unknown(launch, option, knowledge.flag_note(option.spelled))
        elif refusal.kind == "joined":
            yield _joined(launch, option)
    if not launch.table.asked:
        raise Undetermined("which flags this llama-server takes: its --help could not be read")


def _unlisted(launch: Launch, option: Option) -> bool:
    return launch.table.asked and option.flag is None


def _unknown(launch: Launch, option: Option, note: FlagNote | None) -> Finding:
    word = option.spelled
    meant = _meant(launch, option, note)
    alike = meant.flag if meant else "" if note else suggest(word, launch.table)
    says = f"llama-server knows no flag {word}, and stops when it sees it"
    if note is not None:
        says += f"\nIt is {_whose(note)}: {note.says}."
    elif alike:
        glued = meant is not None and meant.value != option.value
        says += f"\nDid you mean {alike}{f' {meant.value}' if meant and glued else ''}?"
    fixes: tuple[Fix, ...] = (meant,) if meant else (DropFlag(word),)
    if alike and not meant:
        fixes += (Advice(f"give {alike} in place of {word}, if that is what you meant"),)
    return Finding(
        says=says,
        about=word,
        evidence=(
            Evidence(f"{launch.table.source}: {word} is not listed"),
            *(cited(note.source) if note else ()),
        ),
        fixes=fixes,
    )


def _meant(launch: Launch, option: Option, note: FlagNote | None) -> SetFlag | None:
    """Return the flag that certainly was meant; a look-alike alone is none."""
    if note is None:
        return mended(option, launch.table)
    row = launch.table.find(note.successor) if note.successor else None
    if row is None or row.removed or row.arity != len(option.values):
        return None
    return SetFlag(note.successor, option.value, replaces=option.spelled)


def _whose(note: FlagNote) -> str:
    return "one of earlier builds" if note.owner == "llama.cpp" else f"one of {note.owner}"


def _joined(launch: Launch, option: Option) -> Finding:
    word, value = option.spelled, option.value or ""
    return Finding(
        says=(
            f"llama-server does not take a value after '=', as in {word}=…\n"
            f"Write it as a word of its own: {word} {value}"
        ).rstrip(),
        about=word,
        evidence=(Evidence(f"the command: {word}=…"),),
        fixes=(_parted(launch, option),),
    )


def _parted(launch: Launch, option: Option) -> Fix:
    flag = option.flag
    if flag is None or flag.arity == 0 or mended(replace(option, joined=False), launch.table):
        return SetFlag(option.spelled, option.value)
    return Advice(f"give {option.spelled} a value that it takes, as a word of its own")


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
