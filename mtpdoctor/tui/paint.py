"""Lines with colours. Foreign text is made visible and never read as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content

from mtpdoctor.engine import Outcome, Result
from mtpdoctor.facts import ArmName
from mtpdoctor.findings import Severity
from mtpdoctor.render.style import Style
from mtpdoctor.report import Verdict
from mtpdoctor.tui.state import worst

_WORDS = Style()
_DRIVE = re.compile(r"[A-Za-z]:\\")
_SEVERITIES = {
    Severity.ERROR: "$text-error",
    Severity.WARNING: "$text-warning",
    Severity.INFO: "$text-primary",
}
_OUTCOMES = {
    Outcome.PASSED: "$text-success",
    Outcome.UNKNOWN: "$text-warning",
    Outcome.SKIPPED: "$text-muted",
    Outcome.CRASHED: "$text-error",
}
_VERDICTS = {
    Verdict.PASS: ("✓", "$text-success"),
    Verdict.WARN: ("!", "$text-warning"),
    Verdict.FAIL: ("✗", "$text-error"),
    Verdict.INCONCLUSIVE: ("?", "$text-warning"),
}
ARMS: dict[ArmName, str] = {"plain": "$plain", "mtp": "$mtp"}
"""The colours of the two arms: blue and orange, told apart by most eyes."""
MUTED = "$text-muted"
_NARROWEST = 8
"""Cells that a line is given in any case."""


def colour(result: Result) -> str:
    severity = worst(result)
    return _SEVERITIES[severity] if severity is not None else _OUTCOMES.get(result.outcome, "")


def mark(result: Result) -> Content:
    """Return symbol and word of a result, coloured: ``✗ error``."""
    return Content.styled(_WORDS.outcome(result), colour(result))


def verdict(value: Verdict) -> Content:
    """Return symbol and word of a verdict, coloured: ``✓ pass``."""
    symbol, style = _VERDICTS[value]
    return Content.styled(f"{symbol} {value}", f"bold {style}")


def wrapped(
    text: str, width: int, *, label: str = "", indent: int | None = None, style: str = ""
) -> list[Content]:
    """Return *text*, already safe to show, in lines of *width* cells.

    The first begins with *label*; the others stand under the text behind it, or at *indent*.
    """
    room = len(label) if indent is None else indent
    lines = Content.styled(text, style).wrap(max(_NARROWEST, width - max(room, len(label))))
    return [
        Content.assemble((label if at == 0 else "").ljust(room), line)
        for at, line in enumerate(lines)
    ]


def joined(lines: Iterable[Content]) -> Content:
    return Content("\n").join(lines)


def fit(line: str, width: int) -> str:
    """Return *line* in *width* characters: long paths lose their folders first, then its end."""
    words = line.split(" ")
    spare = width - len(line)
    for at in sorted(range(len(words)), key=lambda at: len(words[at]), reverse=True):
        short = _without_folders(words[at])
        if spare >= 0 or len(short) >= len(words[at]):
            break
        spare += len(words[at]) - len(short)
        words[at] = short
    line = " ".join(words)
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"


def _without_folders(word: str) -> str:
    separator = "\\" if _DRIVE.match(word) else "/"
    folders, _, name = word.rpartition(separator)
    return f"…{separator}{name}" if separator in folders and name else word
