"""The headers that the tests lean on agree with what public dumps say of the real files."""

from __future__ import annotations

import pytest
from headers import PAIRS, real


@pytest.mark.parametrize(
    ("name", "tensors"),
    [
        ("gemma-4-E2B-it", 601),
        ("gemma-4-E4B-it", 720),
        ("gemma-4-12B-it", 667),
        ("gemma-4-26B-A4B-it", 658),
        ("gemma-4-31B-it", 833),
    ],
)
def test_a_target_has_as_many_tensors_as_the_real_one(name: str, tensors: int) -> None:
    assert len(real(name).tensors) == tensors


@pytest.mark.parametrize("pair", PAIRS)
def test_a_drafter_has_the_49_tensors_of_the_real_ones(pair: tuple[str, str]) -> None:
    assert len(real(pair[1]).tensors) == 49


@pytest.mark.parametrize("pair", PAIRS)
def test_the_pattern_of_a_target_ends_in_a_full_layer_after_a_sliding_one(
    pair: tuple[str, str],
) -> None:
    pattern = real(pair[0]).get("attention.sliding_window_pattern")

    assert list(pattern)[-2:] == [True, False]  # type: ignore[arg-type]
