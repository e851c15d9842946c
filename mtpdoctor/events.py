"""What happens while the doctor works, in the order in which it happens.

Front ends read these and nothing else; the last one carries the report (see ``report``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mtpdoctor.engine import Result
from mtpdoctor.facts import ArmName


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeDone:
    """One probe has answered."""

    probe: str
    """``server``, ``target``, ``drafter``, ``gpus``, ``host``, ``hub``."""
    fact: object
    """The fact, or an :class:`~mtpdoctor.facts.Unknown` with the reason."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDone:
    """One check has answered; a later answer of the same check takes its place."""

    result: Result


Step = Literal["download", "start", "wait", "warm-up", "request", "stop", "repair"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeStage:
    """The smoke run goes on to something else."""

    step: Step
    says: str
    """In words, for a person who watches: ``mtp: waiting for the model to load``."""
    arm: ArmName | None = None
    done: int = 0
    """How many of the ``total`` steps of the run are behind."""
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeSample:
    """One request was answered."""

    arm: ArmName
    request: str
    predicted: int
    tokens_per_second: float
    drafted: int = 0
    accepted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line that the server printed: bounded, and safe for a terminal."""

    arm: ArmName
    text: str


SmokeEvent = SmokeStage | SmokeSample | LogLine
