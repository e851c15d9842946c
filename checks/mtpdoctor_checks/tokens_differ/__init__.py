"""Whether drafting left the answer as it is."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, Severity, SmokeRun, check, known
from mtpdoctor.facts import NotApplicable

_AT_ONCE = 4
"""Rounding turns a choice sooner or later; within so few tokens it hardly does."""


@check(
    "tokens-differ",
    "the answers with and without drafting differ",
    severity=Severity.WARNING,
    after=["server-failed"],
)
def tokens_differ(run: SmokeRun) -> Iterator[Finding]:
    if run.plain is None and run.mtp is None:
        raise NotApplicable("neither arm answered")
    parity = known(run.parity)
    if parity.equal:
        return
    first = parity.first_difference
    at_once = first is not None and first < _AT_ONCE
    where = "" if first is None else f" from token {first + 1} on"
    why = (
        "Rounding alone hardly does that so early: compare the answers by eye."
        if at_once
        else "Drafts are computed in batches, which round otherwise; that is no fault by itself."
    )
    yield Finding(
        says=f"the greedy answers of both arms differ{where}\n{why}",
        severity=Severity.WARNING if at_once else Severity.INFO,
        about="parity",
        evidence=(Evidence(f"first difference: token {first}"),),
        fixes=(Advice("compare them on another backend, or with -dev none"),) if at_once else (),
    )
