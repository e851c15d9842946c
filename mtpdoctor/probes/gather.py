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
    if isinstance(models, Unknown):  # a dead network share: reading again would hang as well
        models = model.Models(target=Target(path=models, header=models))
    elif not isinstance(models, model.Models) or model.names(given) != model.names(guess):
        models = model.probe(given, surroundings)
    for part in (models.target, models.drafter, models.hub):
        if part is not None:
            yield ProbeDone(probe=type(part).__name__.lower(), fact=part, seconds=models.seconds)
    return _with_models(
        Facts(
            book,
            asked,
            given,
            _or(answers["gpus"], Gpus(state="failed", says="NVML did not answer")),
            _or(answers["host"], Host()),
        ),
        models,
    )


def again(known: Facts, changed: Launch, environment: Mapping[str, str]) -> Facts:
    """Return *known* for a changed command: its models are looked up anew."""
    surroundings = commands.environment_for(changed, environment)
    return _with_models(known.with_(changed), model.probe(changed, surroundings))


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
