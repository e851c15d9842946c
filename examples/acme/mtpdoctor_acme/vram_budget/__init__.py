"""Whether the weights of both files fit into the GPUs, with room for the KV cache."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Drafter,
    Evidence,
    Finding,
    Gpus,
    Launch,
    Model,
    NotApplicable,
    Severity,
    Target,
    check,
    known,
)

ROOM = 1 << 30
"""Bytes that we keep free at Acme for the KV cache and the compute buffers."""


@check("vram-budget", "the weights leave too little GPU memory", severity=Severity.WARNING)
def vram_budget(
    launch: Launch, gpus: Gpus, target: Target, drafter: Drafter | None
) -> Iterator[Finding]:
    if gpus.state != "present":
        raise NotApplicable("there is no GPU")
    if launch.value("--n-gpu-layers") == "0":
        raise NotApplicable("no layer is to go to a GPU")
    needed = weights(target) + (weights(drafter) if drafter is not None else 0)
    free = sum(known(gpu.free_bytes) for gpu in gpus.gpus)
    if needed + ROOM <= free:
        return
    yield Finding(
        says=(
            f"the weights take {gib(needed)}, and {gib(free)} of GPU memory are free\n"
            f"We keep {gib(ROOM)} for the KV cache. Take a smaller quantization."
        ),
        severity=Severity.WARNING,
        about="GPU memory",
        evidence=tuple(
            Evidence(f"GPU {gpu.index}: {gpu.free_bytes} bytes free") for gpu in gpus.gpus
        ),
        fixes=(Advice("take a smaller quantization of the target"),),
    )


def weights(model: Model) -> int:
    """Return the bytes that all tensors of *model* take."""
    return sum(tensor.nbytes or 0 for tensor in known(model.header).tensors.values())


def gib(number: int) -> str:
    return f"{number / 2**30:.1f} GiB"
