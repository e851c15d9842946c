"""A command changed: a flag set or dropped, in the user's own order and spelling."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mtpdoctor.facts import Flag, FlagTable, Launch, Option
from mtpdoctor.findings import DropFlag, Fix, SetFlag
from mtpdoctor.launch.helptext import OFF
from mtpdoctor.launch.reading import opposite, reparse
from mtpdoctor.launch.shipped import shipped
from mtpdoctor.launch.words import is_read

_SPECULATIVE = re.compile(r"--(?:spec(?:-|$)|draft(?:-|$)|lookup-cache-|mtp(?:-|$)).*|--.*-draft")
_SPECULATIVE_ENV = re.compile(r"LLAMA_ARG_(?:NO_)?(?:SPEC|DRAFT|LOOKUP)(?:_.*)?|LLAMA_ARG_.*_DRAFT")
_RENAMED = (
    frozenset({"--draft", "--draft-n", "--draft-max", "--spec-draft-n-max"}),
    frozenset({"--draft-min", "--draft-n-min", "--spec-draft-n-min"}),
)
"""Flags that were replaced by one of another row; the builds between b8929 and b9093 did it."""


def apply(launch: Launch, fixes: Iterable[Fix]) -> Launch:
    """Return *launch* with the flag fixes among *fixes* made, one after the other.

    What only a person can do (an upgrade, a download) is left alone.
    """
    for fix in fixes:
        if isinstance(fix, SetFlag):
            launch = _set(launch, fix)
        elif isinstance(fix, DropFlag):
            launch = without(launch, (fix.flag,))
    return launch


def without(launch: Launch, names: Iterable[str]) -> Launch:
    """Return *launch* without any use of the flags in *names*, their variables included."""
    uses = [use for name in names for use in _uses(launch, name)]
    rows = [row for name in names if (row := launch.table.find(_bare(name))) is not None]
    return _cut(launch, uses, {name for row in rows for name in variables(row)})


def with_flags(launch: Launch, pairs: Iterable[tuple[str, str | None]]) -> Launch:
    """Return *launch* with each flag set to its value; ``None`` for a flag without one."""
    return apply(launch, (SetFlag(flag, value) for flag, value in pairs))


def plain(launch: Launch) -> Launch:
    """Return *launch* with speculation off: the same command, nothing drafted.

    Every use of ``--spec-type`` (it appends, so that a last ``none`` would not do), every
    setting of a drafter and every lookup cache goes, in the words and in the environment; flags
    of that kind that the server does not list go too.
    """
    uses = [option for option in launch.options if is_speculative(option)]
    rows = {use.flag for use in uses if use.flag is not None}
    names = {name for row in rows for name in variables(row)}
    names |= {name for name in launch.environment if _SPECULATIVE_ENV.fullmatch(name)}
    return _cut(launch, uses, names)


def is_speculative(option: Option) -> bool:
    """Whether *option* has to do with drafting alone."""
    names = option.flag.names if option.flag is not None else (option.spelled,)
    return any(_SPECULATIVE.fullmatch(FlagTable.spelling(name)) for name in names)


def accepted_spelling(name: str, table: FlagTable) -> str:
    """Return the spelling of *name* that a server with *table* takes; *name* if none is known."""
    if table.accepts(name):
        return name
    everywhere = shipped()
    row = everywhere.find(name)
    others: list[str] = []
    if row is not None:
        same = row.negations if everywhere.negates(name) else row.names
        others += sorted(same, key=len, reverse=True)
    for family in _RENAMED:
        if name in family:
            others += sorted(family, key=len, reverse=True)
    return next((other for other in others if table.accepts(other)), name)


def variables(flag: Flag) -> frozenset[str]:
    """Return every environment variable that sets *flag*, negative forms included."""
    return frozenset(flag.env) | {opposite(name) for name in flag.env if flag.negations}


def environment_for(launch: Launch, surrounding: Mapping[str, str]) -> dict[str, str]:
    """Return the environment to start *launch* in.

    *surrounding* loses every variable that llama-server takes settings from; what the command
    keeps of them is in its own environment.
    """
    kept = {name: value for name, value in surrounding.items() if not is_read(name)}
    return kept | dict(launch.environment)


@dataclass(frozen=True, slots=True)
class _Wanted:
    spelled: str
    values: tuple[str, ...]


def _set(launch: Launch, fix: SetFlag) -> Launch:
    own = _uses(launch, fix.flag)
    replaced = _uses(launch, fix.replaces) if fix.replaces else ()
    wanted = _wanted(launch.table, fix, replaced)
    if wanted is None:
        return without(launch, (fix.flag, *((fix.replaces,) if fix.replaces else ())))
    row = launch.table.find(wanted.spelled)
    gone = {name for use in (*own, *replaced) if use.flag for name in variables(use.flag)}
    places = [use for use in (*own, *replaced) if use.at >= 0]
    if not places and len(own) == 1 and own[0].values and wanted.values and not replaced:
        environment = dict(launch.environment) | {own[0].env: wanted.values[0]}
        return reparse(launch, launch.words, environment)
    if not places:
        return _added(_cut(launch, (), gone), (wanted.spelled, *wanted.values))
    place = max((use for use in replaced if use.at >= 0), key=_at, default=max(places, key=_at))
    spelled = wanted.spelled
    if place in own and launch.table.accepts(place.spelled) and row is place.flag:
        kept = launch.table.negates(place.spelled) == launch.table.negates(wanted.spelled)
        spelled = place.spelled if kept else spelled
    others = [use for use in places if use is not place]
    return _cut(launch, others, gone, {place.at: (place.width, (spelled, *wanted.values))})


def _added(launch: Launch, words: tuple[str, ...]) -> Launch:
    end = len(launch.words)
    last = launch.options[-1] if launch.options else None
    if last is not None and last.flag and last.at >= 0 and len(last.values) < last.flag.arity:
        end = last.at  # behind it, the new flag would be taken for the value it lacks
    return reparse(launch, (*launch.words[:end], *words, *launch.words[end:]))


def _wanted(table: FlagTable, fix: SetFlag, replaced: tuple[Option, ...]) -> _Wanted | None:
    """Return what is to stand in the command; none where leaving the flag out says it."""
    spelled = accepted_spelling(fix.flag, table)
    row = table.find(spelled)
    if fix.value is None:
        carried = bool(replaced) and row is not None and row.arity > 0
        return _Wanted(spelled, replaced[-1].values[: row.arity] if carried and row else ())
    if row is None or row.arity > 0:
        return _Wanted(spelled, (fix.value,))
    # An older build knows the flag as a switch: what is off there is left out.
    if fix.value not in OFF:
        return _Wanted(spelled, ())
    return _Wanted(row.negations[-1], ()) if row.negations else None


def _uses(launch: Launch, name: str) -> tuple[Option, ...]:
    by_variable = tuple(option for option in launch.options if option.env == name)
    if by_variable:
        return by_variable
    bare = _bare(name)
    found = launch.uses(bare)
    if found or launch.table.find(bare) is not None:
        return found
    # A server of another age lists it under another name.
    other = accepted_spelling(bare, launch.table)
    return launch.uses(other) if other != bare else ()


def _bare(name: str) -> str:
    return name.partition("=")[0]


def _at(option: Option) -> int:
    return option.at


def _cut(
    launch: Launch,
    options: Iterable[Option],
    variable_names: Collection[str],
    put: Mapping[int, tuple[int, tuple[str, ...]]] | None = None,
) -> Launch:
    """Take *options* and variables out; *put* maps an index to words in place of how many."""
    edits: dict[int, tuple[int, tuple[str, ...]]] = {
        option.at: (option.width, ()) for option in options if option.at >= 0
    }
    edits |= put or {}
    words = list(launch.words)
    for at in sorted(edits, reverse=True):
        width, new = edits[at]
        words[at : at + width] = new
    gone = set(variable_names) | {option.env for option in options if option.env}
    environment = {k: v for k, v in launch.environment.items() if k not in gone}
    return reparse(launch, tuple(words), environment)
