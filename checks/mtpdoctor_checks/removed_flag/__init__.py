"""Whether the command has flags that this llama-server once took and no longer does."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    Undetermined,
    Unknown,
    check,
    cited,
)
from mtpdoctor.facts import Option
from mtpdoctor.knowledge import FlagNote, Source
from mtpdoctor.launch import refusals, suggest
from mtpdoctor_checks import capability


@check(
    "removed-flag",
    "the command has a flag that llama-server no longer takes",
    after=["server-not-found", "server-does-not-run"],
)
def removed_flag(launch: Launch, server: Server | None, knowledge: Knowledge) -> Iterator[Finding]:
    if not launch.options:
        raise NotApplicable("the command has no flags")
    if launch.table.asked:
        for refusal in refusals(launch):
            if refusal.kind == "removed" and refusal.option is not None:
                note = refusal.option.flag.removed if refusal.option.flag else ""
                seen = Evidence(f"{launch.table.source}: {refusal.word}: {note}")
                yield _finding(launch, refusal.option, knowledge, seen)
        return
    yield from _by_build(launch, server, knowledge)


def _by_build(launch: Launch, server: Server | None, knowledge: Knowledge) -> Iterator[Finding]:
    """Judge by the build's number, where the server's own help could not be read."""
    build = Unknown("no server was examined") if server is None else capability.build(server)
    for option in launch.options:
        note = knowledge.flag_note(option.spelled)
        if note is None or note.removed is None or isinstance(build, Unknown):
            continue
        if note.removed.reached_by(build):
            seen = Evidence(f"{option.spelled} was removed in {note.removed}; this is {build}")
            yield _finding(launch, option, knowledge, seen)
    why = build.reason if isinstance(build, Unknown) else "its --help could not be read"
    raise Undetermined(f"which flags this llama-server takes: {why}")


def _finding(launch: Launch, option: Option, knowledge: Knowledge, seen: Evidence) -> Finding:
    note = knowledge.flag_note(option.spelled)
    successor = suggest(option.spelled, launch.table) if launch.table.asked else ""
    if note is not None and note.successor:
        successor = note.successor
    word = option.env or option.spelled
    says = f"{word} is gone from llama-server, which stops when it sees it"
    if successor:
        says += f"\nIt is {successor} now."
    return Finding(
        says=says,
        about=word,
        evidence=(seen, *(cited(_of(note, option.spelled)) if note else ())),
        fixes=(_fix(option, successor),),
    )


def _of(note: FlagNote, spelled: str) -> tuple[Source, ...]:
    """Return the sources that do not quote another spelling of the flag."""
    others = [f'"{name}"' for name in note.names if name != spelled]
    return tuple(each for each in note.source if not any(name in each.says for name in others))


def _fix(option: Option, successor: str) -> Fix:
    word = option.env or option.spelled
    if not successor:
        return DropFlag(word)
    return SetFlag(successor, option.value, replaces=word)
