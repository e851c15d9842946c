"""A small share of ``tests/prove/mutated_headers.py``, at every change."""

from __future__ import annotations

from prove.mutated_headers import run


def test_two_thousand_damaged_headers_raise_ggufferror_or_nothing() -> None:
    tally = run(seed=20_261_201, count=2000)

    assert sum(tally.outcomes.values()) == 2000
    assert tally.reached_tensors >= 600
