"""A share of the differential suite, on the server that is installed."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import pytest
from differential import cases
from differential.case import Case
from differential.comparison import Row, Shares, compare
from differential.known import why
from differential.servers import installed
from differential.verdict import Doctor

from mtpdoctor.doctor import Finished, diagnose
from mtpdoctor.request import Request

pytestmark = [pytest.mark.server, pytest.mark.timeout(900)]
SEED, OF_EACH = 7, 20


def share() -> list[Case]:
    """Draw as many of each family with a fixed seed."""
    families = defaultdict[str, list[Case]](list)
    for case in cases.every():
        families[case.family].append(case)
    draw = random.Random(SEED)
    return [
        case
        for family in families.values()
        for case in draw.sample(family, min(OF_EACH, len(family)))
    ]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(compare(installed(), share()))


def test_nothing_that_does_not_draft_is_passed_and_nothing_that_drafts_is_called_an_error(
    rows: list[Row],
) -> None:
    assert [
        (row.case.name, row.wrong) for row in rows if row.wrong and not why(row.case.name)
    ] == []


def test_hardly_anything_is_left_open(rows: list[Row]) -> None:
    shares = Shares.of(rows)

    assert shares.passed >= 0.9
    assert shares.found >= 0.9


def test_the_share_holds_as_many_sound_cases_as_a_guess_would_not_pass(rows: list[Row]) -> None:
    drafting = sum(row.drafts for row in rows) / len(rows)

    assert 0.25 <= drafting <= 0.75


@pytest.mark.parametrize("name", ["sound", "drafter.block_count-missing", "qwen35 nextn 0"])
def test_the_suite_judges_as_the_doctor_does(name: str, tmp_path: Path) -> None:
    (case,) = (case for case in cases.every() if case.name == name)
    server, words = installed(), case.write(tmp_path)
    environment = server.environment | {"HF_HOME": str(tmp_path / "hub")}
    asked = Request(words=(str(server.binary), *words), environment=environment)
    *_, last = diagnose(asked)
    assert isinstance(last, Finished)

    opinion = Doctor(server).examine(words, environment)

    assert opinion.verdict is last.report.verdict
