"""Why a server ended, read from its exit status, its signal and its log.

What lines mean is data (``knowledge/signatures.toml``); this is how they are weighed: a cause
before a consequence, the first before later ones, benign lines never, and no line whose kind of
end is another than the one that was seen.
"""

from __future__ import annotations

import re
import signal as signals
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mtpdoctor.facts import Crash
from mtpdoctor.knowledge import Knowledge, Signature

TAIL_LINES = 20
_NEXT = 2
"""Lines that are kept behind a decisive one."""
_SHELL_SIGNAL = 128
"""What shells and containers add to the number of the signal that ended a program."""
_ERROR = re.compile(
    r"^\S+ E |\b(?:error|failed|fatal|abort(?:ed|ing)?|assert(?:ion)?|exception|terminate called"
    r"|couldn't|cannot|can't|unable|out of memory|illegal instruction|segmentation fault)\b|ASSERT",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a process ended."""

    signal: str = ""
    """``SIGABRT``; empty when it exited by itself."""
    exit_code: int | None = None

    @classmethod
    def of_signal(cls, number: int) -> Ending:
        return cls(signal=signal_name(number))

    @classmethod
    def of_exit(cls, code: int) -> Ending:
        """Read an exit code; one above 128 is how a wrapper passes on a signal."""
        name = signal_name(code - _SHELL_SIGNAL) if code > _SHELL_SIGNAL else ""
        if name.startswith("SIG"):
            return cls(signal=name, exit_code=code)
        return cls(exit_code=code)


def signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def diagnose(
    lines: Iterable[str],
    *,
    ending: Ending,
    knowledge: Knowledge,
    request: str = "",
    recent: Sequence[str] | None = None,
    otherwise: str = "",
    timed_out: bool = False,
) -> Crash:
    """Return what *lines* say about the end of the server that printed them.

    *recent* are the lines printed since *request* was sent. Where given they alone are judged: what
    a server said before it answered did not stop it. ``Crash.cause`` is *otherwise* when no known
    line is found; the first error line and the last lines are kept in any case.
    """
    telling = [line for line in lines if not _benign(line, knowledge)]
    judged = telling
    if recent is not None:
        judged = [line for line in recent if not _benign(line, knowledge)]
    found = _first(judged, "cause", ending, knowledge) or _first(
        judged, "consequence", ending, knowledge
    )
    error = found[1].string if found else next(filter(_ERROR.search, judged), "")
    tail = _kept(telling, judged, error)
    return Crash(
        signal=ending.signal,
        exit_code=ending.exit_code,
        request=request,
        cause=_words(*found) if found else otherwise,
        signature=found[0].id if found else "",
        check=found[0].check if found else "",
        advice=found[0].advice if found else "",
        error=error,
        log_tail=tuple(tail),
        timed_out=timed_out,
    )


def _kept(telling: list[str], judged: list[str], error: str) -> list[str]:
    """Return the last lines; before them, where it is none of them, the decisive one and the next.

    A server that refuses its command prints all of its usage behind the reason.
    """
    tail = telling[-TAIL_LINES:]
    if not error or error in tail:
        return tail
    at = judged.index(error)
    return [*judged[at : at + 1 + _NEXT], "…", *tail]


def says_nothing(lines: Iterable[str], knowledge: Knowledge) -> bool:
    """Whether no line tells of any trouble.

    llama-server writes its log from a thread of its own, and on a busy machine a server that gives
    up may be gone before its last words are written.
    """
    return not any(_ERROR.search(line) and not _benign(line, knowledge) for line in lines)


def _benign(line: str, knowledge: Knowledge) -> bool:
    return any(
        entry.meaning == "benign" and entry.pattern.compiled.search(line)
        for entry in knowledge.signatures
    )


def _first(
    lines: Iterable[str],
    meaning: Literal["cause", "consequence"],
    ending: Ending,
    knowledge: Knowledge,
) -> tuple[Signature, re.Match[str]] | None:
    for line in lines:
        for entry in knowledge.signatures:
            if entry.meaning != meaning or (entry.signals and ending.signal not in entry.signals):
                continue
            match = entry.pattern.compiled.search(line)
            if match is not None:
                return entry, match
    return None


def _words(entry: Signature, match: re.Match[str]) -> str:
    if not entry.says:
        return match.string
    return entry.says.format(match[0], *match.groups(default=""))
