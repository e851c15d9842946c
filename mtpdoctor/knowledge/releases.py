"""Which commit and which day belong to which build number."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import accumulate

from mtpdoctor.builds import Build, Span
from mtpdoctor.tables import TableError

_SHORTEST_COMMIT = 7
_COLUMNS = ("build", "commit", "date", "precision", "source")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_NONE = "-"
_LAG = {"release": timedelta(), "tag": timedelta(days=1), "sdist": timedelta(days=1)}
"""How much earlier the build may be than its day; of the other kinds, nobody knows."""
_NO_BOUND = "approx"
_PRECISIONS = (*_LAG, "latest", _NO_BOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One row of ``builds.tsv``."""

    build: Build
    commit: str
    """Lower-case hexadecimal, as many digits as were seen; empty where none was."""
    day: date
    precision: str
    """How the day is known: ``release``, ``tag``, ``sdist``, ``latest`` or ``approx``."""

    @property
    def earliest(self) -> date:
        lag = _LAG.get(self.precision)
        return self.day - lag if lag is not None else date.min

    @property
    def latest(self) -> date:
        return date.max if self.precision == _NO_BOUND else self.day


@dataclass(frozen=True)
class Releases:
    """The rows, in order of build number, which is also the order of time."""

    rows: tuple[Release, ...]

    @classmethod
    def read(cls, lines: Iterable[str]) -> Releases:
        """Read tab-separated ``build commit date precision source`` lines; ``#`` is a comment.

        Raises :exc:`TableError` with every line that is wrong.
        """
        rows, mistakes = [], []
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                rows.append(_row(line.rstrip("\n").split("\t")))
            except ValueError as error:
                mistakes.append(f"line {number}: {error}")
        if mistakes:
            raise TableError(mistakes)
        return cls(tuple(sorted(rows, key=lambda row: row.build)))

    def of_commit(self, commit: str) -> Release | None:
        """Return the row of *commit*, told from its first seven or more digits."""
        wanted = commit.lower()
        if len(wanted) < _SHORTEST_COMMIT:
            return None
        matches = [
            row
            for row in self.rows
            if row.commit and (row.commit.startswith(wanted) or wanted.startswith(row.commit))
        ]
        return matches[0] if len(matches) == 1 else None

    def days(self, build: Span) -> tuple[date, date] | None:
        """Return the days between which *build* was made; ``None`` outside of what is known."""
        before = bisect_right(self._numbers, build.first.number) - 1
        after = bisect_left(self._numbers, build.last.number)
        if before < 0 or after >= len(self.rows):
            return None
        earliest, latest = self._earliest[before], self._latest[after]
        return None if date.min == earliest or date.max == latest else (earliest, latest)

    @cached_property
    def _numbers(self) -> list[int]:
        return [row.build.number for row in self.rows]

    @cached_property
    def _earliest(self) -> list[date]:
        """For each row, the day before which neither it nor anything after it was made."""
        return list(accumulate((row.earliest for row in self.rows), max))

    @cached_property
    def _latest(self) -> list[date]:
        """For each row, the day after which neither it nor anything before it was made."""
        return list(accumulate((row.latest for row in reversed(self.rows)), min))[::-1]


def _row(cells: list[str]) -> Release:
    if len(cells) != len(_COLUMNS):
        raise ValueError(f"expected {', '.join(_COLUMNS)}, got {len(cells)} cells")
    number, commit, day, precision, _source = cells
    if precision not in _PRECISIONS:
        raise ValueError(f"{precision!r} is none of {', '.join(_PRECISIONS)}")
    if commit != _NONE and _COMMIT.fullmatch(commit) is None:
        raise ValueError(f"not a commit: {commit!r}")
    return Release(
        build=Build.parse(number),
        commit="" if commit == _NONE else commit,
        day=date.fromisoformat(day),
        precision=precision,
    )
