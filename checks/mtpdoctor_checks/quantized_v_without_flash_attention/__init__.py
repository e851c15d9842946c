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
from mtpdoctor_checks import capability, flash
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
        fixes=_fixes(launch, server, knowledge),
    )


def _fixes(launch: Launch, server: Server | None, knowledge: Knowledge) -> tuple[Fix, ...]:
    """Return both ways out; flash attention first only where it is known not to abort."""
    without, with_ = DropFlag(_FLAG), SetFlag(_FA, "on")
    if server is None or isinstance(server.backends, Unknown):
        return (without, with_)
    if flash.backend(server, launch, knowledge) is None:
        return (with_, without)
    build = capability.build(server)
    if isinstance(build, Unknown) or knowledge.suffers(build, flash.bug(knowledge)) is not False:
        return (without, with_)
    return (with_, without)
