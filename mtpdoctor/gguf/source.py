"""The bytes of one header: bounded reads in its byte order, refusals that know the place."""

from __future__ import annotations

import mmap
import struct
from typing import Literal

from mtpdoctor.gguf.refusals import COMPLETE, CORRUPT, Cause, GGUFError, plural

ByteOrder = Literal["little", "big"]

HEADER_LIMIT = 1 << 27
"""Bytes that a header may take, 8 times Gemma 4's: the bound on all time and memory here."""

# What does not fit in the file is either cut off or nonsense, and a user needs to know which.
# These are far above what real models have, and far below what a flipped high byte makes.
PLAUSIBLE_LENGTH = 1 << 26
PLAUSIBLE_COUNT = 1 << 26


class Source:
    """Random access to the header of one file; every read is checked against its size.

    ``buffer`` maps the first ``HEADER_LIMIT`` bytes of the file at most. Only pages that are read
    take memory, and dropping the last reference unmaps them. Values made by hand lie in ``bytes``.
    """

    __slots__ = ("buffer", "mark", "order", "path", "size", "total", "u32s", "u64s")

    def __init__(
        self, path: str, buffer: mmap.mmap | bytes, order: ByteOrder, total: int | None = None
    ) -> None:
        self.path = path
        self.buffer = buffer
        self.size = len(buffer)
        """Bytes that can be read here."""
        self.total = self.size if total is None else total
        """Bytes of the whole file."""
        self.order: ByteOrder = order
        self.mark = "<" if order == "little" else ">"
        """The byte order as ``struct`` writes it."""
        self.u32s = struct.Struct(self.mark + "I")
        self.u64s = struct.Struct(self.mark + "Q")

    def close(self) -> None:
        """Unmap the file now; nothing can be read any more."""
        if isinstance(self.buffer, mmap.mmap):
            self.buffer.close()

    def u32(self, pos: int, what: str) -> int:
        """Read an unsigned 32-bit integer; ``what`` names it if the file ends before."""
        if pos + 4 > self.size:
            raise self.cut(pos, 4, what)
        value: int = self.u32s.unpack_from(self.buffer, pos)[0]
        return value

    def u64(self, pos: int, what: str) -> int:
        """Read an unsigned 64-bit integer; ``what`` names it if the file ends before."""
        if pos + 8 > self.size:
            raise self.cut(pos, 8, what)
        value: int = self.u64s.unpack_from(self.buffer, pos)[0]
        return value

    def string(self, pos: int, what: str) -> tuple[int, int]:
        """Return where the bytes of the string at ``pos`` start and end, within the file."""
        length = self.u64(pos, what)
        start = pos + 8
        if length > self.size - start:
            if length > PLAUSIBLE_LENGTH:
                says = f"{what} claims a length of {plural(length, 'byte')}"
                raise self.refuse(Cause.ABSURD, says, offset=pos)
            raise self.cut(start, length, what)
        return start, start + length

    def text(self, start: int, end: int) -> str:
        r"""Decode UTF-8; bytes that are none appear as ``\xff``, so decoding never fails."""
        return str(self.buffer[start:end], "utf-8", "backslashreplace")

    def claim(self, pos: int, count: int, least: int, what: str, *, at: int) -> None:
        """Refuse ``count`` things of at least ``least`` bytes that cannot lie from ``pos`` on.

        Nothing is allocated or walked on the word of a count before it passed here.
        ``at`` is where the count itself stands.
        """
        if count * least <= self.size - pos:
            return
        if count > PLAUSIBLE_COUNT:
            raise self.refuse(Cause.ABSURD, f"the file claims {count:,} {what}", offset=at)
        raise self.cut(pos, count * least, f"its {count:,} {what}")

    def cut(self, pos: int, need: int, what: str) -> GGUFError:
        """Return the error for a header that ends before ``need`` bytes from ``pos`` on."""
        if self.size < self.total:
            says = f"its header does not end within {HEADER_LIMIT >> 20} MiB"
            return self.refuse(Cause.ABSURD, f"{says}, and is still in {what}", offset=pos)
        missing = pos + need - self.size
        return GGUFError(
            self.path,
            Cause.TRUNCATED,
            f"the file is cut short: it ends after {plural(self.size, 'byte')}, inside {what}"
            f" (from byte {pos:,} on), and at least {plural(missing, 'byte')} more must follow",
            COMPLETE,
            offset=self.size,
        )

    def refuse(self, cause: Cause, says: str, hint: str = CORRUPT, *, offset: int) -> GGUFError:
        """Return an error that names this file and the byte."""
        return GGUFError(self.path, cause, f"{says} (at byte {offset:,})", hint, offset=offset)
