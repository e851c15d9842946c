"""Which commit and which day belong to which build number."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from mtpdoctor.builds import Build, Span

_SHORTEST_COMMIT = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One row of ``builds.tsv``."""

    build: Build
    commit: str
    """Lower-case hexadecimal, as many digits as were seen; empty where none was."""
    day: date
    precision: str
    """How the day is known: ``release``, ``tag``, ``issue``, ``sdist`` or ``approx``."""


@dataclass(frozen=True)
class Releases:
    """The rows, in order of build number, which is also the order of time."""

    rows: tuple[Release, ...]

    @classmethod
    def read(cls, lines: Iterable[str]) -> Releases:
        """Read tab-separated ``build commit date precision source`` lines; ``#`` is a comment."""
        rows = []
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            number, commit, day, precision, *_ = line.rstrip("\n").split("\t")
            rows.append(
                Release(
                    build=Build(int(number)),
                    commit="" if commit == "-" else commit.lower(),
                    day=date.fromisoformat(day[:10]),
                    precision=precision,
                )
            )
        return cls(tuple(sorted(rows, key=lambda row: row.build)))

    @cached_property
    def _numbers(self) -> list[int]:
        return [row.build.number for row in self.rows]

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
        return self.rows[before].day, self.rows[after].day
