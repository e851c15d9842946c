"""Whether the build has a known bug that this command runs into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mtpdoctor import (
    Drafter,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    Model,
    Server,
    Severity,
    Target,
    Undetermined,
    Unknown,
    Upgrade,
    check,
    cited,
)
from mtpdoctor.knowledge import Bug
from mtpdoctor.launch import cache_type
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import UNREADABLE
from mtpdoctor_checks.speculation import asks_for_mtp, has_head, quantized


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a command runs, as far as bugs care."""

    launch: Launch
    backends: frozenset[str] | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A bug of the knowledge that a command may run into."""

    effect: str
    """What the user would see."""
    severity: Severity = Severity.ERROR
    applies: Callable[[Case], bool] = lambda _: True
    """Whether the command does what the bug needs, architecture and backend apart."""
    fixes: tuple[Fix, ...] = ()
    """Flags that avoid it, before the newer build that mends it."""


def _quantized_cache(case: Case) -> bool:
    return any(quantized(cache_type(case.launch, which)) for which in ("k", "v"))


def _split_by_tensor(case: Case) -> bool:
    return case.launch.value("--split-mode") == "tensor"


RULES = {
    "gemma4-assistant-nextn-assert": Rule(effect="The server aborts when it loads the drafter"),
    "built-in-head-empty-kv": Rule(effect="The server ends when it sets up the MTP head"),
    "step35-mtp-broken": Rule(effect="The server does not draft"),
    "quantized-kv-zero-acceptance": Rule(
        effect="The server serves, but next to no draft is accepted",
        applies=_quantized_cache,
        fixes=(DropFlag("--cache-type-k"),),
    ),
    "tensor-split-shared-kv": Rule(
        effect="The server aborts when it starts",
        applies=lambda case: _split_by_tensor(case) and case.launch.has("--spec-draft-device"),
        fixes=(DropFlag("--spec-draft-device"),),
    ),
    "recurrent-rollback-copies": Rule(
        effect="Drafting is slower than none", severity=Severity.WARNING
    ),
    "sleep-leaks-drafter": Rule(
        effect="Memory shrinks at each wake-up",
        severity=Severity.WARNING,
        applies=lambda case: case.launch.has("--sleep-idle-seconds"),
        fixes=(DropFlag("--sleep-idle-seconds"),),
    ),
}
"""The bugs that files, flags and backend decide; others have a check of their own."""


@check(
    "known-bug",
    "this build has a known bug that the command runs into",
    after=["server-not-found", "server-does-not-run", "build-too-old", *UNREADABLE],
)
def known_bug(
    server: Server,
    launch: Launch,
    target: Target | None,
    drafter: Drafter | None,
    knowledge: Knowledge,
) -> Iterator[Finding]:
    case = Case(launch=launch, backends=server.backends)
    arch = _drafting_architecture(target, drafter)
    reasons: list[str] = []
    for id, rule in RULES.items():
        bug = knowledge.bug(id)
        if not _concerns(bug, rule, case, arch):
            continue
        build = capability.build(server)
        suffers = build if isinstance(build, Unknown) else knowledge.suffers(build, bug)
        if isinstance(suffers, Unknown):
            reasons.append(suffers.reason)
        elif suffers:
            yield _finding(server, bug, rule)
    if reasons:
        raise Undetermined("; ".join(dict.fromkeys(reasons)))


def _drafting_architecture(target: Target | None, drafter: Drafter | None) -> str:
    """Return the architecture whose MTP head would draft; empty where none is known to."""
    for model in (drafter, target):
        header = model.header if isinstance(model, Model) else Unknown()
        if not isinstance(header, Unknown) and has_head(header):
            return header.arch or ""
    return ""


def _concerns(bug: Bug, rule: Rule, case: Case, arch: str) -> bool:
    if not (arch and (arch in bug.archs if bug.archs else True) and rule.applies(case)):
        return False
    if arch != "gemma4-assistant" and not asks_for_mtp(case.launch):
        return False
    return (
        not bug.backends or isinstance(case.backends, Unknown) or bool(bug.backends & case.backends)
    )


def _finding(server: Server, bug: Bug, rule: Rule) -> Finding:
    upgrade = (Upgrade(str(bug.fixed.first_with)),) if bug.fixed is not None else ()
    return Finding(
        says=f"{server.build} has a known bug: {bug.title}\n{rule.effect}.",
        severity=rule.severity,
        about=bug.id,
        evidence=(
            Evidence(f"the bug is in {bug.builds}; this is {server.build}"),
            *cited(bug.source),
        ),
        fixes=(*rule.fixes, *upgrade),
    )
