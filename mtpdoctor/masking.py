"""Credentials of the command, taken out of everything that is said of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mtpdoctor.engine import Result
from mtpdoctor.events import LogLine, ProbeDone, SmokeEvent
from mtpdoctor.facts import Crash, Launch, SmokeRun, Unknown
from mtpdoctor.findings import Advice, Finding, Fix, SetFlag
from mtpdoctor.launch import mask_text, masked, masked_environment, suggest
from mtpdoctor.launch.privacy import MASK

_SHORTEST = 4
"""A shorter value is no credential worth the name, and would turn up in ordinary words."""


@dataclass(frozen=True, slots=True)
class Mask:
    """Knows the credentials of one command, and hides them wherever they turn up."""

    secrets: tuple[str, ...]
    """The longest first, so that none leaves a part of another."""

    @classmethod
    def of(cls, launch: Launch) -> Mask:
        """Return the mask for every value that is never shown of *launch*."""
        hidden = set(_hidden(launch.words, masked(launch.words)))
        hidden |= set(_misspelt(launch))
        variables = launch.environment
        hidden |= set(_hidden(variables.values(), masked_environment(variables).values()))
        return cls(tuple(sorted((s for s in hidden if len(s) >= _SHORTEST), key=len, reverse=True)))

    def text(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return mask_text(text)

    def result(self, result: Result) -> Result:
        findings = tuple(map(self._finding, result.findings))
        return replace(result, findings=findings, reason=self.text(result.reason))

    def run(self, run: SmokeRun) -> SmokeRun:
        attempts = tuple(
            replace(
                attempt,
                argv=tuple(map(self.text, attempt.argv)),
                crash=None if attempt.crash is None else self._crash(attempt.crash),
            )
            for attempt in run.attempts
        )
        return replace(run, attempts=attempts)

    def event(self, event: ProbeDone | SmokeEvent) -> ProbeDone | SmokeEvent:
        if isinstance(event, LogLine):
            return replace(event, text=self.text(event.text))
        if isinstance(event, ProbeDone) and isinstance(event.fact, Unknown):
            return replace(event, fact=Unknown(self.text(event.fact.reason)))
        return event

    def _finding(self, finding: Finding) -> Finding:
        evidence = tuple(replace(each, says=self.text(each.says)) for each in finding.evidence)
        return replace(
            finding,
            says=self.text(finding.says),
            about=self.text(finding.about),
            evidence=evidence,
            fixes=tuple(map(self._fix, finding.fixes)),
        )

    def _fix(self, fix: Fix) -> Fix:
        match fix:
            case SetFlag(value=str() as value):
                return replace(fix, value=self.text(value))
            case Advice():
                return replace(fix, says=self.text(fix.says), command=self.text(fix.command))
            case _:
                return fix

    def _crash(self, crash: Crash) -> Crash:
        tail = tuple(map(self.text, crash.log_tail))
        return replace(crash, cause=self.text(crash.cause), log_tail=tail)


def _misspelt(launch: Launch) -> Iterable[str]:
    """Yield the values of flags that are unknown, and look like one that takes a credential."""
    for option in launch.options:
        if option.flag is None and option.values:
            meant = suggest(option.spelled.lower(), launch.table)
            if meant and MASK in masked((meant, option.values[0])):
                yield from option.values


def _hidden(words: Iterable[str], shown: Iterable[str]) -> Iterable[str]:
    """Yield what of *words* does not stand in *shown*: whole values, and those behind a ``=``."""
    for word, instead in zip(words, shown, strict=True):
        if instead == MASK:
            yield word
        elif word != instead:
            name, _, value = word.partition("=")
            if instead == f"{name}={MASK}":
                yield value
