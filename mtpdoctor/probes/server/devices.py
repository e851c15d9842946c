"""``--list-devices``, and the ``system_info`` line."""

from __future__ import annotations

import re

from mtpdoctor.facts import Device, Unknown
from mtpdoctor.probes.server.ask import Answer
from mtpdoctor.visible import visible

_HEADING = "Available devices:"
_ROW = re.compile(
    r"\s+([A-Za-z][\w.-]{0,63}): (.{0,400}?)(?: \((\d{1,9}) MiB, (\d{1,9}) MiB free\))?\s*"
)
_MOST = 256
_INFO = "system_info:"
_FEATURE = re.compile(r"([A-Z][A-Z0-9_]{0,31}) = (\d{1,6})")

# The beginnings of device names, and the library of the backend behind them (libggml-cuda).
_BACKENDS = {
    "CUDA": "cuda",
    "ROCm": "hip",
    "MUSA": "musa",
    "Vulkan": "vulkan",
    "Metal": "metal",
    "MTL": "metal",
    "SYCL": "sycl",
    "GPUOpenCL": "opencl",
    "OpenCL": "opencl",
    "CANN": "cann",
    "RPC": "rpc",
    "BLAS": "blas",
    "WebGPU": "webgpu",
    "HTP": "hexagon",
    "OPENVINO": "openvino",
    "zDNN": "zdnn",
}


def read(text: str) -> tuple[Device, ...] | None:
    """Read the rows under the heading; ``None`` where there is no such heading."""
    _, heading, rows = text.partition(_HEADING)
    if not heading:
        return None
    devices = []
    for line in rows.split("\n")[1 : _MOST + 1]:
        match = _ROW.fullmatch(line)
        if match is None:
            if line.strip() == "(none)" or not line.strip():
                continue
            break
        name, description, total, free = match.groups()
        devices.append(
            Device(
                name=name,
                description=visible(description, 200),
                total_mib=_mib(total),
                free_mib=_mib(free),
            )
        )
    return tuple(devices)


def _mib(digits: str | None) -> int | Unknown:
    return Unknown("--list-devices does not say") if digits is None else int(digits)


def told(answer: Answer) -> tuple[Device, ...] | Unknown:
    """Return the devices, or why they are not known."""
    devices = read(answer.text)
    if devices is not None and answer.ok:
        return devices
    if answer.stopped == "deadline":
        return Unknown(f"--list-devices did not answer within {answer.seconds:.0f} s")
    if answer.ok:
        return Unknown("--list-devices printed no list")
    return Unknown("--list-devices failed")


def backend(device: str) -> str:
    """Return the backend behind a device's name: ``cuda`` for ``CUDA0``; empty for the CPU."""
    for start, name in _BACKENDS.items():
        if re.fullmatch(rf"{start}\d*(?:\[.*|\..*)?", device):
            return name
    return ""


def cpu_features(text: str) -> frozenset[str] | None:
    """Return what ``system_info`` says the CPU code was compiled for.

    The line is ``n_threads = 2 … | CPU : SSE3 = 1 | AVX = 1 | … |``, with a part for each backend
    that begins with its name; ``None`` where there is no such line.
    """
    _, found, rest = text.partition(_INFO)
    if not found:
        return None
    features, inside = set(), False
    for word in rest.split("\n", 1)[0].split("|"):
        name, colon, feature = word.strip().rpartition(" : ")
        inside = name.strip() == "CPU" if colon else inside
        match = _FEATURE.fullmatch(feature.strip())
        if inside and match is not None and int(match[2]):
            features.add(match[1])
    return frozenset(features) if features else None
