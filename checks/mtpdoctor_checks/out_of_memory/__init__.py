"""Whether memory ran out while the server was run."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    Server,
    SetFlag,
    SmokeRun,
    Unknown,
    check,
    cited,
)

_ID = "out-of-memory"
_SPLIT = frozenset({"memory-full-split", "invalid-vector-subscript"})
"""Lines of a server that divides the drafter up by the free memory of devices, of which none is."""
_LESS = "lower -c, -ub or -np, quantize the cache (-ctk q8_0 -ctv q8_0 -fa on), or offload less"


@check(
    _ID,
    "memory ran out while llama-server was run",
    after=["build-too-old", "ordered-embeddings-drafter"],
)
def out_of_memory(
    run: SmokeRun, launch: Launch | None, server: Server | None, knowledge: Knowledge
) -> Iterator[Finding]:
    crash = run.crash
    if crash is None or crash.check != _ID:
        return
    when = f"at the request {crash.request!r}" if crash.request else "at its start"
    split = crash.signature in _SPLIT
    lines = (Evidence(line) for line in crash.log_tail[-4:])
    yield Finding(
        says=(
            f"llama-server ran out of memory {when}\n{crash.cause[:1].upper()}{crash.cause[1:]}."
        ),
        about=crash.signature,
        evidence=(*lines, *(cited(knowledge.bug("full-memory-split").source) if split else ())),
        fixes=tuple(_fixes(launch, server, crash.advice, split=split)),
    )


def _fixes(
    launch: Launch | None, server: Server | None, advice: str, *, split: bool
) -> Iterator[Fix]:
    if split and _one_device(launch, server):
        yield SetFlag("--tensor-split", "1")
    yield Advice(advice or _LESS)


def _one_device(launch: Launch | None, server: Server | None) -> bool:
    """Whether the model lies on a single device, as far as is known."""
    named = launch.all_values("--device") if launch is not None else ()
    if named:
        return len(named) == 1
    devices = server.devices if server is not None else Unknown()
    return not isinstance(devices, Unknown) and len(devices) == 1
