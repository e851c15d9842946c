"""The computer: system, processor and its instructions, memory and its limits, container."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from mtpdoctor.facts import Host, Unknown
from mtpdoctor.probes import cgroup
from mtpdoctor.probes.cgroup import Limits, read
from mtpdoctor.visible import visible

_LARGEST_CPUINFO = 1 << 22
_LONGEST = 120
_SYSTEMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_KIB = re.compile(r"^(\w+):\s+(\d{1,15}) kB$", re.MULTILINE)
_ADDRESS_SPACE = re.compile(r"^Max address space\s+(\d{1,20})\s", re.MULTILINE)


def probe(root: Path = Path("/"), *, environment: Mapping[str, str] | None = None) -> Host:
    """Look at this computer. Never raises; what cannot be read is unknown with the reason.

    *root* is where the files of ``/`` lie, for a captured tree; *environment* defaults to this
    process's.
    """
    system = _SYSTEMS.get(sys.platform, sys.platform)
    if system == "Linux":
        return _linux(root, os.environ if environment is None else environment)
    if system == "Darwin":
        return _darwin()
    return _other(system)


def _linux(root: Path, environment: Mapping[str, str]) -> Host:
    cpuinfo = read(root / "proc/cpuinfo", _LARGEST_CPUINFO)
    memory = {name: int(kib) << 10 for name, kib in _KIB.findall(read(root / "proc/meminfo"))}
    limits = cgroup.limits(root)
    return Host(
        system="Linux",
        release=_release(root),
        machine=os.uname().machine,
        cpu=_model(cpuinfo, root),
        cpus=_cpus(root, limits),
        cpu_features=features(cpuinfo),
        total_bytes=memory.get("MemTotal") or Unknown("/proc/meminfo does not say"),
        available_bytes=_available(root, memory, limits),
        container=_container(root, environment),
    )


def _release(root: Path) -> str:
    kernel = visible(read(root / "proc/sys/kernel/osrelease").strip(), _LONGEST)
    for path in ("etc/os-release", "usr/lib/os-release"):
        for line in read(root / path).splitlines():
            name, _, value = line.partition("=")
            if name == "PRETTY_NAME" and (pretty := value.strip().strip("\"'")):
                pretty = visible(pretty, _LONGEST)
                return f"{pretty}, kernel {kernel}" if kernel else pretty
    return kernel


def _blocks(cpuinfo: str) -> list[dict[str, str]]:
    """Take ``/proc/cpuinfo`` apart: a processor each, keys in lower case."""
    blocks = []
    for block in cpuinfo.split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        blocks.append({key.strip().lower(): value.strip() for key, colon, value in pairs if colon})
    return blocks


def _model(cpuinfo: str, root: Path) -> str | Unknown:
    for key in ("model name", "cpu", "model", "hardware"):
        for block in _blocks(cpuinfo):
            # x86 has a bare number under "model", ARM a board's name.
            if (name := block.get(key, "")) and not name.isdigit():
                return visible(name, _LONGEST)
    board = read(root / "proc/device-tree/model").rstrip("\0\n")
    return visible(board, _LONGEST) or Unknown("/proc/cpuinfo does not name the processor")


def features(cpuinfo: str) -> frozenset[str] | Unknown:
    """Return the instruction sets that every processor of ``/proc/cpuinfo`` has.

    x86 lists them as ``flags``, ARM as ``Features``; names stay as the kernel writes them.
    """
    each = [
        frozenset(words.split())
        for block in _blocks(cpuinfo)
        if (words := block.get("flags") or block.get("features"))
    ]
    if not each:
        return Unknown("/proc/cpuinfo lists no instruction sets")
    return frozenset.intersection(*each)


def _cpus(root: Path, limits: Limits) -> int | Unknown:
    status = read(root / "proc/self/status")
    _, found, rest = status.partition("Cpus_allowed_list:")
    allowed = 0
    for first, last in _RANGE.findall(rest.partition("\n")[0]) if found else ():
        allowed += max(0, int(last or first) - int(first)) + 1
    if not allowed:
        return Unknown("/proc/self/status does not say")
    return allowed if limits.cpus is None else min(allowed, max(1, math.ceil(limits.cpus)))


def _available(root: Path, memory: Mapping[str, int], limits: Limits) -> int | Unknown:
    free = memory.get("MemAvailable")
    if free is None:
        return Unknown("/proc/meminfo does not say what is available")
    bounds = [free]
    if limits.memory_left is not None:
        bounds.append(limits.memory_left)
    if address_space := _ADDRESS_SPACE.search(read(root / "proc/self/limits")):
        bounds.append(int(address_space[1]))
    return min(bounds)


def _container(root: Path, environment: Mapping[str, str]) -> str | Unknown | None:
    """Name what the process runs in; the innermost comes first."""
    if not (root / "proc/self").exists():
        return Unknown("/proc cannot be read")
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    if {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"} & environment.keys():
        return "apptainer"
    if _there(root / "run/.containerenv"):
        return "podman"
    if _there(root / ".dockerenv"):
        return "docker"
    # systemd notes here what started it; podman and LXC set the variable as well.
    named = read(root / "run/systemd/container").strip() or environment.get("container", "")
    if named:
        return "lxc" if named.startswith("lx") else visible(named, 32)
    kernel = read(root / "proc/sys/kernel/osrelease") + read(root / "proc/version")
    return "wsl" if "microsoft" in kernel.lower() else None


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _darwin() -> Host:
    from mtpdoctor.probes import sysctl

    uname = os.uname()
    return Host(
        system="Darwin",
        release=uname.release,
        machine=uname.machine,
        cpu=sysctl.text("machdep.cpu.brand_string"),
        cpus=os.cpu_count() or Unknown("the system does not say"),
        cpu_features=Unknown("instruction sets are read on Linux only"),
        total_bytes=sysctl.number("hw.memsize"),
        available_bytes=Unknown("free memory is read on Linux only"),
        container=None,
    )


def _other(system: str) -> Host:
    import platform

    return Host(
        system=system,
        release=platform.release(),
        machine=platform.machine(),
        cpu=visible(platform.processor(), _LONGEST) or Unknown("the system does not say"),
        cpus=os.cpu_count() or Unknown("the system does not say"),
        cpu_features=Unknown("instruction sets are read on Linux only"),
        total_bytes=Unknown("memory is read on Linux and macOS only"),
        available_bytes=Unknown("free memory is read on Linux only"),
        container=Unknown("containers are recognised on Linux only"),
    )
