"""A share of the mutation suite: no check could be taken away unnoticed."""

from __future__ import annotations

import pytest
from prove.mutation import Examination, Mutant, mutants

CHECKS = [mutant for mutant in mutants() if mutant.kind == "check"]


@pytest.fixture(scope="module")
def examination() -> Examination:
    return Examination()


@pytest.mark.parametrize("mutant", CHECKS, ids=lambda mutant: mutant.id)
def test_a_check_that_is_taken_away_is_missed(mutant: Mutant, examination: Examination) -> None:
    notice = examination.notice(mutant)

    assert notice is not None
    assert notice.weight[0], notice.what
