"""The flag table that a server's own ``--help`` gives.

A row starts at the left edge with its spellings, positive ones first; a value's placeholder
follows, and the description stands from column 40 on, wrapped and indented. Flags that were
removed are still listed, with a note that says so in place of a description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtpdoctor.facts import Flag, FlagTable

_MOST = 2_000_000
"""Characters of help that are looked at; the longest known help has 60,000."""
_NAME = r"-{1,2}[A-Za-z][\w.+-]{0,80}"
_ROW = re.compile(rf" {{0,8}}({_NAME}(?:,[ ]*{_NAME})*)(?=[ \t]|$)(.*)")
_DEEPEST = 8
"""Columns by which a row may be indented; descriptions are indented by far more."""
_ENV = re.compile(r"\(env: (\w{1,100})\)")
_REMOVED = re.compile(r"\b(?:argument|option|flag) (?:has been|was) removed\b", re.IGNORECASE)
_ALLOWED = re.compile(r"\ballowed values: ([\w.+-]+(?:, ?[\w.+-]+)*)")
_BULLET = re.compile(r"(?:^| )- ([a-z][\w+-]*): ")
_DEFAULT = re.compile(r"\(default: ([\w+-]+)\)")
_CHOICE = re.compile(r"[\[{]([\w.+-]+(?:[|,][\w.+-]+)+)[\]}]")
_LIST = re.compile(r"[a-z][a-z0-9_]*(?:-[a-z0-9]+)*(?:,[a-z][a-z0-9_]*(?:-[a-z0-9]+)*)+")
_ANGLED = re.compile(r"<[^<>]*>")

ON = frozenset({"on", "enabled", "true", "1"})
"""What every build takes for *on* where the help says ``[on|off]``; lower case alone."""
OFF = frozenset({"off", "disabled", "false", "0"})
AUTO = frozenset({"auto", "-1"})

APPENDING = frozenset(
    {
        "--spec-type",
        "--lora",
        "--lora-scaled",
        "--control-vector",
        "--control-vector-scaled",
        "--override-kv",
        "--override-tensor",
        "--override-tensor-draft",
        "--logit-bias",
        "--reverse-prompt",
        "--dry-sequence-breaker",
        "--api-key",
        "--alias",
        "--tags",
    }
)
"""Flags whose repetition adds to what was given before; the help does not say which do."""


def table(help_text: str, source: str) -> FlagTable:
    """Return the flags that *help_text* lists.

    *help_text* is the output of ``llama-server --help``; *source* says whose it is. Text that is
    no help gives a table without flags; nothing is raised.
    """
    return FlagTable(
        flags=tuple(_flag(*row) for row in _rows(help_text[:_MOST])), source=source, asked=True
    )


def _rows(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield spellings, placeholder and description of each row."""
    head: tuple[str, str] | None = None
    says: list[str] = []
    for line in text.splitlines():
        match = _ROW.fullmatch(line.rstrip())
        if match is not None:
            if head is not None:
                yield *head, " ".join(says)
            placeholder, first = _halves(match[2])
            head, says = (match[1], placeholder), [first]
        elif line.startswith(" ") or not line.strip():
            says.append(line.strip())
        else:  # a section's title, or what follows the help
            if head is not None:
                yield *head, " ".join(says)
            head, says = None, []
    if head is not None:
        yield *head, " ".join(says)


def _halves(rest: str) -> tuple[str, str]:
    """Part what follows the spellings into placeholder and description, which blanks separate."""
    if rest.startswith("  ") or not rest.strip():
        return "", rest.strip()
    placeholder, _, says = rest.strip().partition("  ")
    return placeholder, says.strip()


def _flag(spellings: str, placeholder: str, says: str) -> Flag:
    names = tuple(dict.fromkeys(re.split(r",\s*", spellings)))
    positive = _positive(names) if not placeholder else len(names)
    removed = _REMOVED.search(says) is not None
    note = _plain(_ENV.sub("", says)) if removed else ""
    return Flag(
        names=names[:positive],
        negations=names[positive:],
        arity=len(_ANGLED.sub("X", placeholder).split()),
        placeholder=_plain(placeholder),
        values=_values(placeholder, says),
        env=tuple(_ENV.findall(says)),
        removed=note,
        appends=not APPENDING.isdisjoint(names),
    )


def _positive(names: tuple[str, ...]) -> int:
    """Count the spellings that switch on: those up to the last ``--x`` that has a ``--no-x``."""
    pairs = [i for i, name in enumerate(names) if f"--no-{name.removeprefix('--')}" in names]
    return max(pairs) + 1 if pairs else len(names)


def _values(placeholder: str, says: str) -> frozenset[str]:
    choice = _CHOICE.fullmatch(placeholder)
    if choice is not None:
        values = frozenset(re.split(r"[|,]", choice[1]))
        if {"on", "off"} <= values:
            values |= ON | OFF | (AUTO if "auto" in values else frozenset())
        return values
    if _LIST.fullmatch(placeholder):
        return frozenset(placeholder.split(","))
    listed = frozenset(_BULLET.findall(says)) if placeholder in {"TYPE", "MODE"} else frozenset()
    default = _DEFAULT.search(says)
    if listed and (default is None or default[1] in listed):
        return listed
    allowed = _ALLOWED.search(says)
    return frozenset(re.split(r", ?", allowed[1])) if allowed is not None else frozenset()


def _plain(text: str) -> str:
    """Return *text* on one line, printable and bounded: it may come to stand in a message."""
    words = "".join(c if c.isprintable() else " " for c in text).split()
    return " ".join(words)[:300]
