"""The one seam under every front end: a request in, events out, the report last."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
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
from mtpdoctor.facts import Facts, Launch, Server, SmokeRun, Target, Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.masking import Mask
from mtpdoctor.probes import gather
from mtpdoctor.report import Report, Scope, exit_code, judge, merged
from mtpdoctor.request import Request
from mtpdoctor.treatment import MOST_ROUNDS, Treatment, Ward, changed


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
    gathering = gather.facts(command, request.environment, book)
    loaded = registry.load()  # while the server answers
    checks = _chosen(loaded.checks, request)
    facts = yield from gathering
    static = {id: check for id, check in checks.items() if not check.needs_run}
    results: dict[str, Result] = {}
    given = facts.get(Launch)
    assert given is not None
    mask = Mask.of(given)
    for result in examine(facts, static):
        results[result.check] = result
        yield CheckDone(result=mask.result(result))
    ward = Ward(checks=static, environment=request.environment)
    treatment = ward.mend(facts, results.values())
    corrected = treatment.launch
    run: SmokeRun | None = None
    skipped = ""
    if request.smoke:
        trial = _Trial(
            request=request, book=book, ward=ward, checks=checks, cancel=cancel or Flag()
        )
        skipped = trial.why_not(facts, treatment)
        if not skipped:
            run, corrected = yield from trial.prove(facts, treatment, results, mask)
            facts = gather.again(facts, given, request.environment).with_(run)
    facts_for_skips = facts if run else facts.without(SmokeRun, skipped or "smoke run: not run")
    for id in checks.keys() - results.keys():
        result = next(examine(facts_for_skips, {id: checks[id]}))
        results[id] = result
        yield CheckDone(result=mask.result(result))
    proved = run is not None and run.proved
    ordered = tuple(results[id] for id in checks if id in results)
    verdict = judge(
        ordered,
        checks,
        fail_on=request.fail_on,
        settled=proved and not changed(given, corrected),
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
            results=tuple(map(mask.result, ordered)),
            ignored=request.ignore,
            broken=loaded.broken,
            launch=given,
            corrected=corrected if changed(given, corrected) else None,
            smoke=None if run is None else mask.run(run),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """What stays the same while one command is run, mended, and run again."""

    request: Request
    book: Knowledge
    ward: Ward
    checks: Mapping[str, Check[Any]]
    cancel: Flag

    def why_not(self, facts: Facts, treatment: Treatment) -> str:
        """Return why a run would be pointless; empty when it would not."""
        target = facts.get(Target)
        if self.request.offline and target is not None and isinstance(target.path, Unknown):
            return f"not run, because of --offline: {target.path.reason}"
        if treatment.obstacle and not self.request.force:
            return f"not run, because {treatment.obstacle} stands"
        return ""

    def prove(
        self, facts: Facts, treatment: Treatment, results: dict[str, Result], mask: Mask
    ) -> Generator[Event, None, tuple[SmokeRun, Launch]]:
        """Run the command, mend it where the run shows how, and run it again.

        What is found of the command as given stays found in *results*, also when its mended form
        is proved: the graver answer stands.
        """
        from mtpdoctor import smoke  # the static path need not pay for it

        given, server = facts.get(Launch), facts.get(Server)
        assert given is not None
        assert server is not None
        settings = smoke.Settings(
            timeout=self.request.timeout,
            min_acceptance=self.request.min_acceptance,
            min_speedup=self.request.min_speedup,
        )
        offline = self.request.offline and given.table.accepts("--offline")
        current, run = treatment.launch, SmokeRun()
        for round_ in range(1, MOST_ROUNDS + 1):
            asked = launch.with_flags(current, (("--offline", None),)) if offline else current
            running = smoke.run(
                asked,
                binary=_program(server),
                knowledge=self.book,
                settings=replace(settings, corrected=changed(given, current)),
                cancel=self.cancel,
            )
            latest = yield from _masked(running, mask)
            run = replace(latest, attempts=run.attempts + latest.attempts)
            # All checks: what was downloaded can be read now, and what the fixes mended no longer
            # explains how the mended command ends.
            after = gather.again(facts, current, self.request.environment).with_(latest)
            found = tuple(examine(after, self.checks))
            for result in found:
                earlier = results.get(result.check)
                told = merged(earlier, result, mended=changed(given, current))
                results[result.check] = told
                if earlier is None or replace(earlier, seconds=told.seconds) != told:
                    yield CheckDone(result=mask.result(told))
            if latest.proved or self.cancel.is_set() or round_ == MOST_ROUNDS:
                break
            following = self.ward.mend(after, found).launch
            if not changed(current, following):
                break
            current = following
            yield SmokeStage(step="repair", says="trying again with what the run showed")
        return run, current


def _masked(
    running: Generator[SmokeEvent, None, SmokeRun], mask: Mask
) -> Generator[Event, None, SmokeRun]:
    """Yield what *running* yields, with its lines masked; closing this closes it."""
    try:
        while True:
            yield mask.event(next(running))
    except StopIteration as end:
        run: SmokeRun = end.value
        return run
    finally:
        running.close()


def _program(server: Server) -> str:
    return server.named if isinstance(server.path, Unknown) else server.path
