"""Between which builds a server lies, told from what it has and has not."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor.builds import Bracket, Build, Span
from mtpdoctor.facts import Architectures, Unknown
from mtpdoctor.knowledge import Knowledge


def between(
    architectures: Architectures | Unknown,
    spec_types: frozenset[str] | Unknown,
    knowledge: Knowledge,
) -> Span | Unknown:
    """Return the builds that have what this one has, and lack what it lacks."""
    seen = list(_seen(architectures, spec_types, knowledge))
    first = [since.last_without.number + 1 for since, there in seen if there]
    last = [since.first_with.number - 1 for since, there in seen if not there]
    if not first or not last:
        return Unknown("what it has and has not does not tell its build")
    if max(first) > min(last):
        return Unknown("it has newer things, and lacks older ones")
    return Span(Build(max(first)), Build(min(last)))


def _seen(
    architectures: Architectures | Unknown,
    spec_types: frozenset[str] | Unknown,
    knowledge: Knowledge,
) -> Iterator[tuple[Bracket, bool]]:
    for feature in knowledge.features:
        if feature.kind == "arch" and not isinstance(architectures, Unknown):
            if feature.archs & architectures.names:
                yield feature.since, True
            elif feature.archs & architectures.absent:
                yield feature.since, False
        if feature.kind == "spec-type" and not isinstance(spec_types, Unknown) and spec_types:
            yield feature.since, feature.id.removeprefix("spec-type-") in spec_types
