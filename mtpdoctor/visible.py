"""Foreign text made safe to show: GGUF strings, server logs and hub answers may be hostile."""

from __future__ import annotations

import unicodedata

_LONGEST = 4096
# Controls, formats (bidirectional overrides, zero-width), surrogates, private use, line separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def visible(text: str, limit: int = _LONGEST) -> str:
    """Return *text* on one line, with what a terminal would act on written as an escape.

    At most *limit* characters of it are kept; what is cut shows as ``…``.
    """
    cut = len(text) > limit
    kept = text[:limit]
    if not kept.isascii() or not kept.isprintable():
        kept = "".join(
            character if unicodedata.category(character) not in _HIDDEN else _escape(character)
            for character in kept
        )
    return kept + "…" if cut else kept


def visible_lines(text: str, limit: int = _LONGEST) -> list[str]:
    """Return the lines of *text*, each made safe to show."""
    return [visible(line) for line in text[:limit].split("\n")]


def _escape(character: str) -> str:
    return "  " if character == "\t" else character.encode("unicode_escape").decode("ascii")
