"""All probes of one examination, run at once, and the facts that they come to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from mtpdoctor import launch as commands
from mtpdoctor.events import ProbeDone
from mtpdoctor.facts import (
    Drafter,
    Facts,
    FlagTable,
    Gpus,
    Host,
    HubRepo,
    Launch,
    Server,
    Target,
    Unknown,
)
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.launch import Command
from mtpdoctor.probes import gpu, host, model, server, together

T = TypeVar("T")
DEADLINE = 20.0
"""Seconds that a probe may take before its answer is unknown."""


def facts(
    command: Command, environment: Mapping[str, str], book: Knowledge
) -> Generator[ProbeDone, None, Facts]:
    """Ask everything at once; what the server's own help is needed for comes after it.

    The probes are under way when this returns. The model files are read meanwhile, on the guess
    that this server reads the command as most do.
    """
    surroundings = {**environment, **command.environment}
    guess = commands.parse(command, commands.shipped())
    tasks: dict[str, Callable[[], object]] = {
        "server": lambda: server.probe(command.program, environment=surroundings, knowledge=book),
        "models": lambda: model.probe(guess, surroundings),
        "gpus": gpu.probe,
        "host": host.probe,
    }
    under_way = together.run(tasks, deadline=DEADLINE)
    return _collected(under_way, command, surroundings, guess, book)


def _collected(
    under_way: Iterator[ProbeDone],
    command: Command,
    surroundings: Mapping[str, str],
    guess: Launch,
    book: Knowledge,
) -> Generator[ProbeDone, None, Facts]:
    answers: dict[str, object] = {}
    models: object = Unknown("the model files were not read")
    for done in under_way:
        if done.probe == "models":
            models = done.fact
        else:
            answers[done.probe] = done.fact
            yield done
    asked = _or(answers["server"], Server(named=command.program))
    given = commands.parse(command, _table(asked))
    found = _models(models)
    # What did not answer, a dead network share say, would hang when it is asked again.
    if isinstance(models, model.Models) and model.names(given) != model.names(guess):
        found = model.probe(given, surroundings)
    for part in (found.target, found.drafter, found.hub):
        if part is not None:
            yield ProbeDone(probe=type(part).__name__.lower(), fact=part, seconds=found.seconds)
    return _with_models(
        Facts(
            book,
            asked,
            given,
            _or(answers["gpus"], Gpus(state="failed", says="NVML did not answer")),
            _or(answers["host"], Host()),
        ),
        found,
    )


def again(known: Facts, changed: Launch, environment: Mapping[str, str]) -> Facts:
    """Return *known* for a changed command; its models are looked up anew if they may differ."""
    before = known.get(Launch)
    if before is not None and model.names(before) == model.names(changed) and _complete(known):
        return known.with_(changed)
    surroundings = commands.environment_for(changed, environment)
    task = {"models": lambda: model.probe(changed, surroundings)}
    (done,) = together.run(task, deadline=DEADLINE)
    return _with_models(known.with_(changed), _models(done.fact))


def _complete(known: Facts) -> bool:
    """Whether nothing of the models could have been downloaded since they were looked up."""
    models = (known.get(Target), known.get(Drafter))
    if known.get(HubRepo) is not None and None in models:
        return False
    return not any(each is not None and isinstance(each.path, Unknown) for each in models)


def _models(answer: object) -> model.Models:
    """Return an answer of the model probe; what it did not find out in time is unknown."""
    if isinstance(answer, model.Models):
        return answer
    reason = answer if isinstance(answer, Unknown) else Unknown("the model files were not read")
    return model.Models(target=Target(path=reason, header=reason))


def _with_models(known: Facts, models: model.Models) -> Facts:
    for kind, part in ((Target, models.target), (Drafter, models.drafter), (HubRepo, models.hub)):
        known = known.with_(part) if part is not None else known.without(kind, _ABSENT[kind])
    return known


_ABSENT = {
    Target: "the command names no model",
    Drafter: "the command names no drafter",
    HubRepo: "the command names no repository",
}


def _or(answer: object, default: T) -> T:
    """Return *answer* if it is of the kind of *default*, which says that nothing is known."""
    if isinstance(answer, type(default)):
        return answer
    if isinstance(answer, Unknown) and isinstance(default, Server):
        return replace(default, path=answer, failure=answer, flags=answer)
    return default


def _table(asked: Server) -> FlagTable:
    return commands.shipped() if isinstance(asked.flags, Unknown) else asked.flags
