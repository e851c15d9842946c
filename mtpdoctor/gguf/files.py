"""Opens a file as the bytes of a GGUF header, or says in plain words why it is none."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from pathlib import Path

from mtpdoctor.gguf.refusals import COMPLETE, DOWNLOAD, Cause, GGUFError
from mtpdoctor.gguf.sniff import GLIMPSE, MAGIC, stranger
from mtpdoctor.gguf.source import HEADER_LIMIT, Source
from mtpdoctor.gguf.walk import version_of

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a block device",
}


def open_source(path: str) -> tuple[Source, int]:
    """Map the file and return its bytes with the version of the format.

    The file itself is closed again. Raises GGUFError for whatever is no GGUF version 2 or 3.
    """
    try:
        # Asked before opening: opening a pipe waits for its writer, and a device may act on it.
        _expect_file(path, os.stat(path).st_mode)  # noqa: PTH116 - "" is no file; Path("") is "."
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags)
        try:
            status = os.fstat(descriptor)
            _expect_file(path, status.st_mode)
            size = status.st_size
            head = os.read(descriptor, GLIMPSE)
            if not head or not size:
                raise GGUFError(path, Cause.EMPTY, "the file is empty", COMPLETE)
            if not head.startswith(MAGIC):
                raise stranger(path, head, size)
            version, order = version_of(path, head)
            buffer = mmap.mmap(descriptor, min(size, HEADER_LIMIT), access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:  # ValueError: NUL in the path, or the file just shrank
        raise _refused(path, error) from error
    return Source(path, buffer, order, total=size), version


def _expect_file(path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        what = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        hint = "name the .gguf file itself"
        raise GGUFError(path, Cause.NOT_A_FILE, f"this is {what}, not a model file", hint)


def _refused(path: str, error: OSError | ValueError) -> GGUFError:
    """Turn the operating system's refusal into words."""
    code = error.errno if isinstance(error, OSError) else None
    if code in {errno.ENOENT, errno.ENOTDIR}:
        try:
            target = os.readlink(path)  # noqa: PTH115
        except (OSError, ValueError):
            hint = "check the spelling; a relative path starts at the folder you are in"
            return GGUFError(path, Cause.MISSING, "there is no such file", hint)
        says = f"this is a link to {target}, and that file is not there"
        return GGUFError(path, Cause.MISSING, says, DOWNLOAD)
    if code in {errno.EACCES, errno.EPERM}:
        hint = f"let this user read it: chmod a+r {Path(path).name} (and a+x on its folders)"
        return GGUFError(path, Cause.PERMISSION, "reading this file is not permitted", hint)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    says = f"the operating system cannot read this file: {reason}"
    return GGUFError(path, Cause.UNREADABLE, says, "see that the disk or network share is well")
