"""Whether a quantized V cache has the flash attention that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
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
from mtpdoctor.launch import cache_type, draft_cache_type, flash_attention
from mtpdoctor_checks import capability, flash
from mtpdoctor_checks.speculation import asks_for_mtp, quantized

_FA = "--flash-attn"


@check(
    "quantized-v-without-flash-attention",
    "a quantized V cache needs the flash attention that is off",
)
def quantized_v_without_flash_attention(
    launch: Launch, server: Server | None, drafter: Drafter | None, knowledge: Knowledge
) -> Iterator[Finding]:
    if flash_attention(launch) != "off":
        return
    caches = [("the V cache", "--cache-type-v", cache_type(launch, "v"))]
    # A drafter gets a context, and its cache a type, whatever kind of drafting is asked for.
    if drafter is not None or asks_for_mtp(launch):
        kind = draft_cache_type(launch, "v")
        caches.append(("the drafter's V cache", "--cache-type-v-draft", kind))
    for what, flag, kind in caches:
        if quantized(kind):
            yield Finding(
                says=(
                    f"{what} is to be {kind}, and flash attention is off\nllama-server refuses: "
                    "a quantized V cache needs flash attention. Leave one of the two out."
                ),
                about=flag,
                evidence=(Evidence(f"{flag} {kind}, {_FA} {launch.value(_FA)}"),),
                fixes=_fixes(flag, launch, server, knowledge),
            )


def _fixes(
    flag: str, launch: Launch, server: Server | None, knowledge: Knowledge
) -> tuple[Fix, ...]:
    """Return both ways out; flash attention first only where it is known not to abort."""
    without, with_ = DropFlag(flag), SetFlag(_FA, "on")
    if server is None or isinstance(server.backends, Unknown):
        return (without, with_)
    if flash.backend(server, launch, knowledge) is None:
        return (with_, without)
    build = capability.build(server)
    if isinstance(build, Unknown) or knowledge.suffers(build, flash.bug(knowledge)) is not False:
        return (without, with_)
    return (with_, without)
