"""llama.cpp build numbers, and three-valued answers about ranges of them.

Sources often know only a bracket ("absent in b9843, present in b9847"), and a server often
shows only a span ("some build between b10644 and b10816"). Every comparison here therefore
answers ``True``, ``False`` or ``None`` for "cannot be told".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG = re.compile(r"b?([1-9][0-9]{0,8})")
_BETWEEN = ".."


@dataclass(frozen=True, order=True, slots=True)
class Build:
    """A llama.cpp release build: ``b6123`` on GitHub, counted in commits."""

    number: int

    @classmethod
    def parse(cls, text: str) -> Build:
        """Read ``b6123`` or ``6123``."""
        match = _TAG.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"not a build number: {text!r} (expected e.g. 'b6123')")
        return cls(int(match[1]))

    def __str__(self) -> str:
        return f"b{self.number}"


_NEVER = Build(999_999_999)
"""Later than every build, and than every horizon."""


@dataclass(frozen=True, slots=True)
class Span:
    """What is known of one server's build: it is at least ``first`` and at most ``last``."""

    first: Build
    last: Build

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"{self.last} must not be before {self.first}")

    @classmethod
    def exactly(cls, number: int) -> Span:
        return cls(Build(number), Build(number))

    @classmethod
    def since(cls, first: Build) -> Span:
        """Return the span of *first* and every later build: nothing says how much later."""
        return cls(first, _NEVER)

    @property
    def is_open(self) -> bool:
        return self.last == _NEVER

    @classmethod
    def parse(cls, text: str) -> Span:
        """Read ``b9600`` or ``b9600..b9700`` (both ends inclusive)."""
        first, dots, last = text.partition(_BETWEEN)
        return cls(Build.parse(first), Build.parse(last if dots else first))

    def __str__(self) -> str:
        if self.first == self.last:
            return str(self.first)
        if self.is_open:
            return f"{self.first} or later"
        return f"a build between {self.first} and {self.last}"


@dataclass(frozen=True, slots=True)
class Bracket:
    """When something came or went: not yet in ``last_without``, there in ``first_with``."""

    last_without: Build
    first_with: Build

    def __post_init__(self) -> None:
        if self.first_with <= self.last_without:
            raise ValueError(f"{self.first_with} must be after {self.last_without}")

    @classmethod
    def parse(cls, text: str) -> Bracket:
        """Read ``b9551`` (known to the build) or ``b9843..b9847`` (absent in, present in)."""
        without, dots, with_ = text.partition(_BETWEEN)
        if dots:
            return cls(Build.parse(without), Build.parse(with_))
        first = Build.parse(without)
        return cls(Build(first.number - 1), first)

    def reached_by(self, build: Span) -> bool | None:
        """Whether *build* has it; ``None`` where the bracket or the span leaves it open."""
        if build.first >= self.first_with:
            return True
        if build.last <= self.last_without:
            return False
        return None

    @property
    def exact(self) -> bool:
        return self.first_with.number == self.last_without.number + 1

    def __str__(self) -> str:
        if self.exact:
            return str(self.first_with)
        return f"{self.first_with} (absent in {self.last_without})"


@dataclass(frozen=True, slots=True)
class BuildRange:
    """The builds in which something holds, from ``introduced`` until ``fixed``."""

    introduced: Bracket
    fixed: Bracket | None = None

    def __post_init__(self) -> None:
        if self.fixed is not None and self.fixed.first_with <= self.introduced.first_with:
            raise ValueError(f"fixed {self.fixed} must be after introduced {self.introduced}")

    def holds(self, build: Span, horizon: Build) -> bool | None:
        """Whether *build* is inside; ``None`` inside a bracket, or past *horizon* if never fixed.

        A range that was closed stays closed at any later build; an open one is a claim up to the
        newest build that was looked at, and no further.
        """
        introduced = self.introduced.reached_by(build)
        if introduced is False:
            return False
        fixed = self.fixed.reached_by(build) if self.fixed is not None else False
        if fixed is True:
            return False
        if fixed is None or introduced is None:
            return None
        return None if self.fixed is None and build.last > horizon else True

    def __str__(self) -> str:
        if self.fixed is None:
            return f"since {self.introduced.first_with}"
        last = max(self.introduced.first_with, self.fixed.last_without)
        surely = f"{self.introduced.first_with} to {last}"
        return surely if self.fixed.exact else f"{surely} (gone in {self.fixed.first_with})"
