"""What the doctor says of a case without a run, by its own probes and engine."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property

from differential.servers import Server

from mtpdoctor import knowledge, launch, registry
from mtpdoctor.engine import Outcome, Result, examine
from mtpdoctor.facts import Facts, SmokeRun
from mtpdoctor.facts import Server as Examined
from mtpdoctor.findings import Severity
from mtpdoctor.probes import gather
from mtpdoctor.report import Verdict, judge


@dataclass(frozen=True)
class Opinion:
    """A static verdict and what it rests on."""

    verdict: Verdict
    errors: tuple[str, ...]
    """Ids of the checks that found an error."""
    open: tuple[str, ...]
    """Ids of the checks that could not tell, each with its reason."""
    says: str = ""
    """The first line of the first error."""


class Doctor:
    """The doctor before one server, which is probed once for all cases."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.book = knowledge.load()
        loaded = registry.load()
        assert not loaded.broken
        self.checks = loaded.checks

    @cached_property
    def facts(self) -> Facts:
        """Everything but the command and its files."""
        command = launch.split((str(self.server.binary), "-m", os.devnull), self.server.environment)
        probing = gather.facts(command, self.server.environment, self.book)
        return _returned(probing)

    def examine(self, words: Sequence[str], environment: dict[str, str]) -> Opinion:
        """Judge the command of *words* as ``mtpdoctor --json --static`` would."""
        surroundings = self.server.environment | environment
        command = launch.split((str(self.server.binary), *words), surroundings)
        examined = self.facts.get(Examined)
        assert examined is not None
        table = examined.flags
        assert not hasattr(table, "reason"), table
        given = launch.parse(command, table)
        facts = gather.again(self.facts, given, surroundings)
        static = {id: check for id, check in self.checks.items() if not check.needs_run}
        results = [*examine(facts, static)]
        others = {id: check for id, check in self.checks.items() if check.needs_run}
        results += examine(facts.without(SmokeRun, "smoke run: not run"), others)
        return self._opinion(results)

    def _opinion(self, results: Sequence[Result]) -> Opinion:
        verdict = judge(results, self.checks, fail_on=Severity.ERROR, settled=False, complete=True)
        errors = [
            (result.check, finding.says.partition("\n")[0])
            for result in results
            for finding in result.findings
            if finding.severity is Severity.ERROR
        ]
        undecided = tuple(
            f"{result.check}: {result.reason}"
            for result in results
            if result.outcome in {Outcome.UNKNOWN, Outcome.CRASHED}
        )
        return Opinion(
            verdict,
            tuple(dict.fromkeys(id for id, _ in errors)),
            undecided,
            errors[0][1] if errors else "",
        )


def _returned(probing: Generator[object, None, Facts]) -> Facts:
    """Run *probing* to its end, and return what it comes to."""
    facts = Facts()

    def whole() -> Generator[object, None, None]:
        nonlocal facts
        facts = yield from probing

    for _ in whole():
        pass
    return facts
