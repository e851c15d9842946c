"""As much of an executable's header as a diagnosis needs."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"\x7fELF"
_MOST_SECTIONS = 65_536
_ALLOCATED, _EXECUTABLE = 2, 4

# e_machine, as platform.machine() names it. https://www.sco.com/developers/gabi/latest/ch4.eheader.html
MACHINES = {
    3: "i686",
    21: "ppc64le",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A named range of the file, in bytes."""

    name: str
    offset: int
    size: int
    constant: bool
    """Loaded, and no code: where string literals and data are."""


def machine(path: str) -> str:
    """Return the processor an ELF file is for; empty for a file that is none."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(20)
    except OSError:
        return ""
    if len(head) < 20 or not head.startswith(MAGIC):
        return ""
    number: int = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)[0]
    return MACHINES.get(number, f"processor {number} of the ELF standard")


def interpreter(path: str) -> str:
    """Return the loader that a 64-bit little-endian ELF file names; empty if it names none."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(64)
            if len(head) < 64 or not head.startswith(MAGIC + b"\x02\x01"):
                return ""
            start = struct.unpack_from("<Q", head, 32)[0]
            width, count = struct.unpack_from("<HH", head, 54)
            file.seek(start)
            table = file.read(min(width * count, 1 << 16))
            for at in range(0, len(table) - 55, max(width, 56)):
                kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", table, at)
                if kind == 3:
                    file.seek(offset)
                    return file.read(min(size, 4096)).rstrip(b"\0").decode("utf-8", "replace")
    except (OSError, OverflowError):
        return ""
    return ""


def sections(data: bytes | memoryview) -> tuple[Section, ...]:
    """Return the sections of a 64-bit little-endian ELF file that lie inside it; none for others.

    *data* is the whole file, most likely mapped.
    """
    if len(data) < 64 or bytes(data[:6]) != MAGIC + b"\x02\x01":
        return ()
    table = struct.unpack_from("<Q", data, 40)[0]
    width, count, names_at = struct.unpack_from("<HHH", data, 58)
    if width < 64 or count > _MOST_SECTIONS or table + width * count > len(data):
        return ()
    rows = [
        struct.unpack_from("<IIQQQQ", data, table + width * index)  # name kind flags addr off size
        for index in range(count)
    ]
    if names_at >= len(rows):
        return ()
    *_, names_offset, names_size = rows[names_at]
    names = bytes(data[names_offset : names_offset + min(names_size, 1 << 20)])
    return tuple(
        Section(
            name=names[name : names.find(b"\0", name)].decode("ascii", "replace"),
            offset=offset,
            size=size,
            constant=kind == 1 and flags & _ALLOCATED != 0 and flags & _EXECUTABLE == 0,
        )
        for name, kind, flags, _, offset, size in rows
        if offset + size <= len(data) and kind != 8  # SHT_NOBITS takes no room in the file
    )
