"""The constant data of an executable or a library, where its string literals stand."""

from __future__ import annotations

import mmap
from pathlib import Path

from mtpdoctor.facts import Unknown
from mtpdoctor.probes.server import elf

_MOST = 1 << 29

# What only a server with that backend inside says in its log. HIP and MUSA share CUDA's sources.
_BACKENDS = {
    "cuda": b" CUDA devices",
    "hip": b" ROCm devices",
    "musa": b" MUSA devices",
    "vulkan": b"ggml_vulkan: ",
    "metal": b"ggml_metal_",
    "sycl": b"ggml_sycl_",
}


def read(path: str) -> bytes | Unknown:
    """Return the constant data of the file at *path*, NUL bytes around each part.

    Of an ELF file that is what is loaded and neither code nor GPU code; of others it is all.
    """
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            memoryview(data) as view,
        ):
            ranges = [
                (part.offset, part.offset + part.size)
                for part in elf.sections(view)
                if part.constant and part.name.startswith((".rodata", ".data.rel.ro"))
            ] or [(0, len(data))]
            if sum(end - start for start, end in ranges) > _MOST:
                return Unknown(f"{Path(path).name} is too large to be searched")
            return b"\0".join((b"", *(bytes(view[start:end]) for start, end in ranges), b""))
    except (OSError, ValueError, MemoryError) as error:
        return Unknown(f"{Path(path).name} could not be read: {error}")


def backends(text: bytes) -> frozenset[str]:
    """Return the backends that are linked into a static server, told from its own messages."""
    return frozenset(name for name, mark in _BACKENDS.items() if mark in text)
