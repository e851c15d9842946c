"""No check passes on what it does not know: each fact that it read is taken away in turn.

The examples of the pages that pass are run again with one field unknown. What may still pass
stands in ``STILL_PASSES``, each with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pages.harness import Example, examples, patient
from pages.test_check_pages import CHECKS, text

from mtpdoctor import knowledge
from mtpdoctor.checks import Check
from mtpdoctor.engine import Outcome, examine
from mtpdoctor.facts import Drafter, Facts, Gpus, Host, HubRepo, Server, SmokeRun, Target, Unknown

KINDS: tuple[type[Any], ...] = (Server, Target, Drafter, Gpus, Host, HubRepo, SmokeRun)

STILL_PASSES = {
    ("build-too-old", "Server.flags"): "the build's number decides in their place",
    ("cpu-features-missing", "Server.failure"): "what the processor lacks is looked for by itself",
    ("drafter-arch-unknown", "Target.header"): "it tells which drafter to advise, no more",
    ("flash-attention-abort", "Server.devices"): "taken for used; then the build decides",
    ("flash-attention-off-needlessly", "Server.devices"): "taken for used; then the build decides",
    ("known-bug", "Drafter.header"): "no bug of those builds hangs on it",
    ("known-bug", "Target.header"): "no bug of those builds hangs on it",
    ("spec-type-unknown", "Server.flags"): "draft-mtp itself is build-too-old's to judge",
    ("target-arch-unknown", "Server.architectures"): "the build's number decides in its place",
}
"""Check and field to why the answer does not hang on it."""


def takeable(kind: type[Any]) -> Iterator[str]:
    """Yield the fields of *kind* that a probe may fail to learn."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        if Unknown in get_args(hints[field.name]):
            yield field.name


def read_by(check: Check[Any], facts: Facts) -> set[str]:
    """Return which fields the check reads, as ``Server.devices``, when it looks at *facts*."""
    seen: set[str] = set()
    with pytest.MonkeyPatch.context() as watched:
        for kind in KINDS:
            watched.setattr(kind, "__getattribute__", _noting(kind, seen))
        list(examine(facts, {check.id: check}))
    return seen


def _noting(kind: type[Any], seen: set[str]) -> Any:
    def get(self: object, name: str) -> object:
        seen.add(f"{kind.__name__}.{name}")
        return object.__getattribute__(self, name)

    return get


def outcome(check: Check[Any], facts: Facts) -> Outcome:
    (result,) = examine(facts, {check.id: check})
    return result.outcome


def passing() -> Iterator[tuple[str, Example]]:
    for id, check in CHECKS.items():
        for example in examples(text(id)):
            if outcome(check, patient(example.facts)) is Outcome.PASSED:
                yield id, example


PASSING = list(passing())


@cache
def blind(id: str, stated: str) -> frozenset[tuple[str, str]]:
    """Return what the check reads, and passes without all the same."""
    check, whole = CHECKS[id], patient(stated)
    seen = read_by(check, whole)
    found = set()
    for kind in KINDS:
        value: Any = whole.get(kind)
        for name in takeable(kind) if value is not None else ():
            field = f"{kind.__name__}.{name}"
            if field in seen and not isinstance(getattr(value, name), Unknown):
                less = whole.with_(replace(value, **{name: Unknown("nobody looked")}))
                if outcome(check, less) is Outcome.PASSED:
                    found.add((id, field))
    return frozenset(found)


@pytest.mark.parametrize(
    ("id", "example"), [pytest.param(id, e, id=f"{id}:{e.line}") for id, e in PASSING]
)
def test_no_check_passes_without_a_fact_that_it_read(id: str, example: Example) -> None:
    assert blind(id, example.facts) <= STILL_PASSES.keys()


def test_no_reason_stands_for_nothing() -> None:
    needed = [blind(id, example.facts) for id, example in PASSING]

    assert STILL_PASSES.keys() <= frozenset().union(*needed)


def test_every_known_bug_is_looked_for() -> None:
    folder = Path(__file__).parents[2] / "checks" / "mtpdoctor_checks"
    sources = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    bugs = {bug.id for bug in knowledge.load().bugs}
    named = {id for id in bugs if f'"{id}"' in sources}

    assert bugs - named == set()
