"""A server that prints no build number still lies between builds, by what it has and has not."""

from __future__ import annotations

import pytest

from mtpdoctor import knowledge
from mtpdoctor.builds import Span
from mtpdoctor.facts import Architectures, Unknown
from mtpdoctor.probes.server import abilities

_KINDS = frozenset({"draft-simple", "draft-mtp"})


def _archs(*has: str, lacks: str = "") -> Architectures:
    return Architectures(names=frozenset(has), absent=frozenset(filter(None, [lacks])))


def test_what_came_and_what_had_not_come_yet_bracket_the_build() -> None:
    archs = _archs("gemma4", lacks="gemma4-assistant")

    assert abilities.between(archs, _KINDS, knowledge.load()) == Span.parse("b9180..b9549")


def test_a_kind_of_drafting_that_is_not_listed_had_not_come_yet() -> None:
    archs = _archs("gemma4", "gemma4-assistant")

    assert abilities.between(archs, _KINDS, knowledge.load()) == Span.parse("b9549..b9836")


@pytest.mark.parametrize(
    ("archs", "kinds"),
    [
        (_archs("gemma4", "gemma4-assistant"), _KINDS | {"draft-dflash", "draft-dspark"}),
        (_archs("gemma4-assistant", lacks="gemma4"), _KINDS),
        (Unknown("not read"), Unknown("not read")),
    ],
)
def test_an_open_end_and_a_contradiction_tell_no_build(
    archs: Architectures | Unknown, kinds: frozenset[str] | Unknown
) -> None:
    assert isinstance(abilities.between(archs, kinds, knowledge.load()), Unknown)
