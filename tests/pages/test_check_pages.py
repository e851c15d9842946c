"""Every shipped check has a page in the agreed form, and every example on it is true."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pages.harness import Example, answer, examples, patient, rewritten

import mtpdoctor_checks
from mtpdoctor import knowledge
from mtpdoctor.checks import Check
from mtpdoctor.engine import Outcome, examine
from mtpdoctor.findings import Severity

CHECKS = {check.id: check for check in mtpdoctor_checks.CHECKS}
SECTIONS = ("Finds", "Passes", "Cannot tell", "Fix", "Sources")
ROOT = Path(__file__).parents[2]
UPDATE = os.environ.get("MTPDOCTOR_UPDATE") == "1"
STALE = "run: MTPDOCTOR_UPDATE=1 .venv/bin/pytest tests/pages"


def page_of(check: Check[Any]) -> Path:
    return Path(str(files(check.module).joinpath("README.md")))


def text(id: str) -> str:
    return page_of(CHECKS[id]).read_text("utf-8")


def every_example() -> Iterator[Any]:
    for id, check in CHECKS.items():
        if page_of(check).exists():
            for example in examples(text(id)):
                yield pytest.param(id, example, id=f"{id}:{example.line}")


@pytest.mark.parametrize("id", CHECKS)
def test_folder_function_and_id_are_one_name(id: str) -> None:
    name = id.replace("-", "_")

    assert (CHECKS[id].module.rpartition(".")[2], CHECKS[id].body.__name__) == (name, name)


@pytest.mark.parametrize("id", CHECKS)
def test_a_page_has_the_agreed_form(id: str) -> None:
    page = text(id)

    assert page.startswith(f"# `{id}`\n\n")
    assert tuple(re.findall(r"^## (.+)$", page, re.MULTILINE)) == SECTIONS


@pytest.mark.parametrize("id", CHECKS)
def test_a_page_shows_what_is_found_and_what_passes(id: str) -> None:
    outcomes = {(example.section, first_word(example.result)) for example in examples(text(id))}

    assert outcomes & {("Finds", severity.value) for severity in Severity}
    assert outcomes & {("Passes", "passed")}
    assert {word for section, word in outcomes if section == "Cannot tell"} <= {"unknown"}
    assert {word for section, word in outcomes if section == "Passes"} <= {"passed", "skipped"}


@pytest.mark.parametrize("id", CHECKS)
def test_a_page_shows_what_cannot_be_told_or_says_that_all_can(id: str) -> None:
    section = text(id).partition("\n## Cannot tell\n\n")[2].partition("\n## ")[0]
    outcomes = {first_word(example.result) for example in examples(section)}

    assert "unknown" in outcomes or section.startswith("It always can")


@pytest.mark.parametrize("id", CHECKS)
def test_a_page_cites_only_what_the_knowledge_holds(id: str) -> None:
    sources = text(id).partition("## Sources")[2]
    cited = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", sources))
    book = knowledge.load()
    ids = {each.id for each in book.features} | {each.id for each in book.bugs}
    ids |= {each.id for each in book.flags} | {each.id for each in book.values}

    assert cited <= ids | set(CHECKS)


@pytest.mark.parametrize(("id", "example"), list(every_example()))
def test_an_example_holds(id: str, example: Example) -> None:
    got = answer(example.facts, id, CHECKS[id])
    if UPDATE and got != example.result:
        page = page_of(CHECKS[id])
        page.write_text(rewritten(page.read_text("utf-8"), id, CHECKS[id]), "utf-8")
        return

    assert got == example.result, STALE


@pytest.mark.parametrize(("id", "example"), list(every_example()))
def test_a_finding_has_evidence_and_a_way_out_in_three_lines(id: str, example: Example) -> None:
    (result,) = examine(patient(example.facts), {id: CHECKS[id]})
    for finding in result.findings:
        lines = finding.says.splitlines()

        assert finding.about
        assert finding.evidence
        assert finding.fixes or finding.severity is not Severity.ERROR
        assert len(lines) <= 3
        assert finding.severity.rank <= CHECKS[id].severity.rank


@pytest.mark.parametrize(("id", "example"), list(every_example()))
def test_no_other_check_calls_the_same_patient_sick(id: str, example: Example) -> None:
    """What is wrong has one name: an error that one check finds, no other finds again.

    Only where a check steps back (skipped) may another one speak.
    """
    results = list(examine(patient(example.facts), CHECKS))
    errors = {
        result.check
        for result in results
        for finding in result.findings
        if finding.severity is Severity.ERROR
    }

    assert errors <= {id} or first_word(example.result) == "skipped"
    assert not [result for result in results if result.outcome is Outcome.CRASHED]


def test_the_table_of_checks_is_current() -> None:
    readme = ROOT / "checks" / "README.md"
    page = readme.read_text("utf-8")
    before, start, rest = page.partition("<!-- checks -->\n")
    _, end, after = rest.partition("<!-- end of checks -->")
    current = before + start + table() + end + after
    if UPDATE:
        readme.write_text(current, "utf-8")
        return

    assert page == current, STALE


def table() -> str:
    rows = ["| check | says | worst |", "|---|---|---|"]
    for id, check in sorted(CHECKS.items()):
        folder = id.replace("-", "_")
        link = f"[`{id}`](mtpdoctor_checks/{folder}/README.md)"
        rows.append(f"| {link} | {check.title} | {check.severity} |")
    return "\n".join(rows) + "\n"


def first_word(result: str) -> str:
    return result.partition("\n")[0].partition(":")[0]
