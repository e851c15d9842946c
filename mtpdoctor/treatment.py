"""From findings to a corrected command: safe fixes alone, each chosen by what it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mtpdoctor import launch as commands
from mtpdoctor.checks import Check
from mtpdoctor.engine import Result, examine
from mtpdoctor.facts import Facts, Launch
from mtpdoctor.findings import Finding, Severity
from mtpdoctor.probes import gather

MOST_ROUNDS = 3
"""How often a command is mended and looked at again before the doctor gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """A command after the safe fixes that its findings offer, and what is found of it then."""

    launch: Launch
    results: tuple[Result, ...]

    @property
    def obstacle(self) -> str:
        """The check whose error no safe fix removes; empty if there is none."""
        for result in self.results:
            for finding in result.findings:
                if finding.severity is Severity.ERROR and not any(f.safe for f in finding.fixes):
                    return result.check
        return ""


def changed(old: Launch, new: Launch) -> bool:
    """Whether *new* starts anything else than *old*."""
    return (old.words, dict(old.environment)) != (new.words, dict(new.environment))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ward:
    """Where commands are mended: the checks that look at them, and the surrounding shell."""

    checks: Mapping[str, Check[Any]]
    environment: Mapping[str, str]

    def mend(self, facts: Facts, results: Iterable[Result]) -> Treatment:
        """Return the command of *facts* with the safe fixes of *results* and what they entail."""
        given = facts.get(Launch)
        assert given is not None
        current = Treatment(launch=given, results=tuple(results))
        for _ in range(MOST_ROUNDS):
            following = current.launch
            for finding in _serious(current.results):
                following = self._treated(facts, following, finding)
            if not changed(current.launch, following):
                break
            current = Treatment(launch=following, results=self.look_at(facts, following))
        return current

    def look_at(self, facts: Facts, launch: Launch) -> tuple[Result, ...]:
        """Examine another command on the same machine."""
        return tuple(examine(gather.again(facts, launch, self.environment), self.checks))

    def _treated(self, facts: Facts, launch: Launch, finding: Finding) -> Launch:
        """Return *launch* with the safe fix of *finding* that leaves the fewest errors."""
        safe = [fix for fix in finding.fixes if fix.safe]
        candidates = [commands.apply(launch, (fix,)) for fix in safe]
        if len(candidates) < 2:
            return candidates[0] if candidates else launch
        return min(candidates, key=lambda candidate: _errors(self.look_at(facts, candidate)))


def _serious(results: Iterable[Result]) -> Iterable[Finding]:
    """Yield what is more than a remark."""
    for result in results:
        for finding in result.findings:
            if finding.severity is not Severity.INFO:
                yield finding


def _errors(results: Iterable[Result]) -> int:
    return sum(finding.severity is Severity.ERROR for finding in _serious(results))
