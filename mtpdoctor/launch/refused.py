"""What a server will refuse in a command before it looks at any file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mtpdoctor.facts import Launch, Option
from mtpdoctor.launch.helptext import OFF, ON
from mtpdoctor.launch.reading import takes
from mtpdoctor.launch.values import fault

Kind = Literal["unknown", "removed", "joined", "missing-value", "bad-value", "stray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One thing in a command that makes the server exit at once."""

    kind: Kind
    word: str
    """As the user wrote it: the flag, or the word that belongs to none."""
    option: Option | None = None
    """The use it speaks of; none for a stray word."""
    at: int = -1
    """Index in the command's words; -1 for one of the environment."""
    wanted: str = ""
    """What the server misses in a value, where its help does not say it."""


def refusals(launch: Launch) -> tuple[Refusal, ...]:
    """Return what the server refuses, in the order in which it would meet it.

    The server stops at the first. Of a server that was not asked, only ``--flag=value`` is
    known to be refused: that every build does.
    """
    found = list(_options(launch))
    found += [Refusal(kind="stray", word=word, at=at) for at, word in launch.stray]
    if not launch.table.asked:
        found = [refusal for refusal in found if refusal.kind == "joined"]
    return tuple(sorted(found, key=lambda refusal: refusal.at))


def _options(launch: Launch) -> Iterator[Refusal]:
    for option in launch.options:
        kind = _kind(option)
        if kind is not None:
            word = option.env or option.spelled
            wanted = _missed(option) if kind == "bad-value" else ""
            yield Refusal(kind=kind, word=word, option=option, at=option.at, wanted=wanted)


def _kind(option: Option) -> Kind | None:
    flag = option.flag
    if option.joined:
        return "joined"
    if flag is None:
        return "unknown"
    if flag.removed:
        return "removed"
    if option.env and flag.arity == 0:
        return "bad-value" if option.value is not None and option.value not in ON | OFF else None
    if len(option.values) < flag.arity and not flag.optional:
        return "missing-value"
    if flag.arity == 1 and option.values and not takes(flag, option.values[0]):
        return "bad-value"
    return "bad-value" if _missed(option) else None


def _missed(option: Option) -> str:
    flag = option.flag
    if flag is None or flag.arity != 1 or len(option.values) != 1:
        return ""
    return fault(flag, option.values[0])
