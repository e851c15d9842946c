"""The one seam under every front end: a request in, events out, the report last."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from threading import Event as Flag
from time import perf_counter
from typing import Any

from mtpdoctor import knowledge, launch, registry
from mtpdoctor.checks import Check
from mtpdoctor.engine import Result, examine
from mtpdoctor.errors import DoctorError
from mtpdoctor.events import CheckDone, ProbeDone, SmokeEvent, SmokeStage
from mtpdoctor.facts import Facts, Launch, Server, SmokeRun, Unknown
from mtpdoctor.findings import Finding, Fix, Severity
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.probes import gather
from mtpdoctor.report import Report, Scope, exit_code, judge
from mtpdoctor.request import Request

_MOST_REPAIRS = 3
"""How often a command is mended and tried again before the doctor gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The end, and what came of it."""

    report: Report


Event = ProbeDone | CheckDone | SmokeEvent | Finished


def diagnose(request: Request, cancel: Flag | None = None) -> Iterator[Event]:
    """Examine *request*, and yield what happens; the last event is :class:`Finished`.

    Setting *cancel* ends a smoke run early; closing the generator ends it at once. Either way
    nothing is left running. Raises :exc:`DoctorError` for a request that cannot be examined.
    """
    started, clock = datetime.now(UTC), perf_counter()
    book = knowledge.load()
    command = launch.split(request.words, request.environment)
    loaded = registry.load()
    checks = _chosen(loaded.checks, request)
    facts = yield from gather.facts(command, request.environment, book)
    static = {id: check for id, check in checks.items() if not check.needs_run}
    results: dict[str, Result] = {}
    for result in examine(facts, static):
        results[result.check] = result
        yield CheckDone(result=result)
    given = facts.get(Launch)
    case = _Case(request=request, book=book, checks=checks, cancel=cancel or Flag())
    corrected = case.mend(facts, results)
    run: SmokeRun | None = None
    skipped = ""
    if request.smoke:
        skipped = case.why_not_run(results)
        if not skipped:
            run, corrected = yield from case.prove(facts, corrected, results)
            facts = facts.with_(run)
    facts_for_skips = facts if run else facts.without(SmokeRun, skipped or "smoke run: not run")
    for id in checks.keys() - results.keys():
        result = next(examine(facts_for_skips, {id: checks[id]}))
        results[id] = result
        yield CheckDone(result=result)
    proved = run is not None and run.proved
    ordered = tuple(results[id] for id in checks if id in results)
    verdict = judge(
        ordered,
        checks,
        fail_on=request.fail_on,
        proved=proved,
        complete=not loaded.broken and (proved or not request.smoke),
    )
    scope: Scope = "smoke" if request.smoke else "static"
    yield Finished(
        report=Report(
            started_at=started,
            seconds=perf_counter() - clock,
            revision=book.revision.isoformat(),
            horizon=book.horizon,
            scope=scope,
            verdict=verdict,
            exit_code=exit_code(verdict, scope, strict=request.strict),
            facts=facts,
            checks=checks,
            results=ordered,
            ignored=request.ignore,
            broken=loaded.broken,
            launch=given,
            corrected=corrected,
            smoke=run,
            smoke_skipped=skipped,
            proved=proved,
        )
    )


def _chosen(checks: Mapping[str, Check[Any]], request: Request) -> dict[str, Check[Any]]:
    """Return the checks that *request* asks for; an id that does not exist is a mistake."""
    for id in (request.select or frozenset()) | request.ignore.keys():
        if id not in checks:
            near = get_close_matches(id, checks, n=1)
            hint = f"did you mean {near[0]}?" if near else "mtpdoctor checks lists them all"
            raise DoctorError(f"there is no check called {id!r}", hint)
    return {
        id: check
        for id, check in checks.items()
        if (request.select is None or id in request.select) and id not in request.ignore
    }


def safe_fixes(results: Iterable[Result]) -> tuple[Fix, ...]:
    """Return the first safe fix of each finding that is more than a remark."""
    return tuple(
        fix
        for finding in _findings(results)
        if finding.severity is not Severity.INFO
        for fix in [next((fix for fix in finding.fixes if fix.safe), None)]
        if fix is not None
    )


def _findings(results: Iterable[Result]) -> Iterator[Finding]:
    for result in results:
        yield from result.findings


def _gravity(result: Result) -> int:
    return max((1 + finding.severity.rank for finding in result.findings), default=0)


def _changed(old: Launch, new: Launch) -> bool:
    return (old.words, dict(old.environment)) != (new.words, dict(new.environment))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """What stays the same while one command is mended and tried."""

    request: Request
    book: Knowledge
    checks: Mapping[str, Check[Any]]
    cancel: Flag

    def mend(self, facts: Facts, results: Mapping[str, Result]) -> Launch | None:
        """Return the command with every safe fix, and the fixes that those make necessary.

        ``None`` when there is nothing to fix.
        """
        given = facts.get(Launch)
        if given is None:
            return None
        mended, found = given, tuple(results.values())
        static = {id: check for id, check in self.checks.items() if not check.needs_run}
        for _ in range(_MOST_REPAIRS):
            fixes = safe_fixes(found)
            following = launch.apply(mended, fixes) if fixes else mended
            if not _changed(mended, following):
                break
            mended = following
            found = tuple(examine(gather.again(facts, mended, self.request.environment), static))
        return mended if _changed(given, mended) else None

    def why_not_run(self, results: Mapping[str, Result]) -> str:
        """Return why a smoke run would be pointless: an error that no safe fix removes."""
        for result in results.values():
            for finding in result.findings:
                unsafe = not any(fix.safe for fix in finding.fixes)
                if finding.severity is Severity.ERROR and unsafe and not self.request.force:
                    return f"not run, because {result.check} stands"
        return ""

    def prove(
        self, facts: Facts, corrected: Launch | None, results: dict[str, Result]
    ) -> Generator[Event, None, tuple[SmokeRun, Launch | None]]:
        """Run the command, mend it where the run shows how, and run it again.

        What a run found of the command as given stays found, also when its mended form is proved.
        """
        from mtpdoctor import smoke  # the static path need not pay for it

        given, server = facts.get(Launch), facts.get(Server)
        assert given is not None
        assert server is not None
        reading = {id: check for id, check in self.checks.items() if check.reads_run}
        settings = smoke.Settings(
            timeout=self.request.timeout,
            min_acceptance=self.request.min_acceptance,
            min_speedup=self.request.min_speedup,
        )
        run = SmokeRun()
        for _ in range(_MOST_REPAIRS):
            current = corrected or given
            latest = yield from smoke.run(
                current,
                binary=_program(server),
                knowledge=self.book,
                settings=replace(settings, corrected=corrected is not None),
                cancel=self.cancel,
            )
            run = replace(latest, attempts=run.attempts + latest.attempts)
            after = gather.again(facts, current, self.request.environment).with_(latest)
            # What the fixes mended no longer explains how the mended command ends.
            static = {id: check for id, check in self.checks.items() if id not in reading}
            found = list(examine(after, reading, earlier=tuple(examine(after, static))))
            for result in found:
                earlier = results.get(result.check)
                if earlier is None or _gravity(result) >= _gravity(earlier):
                    results[result.check] = result
                    yield CheckDone(result=result)
            if latest.proved or self.cancel.is_set():
                break
            following = launch.apply(current, safe_fixes(found))
            if not _changed(current, following):
                break
            corrected = following
            yield SmokeStage(step="repair", says="trying again with what the run showed")
        return run, corrected


def _program(server: Server) -> str:
    return server.named if isinstance(server.path, Unknown) else server.path
