"""Runs probes at once, each with a deadline; none can hold the others up, or the exit.

A call into a hung driver, or a read from a dead network share, cannot be broken off. Its thread
is left behind: it is a daemon, which the interpreter does not wait for. (A ThreadPoolExecutor
joins its threads at exit, and would hang.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from mtpdoctor.events import ProbeDone
from mtpdoctor.facts import Unknown
from mtpdoctor.visible import visible

_GLANCE = 0.1
"""Seconds between two looks at *cancel*."""
_LONGEST_REASON = 300


def run(
    tasks: Mapping[str, Callable[[], object]], *, deadline: float, cancel: Event | None = None
) -> Iterator[ProbeDone]:
    """Start every task at once, and return an iterator that yields each answer as it comes.

    The tasks are under way when this returns, whenever the answers are asked for. A task that
    raises, that gives no answer within *deadline* seconds of the start, or that is still at work
    when *cancel* is set, is answered by an Unknown. So each name is yielded once.
    """
    answers: SimpleQueue[ProbeDone] = SimpleQueue()
    started = monotonic()
    for name, task in tasks.items():
        Thread(
            target=_answer, args=(name, task, answers), name=f"probe {name}", daemon=True
        ).start()
    return _answers(dict.fromkeys(tasks), answers, started, deadline, cancel)


def _answers(
    waiting: dict[str, None],
    answers: SimpleQueue[ProbeDone],
    started: float,
    deadline: float,
    cancel: Event | None,
) -> Iterator[ProbeDone]:
    reason = f"did not answer within {deadline:g} s"
    while waiting:
        left = started + deadline - monotonic()
        if cancel is not None and cancel.is_set():
            reason = "cancelled before it answered"
            break
        try:
            done = answers.get(timeout=max(0.0, left if cancel is None else min(left, _GLANCE)))
        except Empty:
            if left <= 0:
                break
            continue
        del waiting[done.probe]
        yield done
    for name in waiting:
        yield ProbeDone(probe=name, fact=Unknown(reason), seconds=monotonic() - started)


def _answer(name: str, task: Callable[[], object], answers: SimpleQueue[ProbeDone]) -> None:
    started = monotonic()
    fact: object
    try:
        fact = task()
    except Exception as error:  # noqa: BLE001  a probe that raises must not end the examination
        says = visible(f"{type(error).__name__}: {error}", _LONGEST_REASON)
        fact = Unknown(f"the probe failed: {says}")
    answers.put(ProbeDone(probe=name, fact=fact, seconds=monotonic() - started))
