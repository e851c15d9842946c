"""What the publishers' own files say is never called a fault; the wrong drafter always is."""

from __future__ import annotations

from itertools import permutations

import pytest
from headers import GEMMA4
from pages.harness import patient

import mtpdoctor_checks
from mtpdoctor.engine import Outcome, examine
from mtpdoctor.findings import Severity

CHECKS = {check.id: check for check in mtpdoctor_checks.CHECKS}

COMMAND = """
command = "llama-server -m target.gguf -md drafter.gguf --spec-type draft-mtp"
[server]
build = "b10434"
help = "b10434"
architectures = { has = ["gemma4", "gemma4-assistant"] }
backends = ["cuda"]
devices = ["CUDA0"]
"""


@pytest.mark.parametrize("name", GEMMA4)
def test_every_question_about_a_published_pair_is_answered_well(name: str) -> None:
    facts = patient(
        f'{COMMAND}\n[target]\nlike = "{name}"\n[drafter]\nlike = "{name}-assistant"\n'
        '[gpus]\nstate = "none"\n'
    )
    results = list(examine(facts, CHECKS))
    odd = {
        result.check: result.reason
        for result in results
        if result.outcome not in {Outcome.PASSED, Outcome.SKIPPED}
    }

    assert odd == {}


@pytest.mark.parametrize(("target", "drafter"), list(permutations(GEMMA4, 2)))
def test_the_drafter_of_another_size_has_one_name(target: str, drafter: str) -> None:
    facts = patient(
        f'{COMMAND}\n[target]\nlike = "{target}"\n[drafter]\nlike = "{drafter}-assistant"\n'
    )
    errors = {
        result.check
        for result in examine(facts, CHECKS)
        for finding in result.findings
        if finding.severity is Severity.ERROR
    }

    assert errors == {"drafter-width-mismatch"}
