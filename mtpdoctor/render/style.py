"""Marks and colours: symbol, word and colour say the same thing, so that any two may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from mtpdoctor.engine import Outcome, Result
from mtpdoctor.findings import Severity
from mtpdoctor.report import Verdict

_RED, _GREEN, _YELLOW, _BLUE, _DIM, _BOLD = "31", "32", "33", "34", "2", "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How much a stream can show."""

    colour: bool = False
    unicode: bool = True

    @classmethod
    def of(cls, stream: TextIO, environment: dict[str, str]) -> Style:
        """Colour on a terminal alone; ``NO_COLOR`` and ``TERM=dumb`` turn it off."""
        colour = (
            stream.isatty()
            and not environment.get("NO_COLOR")
            and environment.get("TERM") != "dumb"
        )
        encoding = (getattr(stream, "encoding", None) or "ascii").lower()
        return cls(colour=colour, unicode=encoding.replace("-", "").startswith("utf"))

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def dim(self, text: str) -> str:
        return self.paint(text, _DIM)

    def bold(self, text: str) -> str:
        return self.paint(text, _BOLD)

    def plain(self, text: str) -> str:
        """Return *text* in what the stream's encoding can carry."""
        return text if self.unicode else text.encode("ascii", "backslashreplace").decode()

    def outcome(self, result: Result) -> str:
        """Return the mark and the word of a result: ``✗ error``."""
        if result.outcome is Outcome.FOUND:
            worst = max((f.severity for f in result.findings), key=lambda s: s.rank)
            mark, ascii_mark, colour = _SEVERITIES[worst]
            word = worst.value
        else:
            mark, ascii_mark, colour = _OUTCOMES[result.outcome]
            word = result.outcome.value
        return self.paint(f"{mark if self.unicode else ascii_mark} {word:<7}", colour)

    def verdict(self, verdict: Verdict) -> str:
        return self.paint(verdict.value, f"{_BOLD};{_VERDICTS[verdict]}")


_SEVERITIES = {
    Severity.ERROR: ("✗", "x", _RED),
    Severity.WARNING: ("!", "!", _YELLOW),
    Severity.INFO: ("i", "i", _BLUE),
}
_OUTCOMES = {
    Outcome.PASSED: ("✓", "+", _GREEN),
    Outcome.UNKNOWN: ("?", "?", _YELLOW),
    Outcome.SKIPPED: ("·", "-", _DIM),
    Outcome.CRASHED: ("✗", "X", _RED),
}
_VERDICTS = {
    Verdict.PASS: _GREEN,
    Verdict.WARN: _YELLOW,
    Verdict.FAIL: _RED,
    Verdict.INCONCLUSIVE: _YELLOW,
}
