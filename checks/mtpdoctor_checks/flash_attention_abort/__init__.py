"""Whether flash attention aborts on the drafter's full layers."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    Upgrade,
    check,
    cited,
)
from mtpdoctor.launch import flash_attention
from mtpdoctor_checks import flash
from mtpdoctor_checks.pair import NOT_A_PAIR, name

_FLAG = "--flash-attn"


@check(
    "flash-attention-abort",
    "flash attention aborts on this drafter",
    after=["server-not-found", "server-does-not-run", "build-too-old", *NOT_A_PAIR],
)
def flash_attention_abort(
    launch: Launch, server: Server, drafter: Drafter, knowledge: Knowledge
) -> Iterator[Finding]:
    if flash_attention(launch) == "off":
        return
    full = flash.full_layers(drafter)
    if full is None:
        raise NotApplicable("the drafter has no full layers that flash attention trips over")
    backend = flash.backend(server, launch, knowledge)
    if backend is None:
        raise NotApplicable("neither CUDA nor HIP is used")
    if not flash.suffers(server, knowledge):
        return
    bug = flash.bug(knowledge)
    fixed = bug.fixed
    value = launch.value(_FLAG)
    yield Finding(
        says=(
            f"{server.build} aborts in flash attention on {backend.upper()} with "
            f"{name(drafter)}: its full layers have heads of {full.head}, {full.gqa:g} to a KV "
            f"head\nSwitch flash attention off ({_FLAG} auto does not protect), or take a newer "
            "llama.cpp."
        ),
        about=_FLAG,
        evidence=(
            Evidence(f"{_FLAG}: {value or 'not given, which is auto'}"),
            Evidence(
                f"{name(drafter)}, full layers: key_length {full.head}, "
                f"{full.heads} heads, {full.kv_heads} KV heads"
            ),
            *cited(bug.source),
        ),
        fixes=(
            SetFlag(_FLAG, "off"),
            *((Upgrade(str(fixed.first_with)),) if fixed is not None else ()),
        ),
    )
