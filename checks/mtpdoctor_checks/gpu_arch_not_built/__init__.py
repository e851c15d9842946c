"""Whether the server's CUDA code runs on the GPUs of this machine."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Evidence,
    Finding,
    Gpu,
    Gpus,
    Knowledge,
    Launch,
    NotApplicable,
    Rebuild,
    Server,
    Severity,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor.facts import GpuCode
from mtpdoctor.launch import whole_number
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import program
from mtpdoctor_checks.speculation import asks_for_mtp

_CUDA = "cuda"


@check(
    "gpu-arch-not-built",
    "llama-server holds no code for this GPU",
    after=["server-not-found", "server-does-not-run"],
)
def gpu_arch_not_built(
    server: Server, gpus: Gpus, launch: Launch | None, knowledge: Knowledge
) -> Iterator[Finding]:
    if _CUDA not in known(server.backends):
        raise NotApplicable("llama-server has no CUDA backend")
    if gpus.state == "none":
        raise NotApplicable("there is no NVIDIA GPU")
    if gpus.state != "present":
        raise Undetermined(gpus.says or f"NVML: {gpus.state}")
    code = known(server.gpu_code)
    strangers = [gpu for gpu in gpus.gpus if not runs(code, known(gpu.capability))]
    if not strangers:
        return
    used = _used(server, gpus, launch, knowledge, mixed=len(strangers) < len(gpus.gpus))
    strangers = [gpu for gpu in strangers if gpu in used]
    severity = Severity.ERROR if len(strangers) == len(used) else Severity.WARNING
    for gpu in strangers:
        yield _finding(server, gpu, code, severity)


def _used(
    server: Server, gpus: Gpus, launch: Launch | None, knowledge: Knowledge, *, mixed: bool
) -> tuple[Gpu, ...]:
    """Return the GPUs that the command may use; which ones hardly matters unless *mixed*.

    NVML lists what CUDA_VISIBLE_DEVICES hides, and in another order than CUDA: only the names
    tell which is which.
    """
    named = None if launch is None else _named(launch, server, knowledge)
    if named is not None and not any(each.startswith(_CUDA) for each in named):
        raise NotApplicable("the command uses no CUDA device")
    if launch is not None and whole_number(launch.value("--gpu-layers") or "") == 0:
        raise Undetermined("whether llama-server computes on the GPU at all with -ngl 0")
    if isinstance(server.devices, Unknown):
        if mixed:
            raise Undetermined(f"which GPUs llama-server sees: {server.devices.reason}")
        return gpus.gpus
    seen = [device for device in server.devices if device.name.lower().startswith(_CUDA)]
    if not seen:
        raise NotApplicable("llama-server sees no CUDA device")
    if not mixed:
        return gpus.gpus
    used: list[Gpu] = []
    for device in seen:
        if named is None or device.name.lower() in named:
            same = [gpu for gpu in gpus.gpus if gpu.name == device.description]
            if not same:
                raise Undetermined(
                    f"which GPU {device.name} is ({device.description or 'no name'})"
                )
            used += [gpu for gpu in same if gpu not in used]
    return tuple(used)


def _named(launch: Launch, server: Server, knowledge: Knowledge) -> frozenset[str] | None:
    """Return the devices that the command restricts itself to; ``None`` for all there are."""
    own, drafters = launch.value("--device"), launch.value("--spec-draft-device")
    if own is None:
        return None
    if drafters is None and asks_for_mtp(launch):
        feature = knowledge.named("draft-device-follows-device")
        if not known(capability.has(server, feature, knowledge)):
            return None
    named = f"{own},{drafters or own}".lower().split(",")
    return frozenset(each.strip() for each in named) - {"", "none"}


def runs(code: GpuCode, capability: int) -> bool:
    """Whether a GPU of *capability* (times ten) runs *code*, as CUDA's rules say.

    Machine code runs on the same major version from its minor version on; portable code is
    compiled by the driver for its own capability and any later one.
    """
    return capability in code.exact or (
        any(sass // 10 == capability // 10 and sass <= capability for sass in code.sass)
        or any(ptx <= capability for ptx in code.ptx)
    )


def _finding(server: Server, gpu: Gpu, code: GpuCode, severity: Severity) -> Finding:
    capability = known(gpu.capability)
    label = f"GPU {gpu.index}" if not isinstance(gpu.name, str) else gpu.name
    has = ", ".join(_words(code)) or "nothing"
    return Finding(
        says=(
            f"{label} has compute capability {_dotted(capability)}, and {program(server)} was "
            f"built for {has}\nNo kernel would start on it. Rebuild for this GPU, or take a "
            "release that covers it."
        ),
        severity=severity,
        about=label,
        evidence=(
            Evidence(f"NVML: {label}: compute capability {_dotted(capability)}"),
            Evidence(f"GPU code in libggml-cuda: {has}"),
        ),
        fixes=(Rebuild(("-DGGML_CUDA=ON", f"-DCMAKE_CUDA_ARCHITECTURES={capability}")),),
    )


def _words(code: GpuCode) -> Iterator[str]:
    yield from (_dotted(number) for number in sorted(code.sass))
    yield from (f"{_dotted(number)} alone" for number in sorted(code.exact))
    yield from (f"{_dotted(number)} and later" for number in sorted(code.ptx))


def _dotted(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"
