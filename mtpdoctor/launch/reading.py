"""A command read against a flag table, as llama-server reads it.

What the server does (measured on three builds): a flag takes exactly as many words as it has
values, whatever they look like; ``--ctx_size`` is ``--ctx-size``; ``--flag=value`` is an invalid
argument; the environment is read first, every variable that a flag names; ``LLAMA_ARG_NO_X``,
whatever its value, switches off what ``LLAMA_ARG_X`` switches on, and wins over it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from mtpdoctor.facts import Flag, FlagTable, Launch, Option
from mtpdoctor.launch.helptext import OFF, ON
from mtpdoctor.launch.words import Command

_NUMERIC = frozenset({"N", "P", "SEED", "PORT", "INDEX", "SECONDS", "SIMILARITY", "<0|1>"})
_NUMBER = re.compile(r"\s*[+-]?(?:\.?\d|inf|nan)", re.IGNORECASE)
_PREFIX = "LLAMA_ARG_"
_NO = "LLAMA_ARG_NO_"


def parse(command: Command, table: FlagTable) -> Launch:
    """Return what *command* means to a server with *table*; nothing is raised.

    A flag that the table does not list is an option without a row, and the words up to the next
    flag are its values, so that they are not reported a second time. A value that cannot be one
    because the next flag stands in its place is missing: the option has no values.
    """
    options, stray = _arguments(command, table)
    return Launch(
        words=command.words,
        start=command.start,
        environment=command.environment,
        inherited=command.inherited,
        options=(*_environment(command.environment, table), *options),
        stray=stray,
        table=table,
    )


def reparse(
    launch: Launch, words: tuple[str, ...], environment: Mapping[str, str] | None = None
) -> Launch:
    """Read changed *words* and *environment* in place of those of *launch*."""
    changed = launch.environment if environment is None else MappingProxyType(dict(environment))
    command = Command(
        words=words, start=launch.start, environment=changed, inherited=launch.inherited
    )
    return parse(command, launch.table)


def takes(flag: Flag, value: str) -> bool:
    """Whether *flag* takes *value*, as far as its row can tell."""
    if not value and "--numa" in flag.names:
        return True  # measured: nothing is "distribute" to it
    if flag.values and "..." not in flag.values:
        parts = value.split(",") if "," in flag.placeholder and flag.appends else [value]
        return all(part in flag.values for part in parts)
    if flag.placeholder in _NUMERIC and "--defrag-thold" not in flag.names:
        word_too = any("gpu-layers" in name for name in flag.names)
        return _NUMBER.match(value) is not None or (word_too and value in {"auto", "all"})
    return True


def opposite(variable: str) -> str:
    """Return the variable that switches off what *variable* switches on."""
    return variable.replace(_PREFIX, _NO, 1)


def _arguments(
    command: Command, table: FlagTable
) -> tuple[list[Option], tuple[tuple[int, str], ...]]:
    words, at = command.words, command.start
    options: list[Option] = []
    stray: list[tuple[int, str]] = []
    while at < len(words):
        option = _option(words, at, table)
        if option is None:
            stray.append((at, words[at]))
            at += 1
        else:
            options.append(option)
            at += option.width
    return options, tuple(stray)


def _option(words: tuple[str, ...], at: int, table: FlagTable) -> Option | None:
    word = words[at]
    flag = table.find(word)
    if flag is not None:
        values = _values(flag, words, at, table)
        return Option(
            spelled=word,
            values=values,
            flag=flag,
            negated=table.negates(word),
            at=at,
            width=1 + len(values),
        )
    if not word.startswith("-") or not word.strip("-"):
        return None
    name, equals, value = word.partition("=")
    if equals:
        return Option(
            spelled=name,
            values=(value,),
            flag=table.find(name),
            negated=table.negates(name),
            at=at,
            joined=True,
        )
    following = tuple(_until_flag(words, at + 1, table))
    return Option(spelled=word, values=following, at=at, width=1 + len(following))


def _values(flag: Flag, words: tuple[str, ...], at: int, table: FlagTable) -> tuple[str, ...]:
    values = words[at + 1 : at + 1 + flag.arity]
    if not values or flag.arity != 1 or takes(flag, values[0]):
        return values
    if flag.optional:
        return ()
    # The server would take the next flag for the value and stop there; the user forgot a value.
    return () if values[0].startswith("-") and table.find(values[0]) is not None else values


def _until_flag(words: tuple[str, ...], at: int, table: FlagTable) -> Iterator[str]:
    for word in words[at:]:
        if word.startswith("-") and (table.find(word) or not _NUMBER.match(word)):
            return
        yield word


def _environment(environment: Mapping[str, str], table: FlagTable) -> Iterator[Option]:
    for flag in table.flags:
        for variable in flag.env:
            against = opposite(variable)
            if flag.negations and against != variable and against in environment:
                yield Option(spelled=flag.name, flag=flag, negated=True, env=against, width=0)
            elif variable in environment:
                yield from _variable(flag, variable, environment[variable])


def _variable(flag: Flag, variable: str, value: str) -> Iterator[Option]:
    if flag.arity:
        yield Option(spelled=flag.name, values=(value,), flag=flag, env=variable, width=0)
    elif flag.negations:
        if value in ON | OFF:
            off = value in OFF
            yield Option(spelled=flag.name, flag=flag, negated=off, env=variable, width=0)
        else:  # the server stops: "invalid boolean value"
            yield Option(spelled=flag.name, values=(value,), flag=flag, env=variable, width=0)
    elif value in ON:  # any other value leaves a plain switch alone
        yield Option(spelled=flag.name, flag=flag, env=variable, width=0)
