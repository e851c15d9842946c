"""Which GPU architectures a CUDA library was compiled for, read without running it.

``.nv_fatbin`` is a row of containers: a header of 16 bytes (magic, version, its own size, size of
what follows), then entries. An entry's header says what it is (1 PTX, 2 machine code), how long
header and payload are, and the architecture; only payloads are compressed. Its flags tell
architecture-specific code (``sm_120a``) and family-specific code (``sm_100f``). Checked against
what nvcc 13.0 writes.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from mtpdoctor.facts import GpuCode, Unknown
from mtpdoctor.probes.server import elf

SECTION = ".nv_fatbin"
MAGIC = struct.pack("<I", 0xBA55ED50)
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ12xI8xQ")  # kind, version, header size, payload size, arch, flags
_PTX, _SASS = 1, 2
_SPECIFIC, _FAMILY = 1 << 20, 1 << 21
_MOST_ENTRIES = 4096
_OLDEST, _NEWEST = 10, 999
"""Architectures that are believed; a coincidence in other bytes hardly falls in between."""

Code = tuple[int, int, bool, bool]
"""Kind, architecture, and whether it is specific to it or to its family."""


def scan(path: str) -> GpuCode | Unknown:
    """Read the file at *path*: a libggml-cuda, or a server that is linked with it."""
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            memoryview(data) as view,
        ):
            found = elf.sections(view)
            places = [(part.offset, part.size) for part in found if part.name == SECTION]
            if not found:  # no ELF file: its containers are found wherever they are
                places = [(0, len(data))]
            if not places:
                return Unknown(f"{Path(path).name} holds no CUDA code ({SECTION})")
            contents = [
                codes
                for offset, size in places
                for codes in containers(data, offset, offset + size)
                if codes
            ]
    except (OSError, ValueError) as error:
        return Unknown(f"{Path(path).name} could not be read: {error}")
    return told(contents, Path(path).name)


def containers(data: bytes | mmap.mmap, start: int, end: int) -> Iterator[frozenset[Code]]:
    """Yield what each container between two offsets holds."""
    at = data.find(MAGIC, start, end)
    while at >= 0:
        codes, after = _container(data, at, end)
        yield codes
        at = data.find(MAGIC, after, end)


def _container(data: bytes | mmap.mmap, at: int, end: int) -> tuple[frozenset[Code], int]:
    """Return one container's codes, and where to look for the next."""
    nothing = frozenset[Code](), at + 4
    if at + _HEADER.size > end:
        return nothing
    _, version, width, size = _HEADER.unpack_from(data, at)
    last = at + width + size
    if version != 1 or width < _HEADER.size or last > end:
        return nothing
    found: set[Code] = set()
    entry = at + width
    for _ in range(_MOST_ENTRIES):
        if entry + _ENTRY.size > last:
            break
        kind, _, header, payload, architecture, flags = _ENTRY.unpack_from(data, entry)
        if header < _ENTRY.size or entry + header + payload > last:
            break
        if kind in {_PTX, _SASS} and _OLDEST <= architecture <= _NEWEST:
            found.add((kind, architecture, bool(flags & _SPECIFIC), bool(flags & _FAMILY)))
        entry += header + payload
    return frozenset(found), last


def told(contents: list[frozenset[Code]], name: str) -> GpuCode | Unknown:
    """Put containers together; every source file of a build is compiled for the same GPUs.

    Where they differ, another library is linked in (cuBLAS brings code for many more GPUs), and
    which code is ggml's own cannot be told. Containers with less are what a device linker leaves.
    """
    kinds = set(contents)
    whole = [codes for codes in kinds if not any(codes < other for other in kinds)]
    if not whole:
        return Unknown(f"{name} has a {SECTION} in which nothing could be read")
    if len(whole) > 1:
        return Unknown(f"{name} holds code of several origins, compiled for different GPUs")
    return GpuCode(
        sass=frozenset(
            arch for kind, arch, own, family in whole[0] if _portable(kind, own, family)
        ),
        ptx=frozenset(
            arch for kind, arch, own, family in whole[0] if kind == _PTX and not own and not family
        ),
        exact=frozenset(arch for _, arch, own, _ in whole[0] if own),
    )


def _portable(kind: int, own: bool, family: bool) -> bool:  # noqa: FBT001
    """Whether it runs on its major version from its minor version on.

    So does machine code, and PTX that is specific to a family.
    """
    return not own and (kind == _SASS or family)
