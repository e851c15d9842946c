"""Why a file cannot be read as GGUF: the causes, and the one error that carries them."""

from __future__ import annotations

from enum import StrEnum

from mtpdoctor.errors import DoctorError

DOWNLOAD = (
    "download the model file itself: hf download REPO FILE.gguf"
    " (in a browser, take the /resolve/ link, not the /blob/ page)"
)
COMPLETE = (
    "complete the download: hf download REPO FILE.gguf fetches what is missing;"
    " with another tool, delete the file and fetch it again"
)
CORRUPT = (
    "the file is damaged or its writer is broken: compare its SHA-256 with the one on the model's"
    " page, and download or convert it again"
)


class Cause(StrEnum):
    """What is wrong with a file, for code that decides; ``GGUFError.says`` has the words."""

    MISSING = "missing"
    NOT_A_FILE = "not-a-file"
    """A directory, pipe, socket or device."""
    PERMISSION = "permission"
    UNREADABLE = "unreadable"
    """The operating system refused for another reason."""
    EMPTY = "empty"
    HTML = "html"
    JSON = "json"
    """Mostly a server's error message that was saved under the model's name."""
    TEXT = "text"
    LFS_POINTER = "lfs-pointer"
    SAFETENSORS = "safetensors"
    PYTORCH = "pytorch"
    ZIP = "zip"
    COMPRESSED = "compressed"
    NOT_GGUF = "not-gguf"
    """None of the above, and no GGUF either."""
    UNSUPPORTED_VERSION = "unsupported-version"
    TRUNCATED = "truncated"
    """All that is there makes sense, but the file ends too early."""
    ABSURD = "absurd"
    """A count or length that no real model has, and that the file cannot hold."""
    MALFORMED = "malformed"
    DUPLICATE = "duplicate"
    OVERLAP = "overlap"
    """Two tensors claim the same bytes."""
    MISPLACED = "misplaced"
    """A tensor does not start where the one before it ends; llama.cpp refuses such gaps."""
    OUT_OF_FILE = "out-of-file"
    """A tensor's offset points past the end of the file."""
    MISSING_PART = "missing-part"
    """A part of a split model is not there, or does not belong to the others."""


class GGUFError(DoctorError):
    """The only error that reading a GGUF file raises."""

    def __init__(
        self, path: str, cause: Cause, what: str, hint: str = "", *, offset: int | None = None
    ) -> None:
        super().__init__(f"{path}: {what}", hint)
        self.path = path
        """The file as it was named by the caller, or the part of it that is in trouble."""
        self.cause = cause
        self.offset = offset
        """Where the trouble is, in bytes from the start of ``path``; None if nowhere in it."""


def plural(number: int, noun: str) -> str:
    """Return ``1 byte``, ``2,048 bytes``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
