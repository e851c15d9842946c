"""The flag table that ships, for a server that cannot be asked.

It is the union of what three real servers list, with the spellings of older builds; it helps to
read a command and never says that a flag is unknown or gone.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mtpdoctor.facts import Flag, FlagTable
from mtpdoctor.launch.helptext import APPENDING

COLUMNS = ("names", "negations", "placeholder", "arity", "optional", "env", "values")
FILE = Path(__file__).with_name("flags.tsv")


@cache
def shipped() -> FlagTable:
    """Return the table that ships; ``asked`` is false in it."""
    text = FILE.read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return FlagTable(
        flags=tuple(_flag(row) for row in rows), source="the table that ships", asked=False
    )


def union(tables: tuple[FlagTable, ...]) -> str:
    """Return the text of :data:`FILE` for *tables*: rows that share a spelling become one."""
    merged: list[Flag] = []
    for flag in (flag for table in tables for flag in table.flags):
        spelled = {*flag.names, *flag.negations}
        same = [row for row in merged if spelled & {*row.names, *row.negations}]
        merged = [row for row in merged if row not in same]
        for row in same:
            flag = _joined(row, flag)
        merged.append(flag)
    lines = ["\t".join(COLUMNS), *sorted(_line(row) for row in merged)]
    return "\n".join(lines) + "\n"


def _joined(one: Flag, other: Flag) -> Flag:
    longer = max((one, other), key=lambda flag: flag.arity)
    negations = tuple(dict.fromkeys((*one.negations, *other.negations)))
    names = tuple(n for n in dict.fromkeys((*one.names, *other.names)) if n not in negations)
    both = (one.values and other.values) or one.arity != other.arity
    return Flag(
        names=names,
        negations=negations,
        placeholder=longer.placeholder,
        arity=longer.arity,
        optional=one.optional or other.optional or one.arity != other.arity,
        env=tuple(dict.fromkeys((*one.env, *other.env))),
        values=one.values | other.values if both else frozenset(),
    )


def _line(flag: Flag) -> str:
    return "\t".join(
        (
            " ".join(flag.names),
            " ".join(flag.negations),
            flag.placeholder,
            str(flag.arity),
            "optional" if flag.optional else "",
            " ".join(flag.env),
            " ".join(sorted(flag.values)),
        )
    )


def _flag(row: list[str]) -> Flag:
    names, negations, placeholder, arity, optional, env, values = row
    return Flag(
        names=tuple(names.split()),
        negations=tuple(negations.split()),
        placeholder=placeholder,
        arity=int(arity),
        optional=bool(optional),
        env=tuple(env.split()),
        values=frozenset(values.split()),
        appends=not APPENDING.isdisjoint(names.split()),
    )
