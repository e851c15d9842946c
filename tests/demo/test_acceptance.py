"""The formula of acceptance, against a walk that is drafted four words at a time."""

from __future__ import annotations

import pytest

from mtpdoctor.demo.acceptance import missed_words

WORDS = 1000


def drafted(missed: frozenset[int], start: int, tokens: int) -> float:
    """Return accepted over drafted for ``tokens`` words from ``start``, four drafted at a time."""
    word, accepted, cycles = start, 0, 0
    while word < start + tokens:
        run = 0
        while run < 4 and (word + 1 + run) % WORDS not in missed:
            run += 1
        word, accepted, cycles = word + run + 1, accepted + run, cycles + 1
    return accepted / (4 * cycles)


@pytest.mark.parametrize("wanted", [0.0, 0.1, 0.3, 0.59, 0.66, 0.9, 1.0])
def test_the_whole_circle_has_the_acceptance_asked_for(wanted: float) -> None:
    assert drafted(missed_words(WORDS, wanted), 0, WORDS) == pytest.approx(wanted, abs=0.02)


def test_any_stretch_of_256_words_has_about_the_same() -> None:
    missed = missed_words(WORDS, 0.66)

    for start in range(WORDS):
        assert 0.60 < drafted(missed, start, 256) < 0.72


@pytest.mark.parametrize("wanted", [-0.1, 1.1, float("nan")])
def test_no_acceptance_outside_0_to_1(wanted: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        missed_words(WORDS, wanted)
