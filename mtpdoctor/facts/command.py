"""A llama-server command line, read against the flag table of that very server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One row of ``llama-server --help``."""

    names: tuple[str, ...]
    """Every spelling, in the help's order: ``("-fa", "--flash-attn")``."""
    negations: tuple[str, ...] = ()
    """Spellings that switch it off: ``("--no-mmap",)``."""
    arity: int = 0
    """How many values follow."""
    placeholder: str = ""
    """What the help calls the value: ``N``, ``FNAME``, ``[on|off|auto]``."""
    optional: bool = False
    """Whether the value may be left out, as in ``-fa`` alone."""
    values: frozenset[str] = frozenset()
    """The only values it takes (of a comma list: the only parts); empty where any will do."""
    env: tuple[str, ...] = ()
    """The environment variables that set it: ``LLAMA_ARG_FLASH_ATTN``."""
    removed: str = ""
    """The help's own note that the flag is gone; such a flag is listed and refused."""
    appends: bool = False
    """Whether a repetition adds to the earlier ones; most flags take the last."""

    @property
    def name(self) -> str:
        """The longest spelling, which is the one that explains itself."""
        return max(self.names, key=len)


@dataclass(frozen=True, kw_only=True)
class FlagTable:
    """Every flag that one server lists."""

    flags: tuple[Flag, ...]
    source: str
    """Where the rows come from: that server's own help, or the table that ships."""
    asked: bool = True
    """Whether the server itself was asked."""

    @cached_property
    def _by_name(self) -> dict[str, tuple[Flag, bool]]:
        found: dict[str, tuple[Flag, bool]] = {}
        for flag in self.flags:
            found |= dict.fromkeys(flag.names, (flag, False))
            found |= dict.fromkeys(flag.negations, (flag, True))
        return found

    @cached_property
    def _by_env(self) -> dict[str, Flag]:
        return {env: flag for flag in self.flags for env in flag.env}

    @staticmethod
    def spelling(word: str) -> str:
        """Return *word* as a server looks it up: ``--ctx_size`` is ``--ctx-size`` to it."""
        return word.replace("_", "-") if word.startswith("--") else word

    def find(self, name: str) -> Flag | None:
        """Return the row that *name* belongs to, whichever of its spellings it is."""
        row = self._by_name.get(self.spelling(name))
        return row[0] if row else None

    def negates(self, name: str) -> bool:
        row = self._by_name.get(self.spelling(name))
        return row is not None and row[1]

    def find_env(self, variable: str) -> Flag | None:
        return self._by_env.get(variable)

    def accepts(self, name: str) -> bool:
        """Whether a server with this table takes *name*: listed, and not as removed."""
        flag = self.find(name)
        return flag is not None and not flag.removed

    @property
    def names(self) -> Iterator[str]:
        return iter(self._by_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A flag as it was used."""

    spelled: str
    """As the user wrote it, without a ``=value``."""
    values: tuple[str, ...] = ()
    flag: Flag | None = None
    """The row it belongs to; none for a flag that this server does not list."""
    negated: bool = False
    at: int = -1
    """Index of its first word in the command; -1 for one that the environment sets."""
    width: int = 1
    """How many words it takes up."""
    joined: bool = False
    """Written as ``--flag=value``, which every llama-server refuses as an invalid argument."""
    env: str = ""
    """The environment variable it comes from."""

    @property
    def value(self) -> str | None:
        return self.values[-1] if self.values else None


@dataclass(frozen=True, kw_only=True)
class Launch:
    """The command that the user runs: words as given, and what they mean to that server."""

    words: tuple[str, ...]
    """The whole command; ``words[:start]`` is the program."""
    start: int = 1
    """Index of the first argument: 1, or 2 for ``llama serve``."""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The variables that were given with it (``NAME=value`` before it, ``LLAMA_ARG_*``)."""
    inherited: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Those of them that the surrounding shell sets by itself, with its values."""
    options: tuple[Option, ...] = ()
    """Options of the environment first, then those of the command, in order."""
    stray: tuple[tuple[int, str], ...] = ()
    """Words that belong to no flag, with their index; a server refuses them."""
    table: FlagTable

    def uses(self, name: str) -> tuple[Option, ...]:
        """Every use of the flag that *name* is a spelling of."""
        flag = self.table.find(name)
        return tuple(
            option
            for option in self.options
            if option.spelled == name or (flag is not None and option.flag is flag)
        )

    def has(self, name: str) -> bool:
        return bool(self.uses(name))

    def value(self, name: str) -> str | None:
        """Return the value in force: the last one given, the command before the environment.

        ``None`` when the flag is not used, or used without a value.
        """
        uses = self.uses(name)
        return uses[-1].value if uses else None

    def all_values(self, name: str) -> tuple[str, ...]:
        """Every value of a flag that appends, comma lists taken apart."""
        return tuple(
            part.strip()
            for option in self.uses(name)
            for value in option.values
            for part in value.split(",")
        )

    def enabled(self, name: str) -> bool | None:
        """Whether a switch is on or off; ``None`` when the command does not say.

        Ask by the positive spelling, ``--mmap``.
        """
        uses = self.uses(name)
        if uses:
            return not uses[-1].negated
        # Older builds list the negative spelling alone, as a flag of its own.
        opposite = "--no-" + name.removeprefix("--")
        return False if self.table.find(name) is None and self.has(opposite) else None
