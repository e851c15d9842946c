"""The machine: its GPUs as NVML sees them, its processor and its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mtpdoctor.facts.known import Unknown

_not_asked = Unknown()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One NVIDIA GPU."""

    index: int
    name: str | Unknown = _not_asked
    capability: int | Unknown = _not_asked
    """Compute capability times ten: 89 RTX 4090, 90 H100, 100 B200."""
    total_bytes: int | Unknown = _not_asked
    free_bytes: int | Unknown = _not_asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """What NVML says. No GPU and no driver are different answers."""

    state: Literal["present", "none", "no-driver", "no-library", "no-permission", "failed"]
    says: str = ""
    """In words, what is there or why nothing could be seen."""
    gpus: tuple[Gpu, ...] = ()
    driver: str | Unknown = _not_asked
    cuda: str | Unknown = _not_asked
    """Newest CUDA version that the driver supports: ``13.0``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The computer that the server is to run on."""

    system: str = ""
    """``Linux``, ``Darwin`` or ``Windows``."""
    release: str = ""
    machine: str = ""
    """``x86_64``, ``aarch64``, ``arm64``."""
    cpu: str | Unknown = _not_asked
    cpus: int | Unknown = _not_asked
    """Processors this process may use, limits of a container included."""
    cpu_features: frozenset[str] | Unknown = _not_asked
    """As ``/proc/cpuinfo`` names them: ``avx512_vnni``."""
    total_bytes: int | Unknown = _not_asked
    available_bytes: int | Unknown = _not_asked
    """Memory that can be had now, the smallest of free memory and every limit."""
    container: str | Unknown | None = _not_asked
    """``docker``, ``podman``, ``kubernetes``, ``wsl``; ``None`` outside of any."""
