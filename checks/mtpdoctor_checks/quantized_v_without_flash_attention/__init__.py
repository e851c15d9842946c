"""Whether a quantized V cache has the flash attention that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    Server,
    SetFlag,
    Unknown,
    check,
)
from mtpdoctor.launch import cache_type, flash_attention
from mtpdoctor_checks import capability
from mtpdoctor_checks.speculation import quantized

_FLAG, _FA = "--cache-type-v", "--flash-attn"


@check(
    "quantized-v-without-flash-attention",
    "a quantized V cache needs the flash attention that is off",
)
def quantized_v_without_flash_attention(
    launch: Launch, server: Server | None, knowledge: Knowledge
) -> Iterator[Finding]:
    kind = cache_type(launch, "v")
    if not quantized(kind) or flash_attention(launch) != "off":
        return
    yield Finding(
        says=(
            f"the V cache is to be {kind}, and flash attention is off\n"
            "llama-server refuses: a quantized V cache needs flash attention. Leave one of the "
            "two out."
        ),
        about=_FLAG,
        evidence=(Evidence(f"{_FLAG} {kind}, {_FA} {launch.value(_FA)}"),),
        fixes=_fixes(server, knowledge),
    )


def _fixes(server: Server | None, knowledge: Knowledge) -> tuple[Fix, ...]:
    """Return both ways out; flash attention first only where it surely works on a GPU."""
    without, with_ = DropFlag(_FLAG), SetFlag(_FA, "on")
    if server is None or isinstance(server.backends, Unknown) or not server.backends:
        return (without, with_)
    build = capability.build(server)
    bug = knowledge.bug("flash-attention-d512-gqa2")
    if not isinstance(build, Unknown) and knowledge.suffers(build, bug) is False:
        return (with_, without)
    return (without, with_)
