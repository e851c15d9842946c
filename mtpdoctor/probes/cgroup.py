"""The limits that Linux control groups set, v1 and v2: memory and processor time.

A limit anywhere above holds too, so every group up to the root of the mount is read. Inside a
container the own path often does not exist below the mount; the mount's root is the group then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_MOUNT = "sys/fs/cgroup"
_NO_LIMIT = 1 << 60
"""v1 writes "no limit" as the largest multiple of the page size."""
_LARGEST = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What all groups leave; ``None`` where none of them limits."""

    memory_limit: int | None = None
    memory_left: int | None = None
    """Bytes that can still be had; file cache that is not in use counts as free."""
    cpus: float | None = None
    """Processors' worth of time: 1.5."""


def limits(root: Path) -> Limits:
    """Read the limits of this process; *root* is where ``/`` is. Never raises."""
    total: list[int] = []
    left: list[int] = []
    cpus: list[float] = []
    for folder in _groups(root, "memory"):
        limit = _first(folder, "memory.max", "memory.limit_in_bytes")
        if limit is None or limit >= _NO_LIMIT:
            continue
        total.append(limit)
        used = _first(folder, "memory.current", "memory.usage_in_bytes") or 0
        left.append(max(0, limit - max(0, used - _idle_cache(folder))))
    for folder in _groups(root, "cpu"):
        quota, period = _quota(folder)
        if quota > 0 < period:
            cpus.append(quota / period)
    return Limits(
        memory_limit=min(total, default=None),
        memory_left=min(left, default=None),
        cpus=min(cpus, default=None),
    )


def read(path: Path, limit: int = _LARGEST) -> str:
    """Return at most *limit* bytes of a file as text; empty for one that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(limit).decode("utf-8", "backslashreplace")
    except (OSError, ValueError):
        return ""


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders that may limit *controller*: own group first, then those above it."""
    for line in read(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            mounts = ["."]
        elif controller in controllers.split(","):
            mounts = [controllers, controller]
        else:
            continue
        for mount in mounts:
            top = root / _MOUNT / mount
            own = PurePosixPath(path.lstrip("/"))
            if ".." not in own.parts:
                yield from (top / group for group in (own, *own.parents) if group.name)
            yield top


def _first(folder: Path, *names: str) -> int | None:
    return next((value for name in names if (value := _number(read(folder / name))) >= 0), None)


def _number(text: str) -> int:
    """Read a number of bytes; -1 for ``max``, nothing, or nonsense."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else -1


def _idle_cache(folder: Path) -> int:
    found = {}
    for line in read(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        found[name] = value
    # v1 counts the groups below under a name of their own.
    text = found.get("total_inactive_file", found.get("inactive_file", ""))
    return max(0, _number(text))


def _quota(folder: Path) -> tuple[int, int]:
    """Return the microseconds of processor time, and of the period that they are for."""
    words = read(folder / "cpu.max").split()
    if len(words) == 2:
        return _number(words[0]), _number(words[1])
    return (
        _number(read(folder / "cpu.cfs_quota_us")),
        _number(read(folder / "cpu.cfs_period_us")),
    )
