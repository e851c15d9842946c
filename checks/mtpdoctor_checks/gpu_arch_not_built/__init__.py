"""Whether the server's CUDA code runs on the GPUs of this machine."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Evidence,
    Finding,
    Gpu,
    Gpus,
    NotApplicable,
    Rebuild,
    Server,
    Severity,
    Undetermined,
    check,
    known,
)
from mtpdoctor.facts import GpuCode
from mtpdoctor_checks.pair import program


@check(
    "gpu-arch-not-built",
    "llama-server holds no code for this GPU",
    after=["server-not-found", "server-does-not-run"],
)
def gpu_arch_not_built(server: Server, gpus: Gpus) -> Iterator[Finding]:
    if "cuda" not in known(server.backends):
        raise NotApplicable("llama-server has no CUDA backend")
    if gpus.state == "none":
        raise NotApplicable("there is no NVIDIA GPU")
    if gpus.state != "present":
        raise Undetermined(gpus.says or f"NVML: {gpus.state}")
    code = known(server.gpu_code)
    strangers = [gpu for gpu in gpus.gpus if not runs(code, known(gpu.capability))]
    severity = Severity.ERROR if len(strangers) == len(gpus.gpus) else Severity.WARNING
    for gpu in strangers:
        yield _finding(server, gpu, code, severity)


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
