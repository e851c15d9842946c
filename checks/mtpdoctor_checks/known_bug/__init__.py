"""Whether the build has a known bug that this command runs into."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mtpdoctor import (
    Advice,
    Drafter,
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    Server,
    SetFlag,
    Severity,
    Target,
    Undetermined,
    Unknown,
    Upgrade,
    check,
    cited,
)
from mtpdoctor.knowledge import Bug
from mtpdoctor.launch import cache_type, flash_attention, whole_number
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import ASSISTANT, UNREADABLE, integer
from mtpdoctor_checks.speculation import has_head, quantized, will_draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a command runs, as far as bugs care."""

    launch: Launch
    backends: frozenset[str] | Unknown
    """Those whose devices the command may use."""
    arch: str | Unknown
    """The architecture whose MTP head would draft; empty where none is known to."""
    drafts: bool | Unknown
    """Whether it will."""
    devices: str
    """What the devices are called, as far as is known."""
    trained: int | None
    """The context that the target was made for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A bug of the knowledge that a command may run into."""

    effect: str
    """What the user would see."""
    severity: Severity = Severity.ERROR
    applies: Callable[[Case], bool] = lambda _: True
    """Whether the command does what the bug needs, architecture and backend apart."""
    fixes: tuple[Fix, ...] = ()
    """What avoids it, before the newer build that mends it; flags to drop only where they are."""


def _quantized_cache(case: Case) -> bool:
    return any(quantized(cache_type(case.launch, which)) for which in ("k", "v"))


def _split_by_tensor(case: Case) -> bool:
    return case.launch.value("--split-mode") == "tensor"


def _several_slots(case: Case) -> bool:
    return whole_number(case.launch.value("--parallel") or "") != 1  # 4 where nothing is said


def _embeds(case: Case) -> bool:
    return any(case.launch.has(flag) for flag in _EMBEDDING)


def _longer_than_trained(case: Case) -> bool:
    context = whole_number(case.launch.value("--ctx-size") or "")
    return context is not None and case.trained is not None and context > case.trained


_EMBEDDING = ("--embedding", "--reranking")
_GFX1151 = re.compile(r"gfx1151|8060S", re.IGNORECASE)
_IMAGES = Rule(
    effect="Text is drafted; the first image ends it",
    severity=Severity.WARNING,
    applies=lambda case: case.launch.has("--mmproj"),
    fixes=(DropFlag("--mmproj"),),
)

RULES = {
    "gemma4-assistant-nextn-assert": Rule(effect="The server aborts when it loads the drafter"),
    "built-in-head-empty-kv": Rule(effect="The server ends when it sets up the MTP head"),
    "step35-mtp-broken": Rule(effect="The server does not draft"),
    "quantized-kv-zero-acceptance": Rule(
        effect="The server serves, but next to no draft is accepted",
        applies=_quantized_cache,
        fixes=(DropFlag("--cache-type-k"), DropFlag("--cache-type-v")),
    ),
    "embeddings-with-mtp": Rule(
        effect="It aborts when it starts; a second server can serve the embeddings",
        applies=_embeds,
        fixes=tuple(DropFlag(flag) for flag in _EMBEDDING),
    ),
    "image-on-draft-context": _IMAGES,
    "step35-image-positions": _IMAGES,
    "hip-gfx1151-unused-tokens": Rule(
        effect="Drafting or not, its answers are of no use",
        severity=Severity.WARNING,
        applies=lambda case: _GFX1151.search(case.devices) is not None,
        fixes=(Advice("take a Vulkan build of llama.cpp for this GPU"),),
    ),
    "draft-context-total": Rule(
        effect="The drafter's context is as large as that of all slots together, and may end it",
        severity=Severity.WARNING,
        applies=lambda case: _several_slots(case) and _longer_than_trained(case),
        fixes=(Advice("lower -c: what it says is shared by all slots (-np)"),),
    ),
    "tensor-split-shared-kv": Rule(
        effect="The server aborts when it starts",
        applies=lambda case: _split_by_tensor(case) and case.launch.has("--spec-draft-device"),
        fixes=(DropFlag("--spec-draft-device"),),
    ),
    "tensor-split-second-request": Rule(
        effect="The server aborts at the second request",
        applies=lambda case: (
            _split_by_tensor(case) and _several_slots(case) and _quantized_cache(case)
        ),
        fixes=(SetFlag("--split-mode", "layer"), SetFlag("--parallel", "1")),
    ),
    "tensor-split-flash-attention": Rule(
        effect="The server aborts once an earlier message of a conversation was changed",
        applies=lambda case: _split_by_tensor(case) and flash_attention(case.launch) != "off",
        fixes=(SetFlag("--split-mode", "layer"),),
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
    case = Case(
        launch=launch,
        backends=_used_backends(server, launch),
        arch=_drafting_architecture(target, drafter),
        drafts=will_draft(launch, server, drafter, knowledge),
        devices=_described(server),
        trained=_trained(target),
    )
    build = capability.build(server)
    reasons: list[str] = []
    for id, rule in RULES.items():
        bug = knowledge.bug(id)
        suffers = build if isinstance(build, Unknown) else knowledge.suffers(build, bug)
        concerns = _concerns(bug, rule, case)
        if suffers is False or concerns is False:
            continue
        reason = next((each for each in (suffers, concerns) if isinstance(each, Unknown)), None)
        if reason is None:
            yield _finding(server, launch, bug, rule)
        else:
            reasons.append(reason.reason)
    if reasons:
        raise Undetermined("; ".join(dict.fromkeys(reasons)))


def _described(server: Server) -> str:
    devices = () if isinstance(server.devices, Unknown) else server.devices
    return " ".join(f"{device.name} {device.description}" for device in devices)


def _trained(target: Target | None) -> int | None:
    header = target.header if target is not None else Unknown()
    return None if isinstance(header, Unknown) else integer(header, "context_length")


def _used_backends(server: Server, launch: Launch) -> frozenset[str] | Unknown:
    if launch.all_values("--device") == ("none",):
        return frozenset()
    if not isinstance(server.devices, Unknown) and not server.devices:
        return frozenset()
    return server.backends


def _drafting_architecture(target: Target | None, drafter: Drafter | None) -> str | Unknown:
    for model in (drafter, target):
        if model is None:
            continue
        if isinstance(model.header, Unknown):
            return model.header
        if has_head(model.header):
            return model.header.arch or ""
    return ""


def _concerns(bug: Bug, rule: Rule, case: Case) -> bool | Unknown:
    """Whether the command runs into *bug* in a build that has it."""
    answers = (
        rule.applies(case),
        _concerns_architecture(bug, case.arch),
        # a gemma4-assistant is loaded, and in the way, also where nobody asks for drafts
        True if case.arch == ASSISTANT else case.drafts,
        _concerns_backends(bug, case.backends),
    )
    if any(each is False for each in answers):
        return False
    return next((each for each in answers if isinstance(each, Unknown)), True)


def _concerns_architecture(bug: Bug, arch: str | Unknown) -> bool | Unknown:
    if isinstance(arch, Unknown):
        return arch
    return bool(arch) and (not bug.archs or arch in bug.archs)


def _concerns_backends(bug: Bug, used: frozenset[str] | Unknown) -> bool | Unknown:
    if not bug.backends:
        return True
    return used if isinstance(used, Unknown) else not bug.backends.isdisjoint(used)


def _finding(server: Server, launch: Launch, bug: Bug, rule: Rule) -> Finding:
    fixes = [f for f in rule.fixes if not isinstance(f, DropFlag) or launch.has(f.flag)]
    upgrade = (Upgrade(str(bug.fixed.first_with)),) if bug.fixed is not None else ()
    return Finding(
        says=f"{server.build} has a known bug: {bug.title}\n{rule.effect}.",
        severity=rule.severity,
        about=bug.id,
        evidence=(
            Evidence(f"the bug is in {bug.builds}; this is {server.build}"),
            *cited(bug.source),
        ),
        fixes=(*fixes, *upgrade),
    )
