"""What a server printed, bounded: the beginning, the end, and the newest lines as they come."""

from __future__ import annotations

import re
from collections import deque
from threading import Lock
from time import monotonic

from mtpdoctor.visible import visible

HEAD = TAIL = 200 << 10
"""Bytes that are kept of the beginning and of the end."""
WIDTH = 500
"""Characters that are kept of a line."""
_LIVE_LINES = 40
"""Lines a second that a watcher is shown; a flood is dropped, not queued."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


def clean(text: str, width: int = WIDTH) -> str:
    """Return *text* as one bounded line that is safe for a terminal.

    Colours are taken out; what else does not print, line ends and reordering characters
    included, is shown escaped.
    """
    return visible(_ANSI.sub("", text[: 4 * width]).replace("\t", " ").rstrip(), width)


class Log:
    """The output of one server; written by the thread that drains it, read by any other."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._size = 0
        self._live: deque[str] = deque(maxlen=_LIVE_LINES)
        self._unfinished = b""
        self._allowance = float(_LIVE_LINES)
        self._counted = monotonic()

    @property
    def position(self) -> int:
        """Bytes printed so far; a place to ask for the lines after."""
        return self._size

    def feed(self, chunk: bytes) -> bool:
        """Take in more output; whether there are lines to show."""
        with self._lock:
            self._size += len(chunk)
            room = HEAD - len(self._head)
            self._head += chunk[:room]
            rest = chunk[room:] if room < len(chunk) else b""
            if rest:
                self._tail.append(rest)
                self._tail_size += len(rest)
                while self._tail_size - len(self._tail[0]) >= TAIL:
                    self._tail_size -= len(self._tail.popleft())
            return self._show(chunk)

    def _show(self, chunk: bytes) -> bool:
        now = monotonic()
        earned = (now - self._counted) * _LIVE_LINES
        self._allowance = min(float(_LIVE_LINES), self._allowance + earned)
        self._counted = now
        *lines, unfinished = (self._unfinished + chunk[-(64 << 10) :]).split(b"\n")
        self._unfinished = unfinished[: 4 * WIDTH]
        taken = min(int(self._allowance), len(lines))
        self._allowance -= taken
        shown = [clean(line.decode("utf-8", "replace")) for line in lines[:taken]]
        self._live.extend(line for line in shown if line)
        return bool(self._live)

    def live(self) -> list[str]:
        """Return the lines that came since the last call, as far as the rate allows."""
        with self._lock:
            lines = list(self._live)
            self._live.clear()
            return lines

    def lines(self, since: int = 0) -> list[str]:
        """Return what is kept of the output after position *since*, each line :func:`clean`."""
        with self._lock:
            head = bytes(self._head[since:])
            tail = b"".join(self._tail)
            start = self._size - len(tail)
            skipped = start - len(self._head)
            if since > start:
                tail = tail[since - start :]
        gap = f"\n… {skipped} bytes left out …\n".encode() if skipped and since < start else b""
        text = (head + gap + tail).decode("utf-8", "replace")
        cleaned = (clean(line) for line in re.split(r"[\r\n]+", text))
        return [line for line in cleaned if line]
