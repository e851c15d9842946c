"""Whether flash attention is off for a reason that this server no longer gives."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    DropFlag,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    Severity,
    check,
    cited,
)
from mtpdoctor.launch import flash_attention
from mtpdoctor_checks import flash
from mtpdoctor_checks.pair import NOT_A_PAIR
from mtpdoctor_checks.speculation import need_mtp

_FLAG = "--flash-attn"


@check(
    "flash-attention-off-needlessly",
    "flash attention is off, and need not be",
    severity=Severity.INFO,
    after=["server-not-found", "server-does-not-run", "build-too-old", *NOT_A_PAIR],
)
def flash_attention_off_needlessly(
    launch: Launch, server: Server, drafter: Drafter | None, knowledge: Knowledge
) -> Iterator[Finding]:
    need_mtp(launch)
    if flash_attention(launch) != "off":
        raise NotApplicable("flash attention is not switched off")
    bug = flash.bug(knowledge)
    if flash.full_layers(drafter) is None:
        why = "the abort that it guards against needs an E4B drafter"
    elif flash.backend(server, launch, knowledge) is None:
        why = "the abort that it guards against is one of CUDA and HIP, and neither is used"
    elif not flash.suffers(server, knowledge):
        why = f"{server.build} no longer has the abort that it guards against"
    else:
        return
    yield Finding(
        says=(
            f"{_FLAG} off is old advice: {why}\n"
            "Without the flag llama-server uses flash attention where it can."
        ),
        severity=Severity.INFO,
        about=_FLAG,
        evidence=(Evidence(f"{_FLAG} {launch.value(_FLAG)}"), *cited(bug.source)),
        fixes=(DropFlag(_FLAG),),
    )
