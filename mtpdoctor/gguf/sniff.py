"""Recognises what people have in place of a GGUF file, by its first bytes."""

from __future__ import annotations

import re

from mtpdoctor.gguf.refusals import COMPLETE, DOWNLOAD, Cause, GGUFError, plural

MAGIC = b"GGUF"
GLIMPSE = 4096
"""Bytes of the start of a file that are looked at."""

_CONVERT = (
    "download a GGUF conversion of the model, or make one with llama.cpp's convert_hf_to_gguf.py"
)

_LFS = b"version https://git-lfs.github.com/spec/"
_TORCH = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."  # the magic number 0x1950a86a20f9469cfc6c, pickled
_HTML = re.compile(
    rb"(<!--.*?-->\s*)?<(!doctype\s+html|html|head|body|script)\b", re.IGNORECASE | re.DOTALL
)
_MESSAGE = re.compile(rb'"(?:error|message|detail)"\s*:\s*"((?:[^"\\]|\\.){1,400})"')
_REFUSED = re.compile(rb"(?i)not found|restricted|denied|forbidden|unauthorized|invalid|limit")
_OLD = {b"lmgg": "GGML", b"fmgg": "GGMF", b"tjgg": "GGJT", b"algg": "GGLA"}
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!": "RAR",
}


def stranger(path: str, head: bytes, size: int) -> GGUFError:
    """Return the error for a file of ``size`` bytes that starts with ``head``, not with GGUF."""
    if MAGIC.startswith(head):
        says = f"the file is cut short: {plural(size, 'byte')} are all there is of it"
        return GGUFError(path, Cause.TRUNCATED, says, COMPLETE, offset=size)
    cause, says, hint = _recognise(head, size)
    return GGUFError(path, cause, f"{says} (at byte 0)", hint, offset=0)


def _recognise(head: bytes, size: int) -> tuple[Cause, str, str]:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _HTML.match(text):
        says = "this is a web page (HTML) saved under the name of a model"
        return Cause.HTML, says, DOWNLOAD
    if head.startswith(_LFS):
        return Cause.LFS_POINTER, _pointer(head), "fetch the file itself: git lfs pull"
    if text[:1] in {b"{", b"["} and _printable(text):
        return Cause.JSON, _json(text), DOWNLOAD
    length = int.from_bytes(head[:8], "little")
    if head[8:9] == b"{" and 2 <= length <= size - 8:
        return Cause.SAFETENSORS, "this is a safetensors file, not GGUF", _CONVERT
    if head.startswith(b"PK\x03\x04"):
        if b"/data.pkl" in head[:512]:
            return Cause.PYTORCH, "this is a PyTorch checkpoint (zipped pickle), not GGUF", _CONVERT
        return Cause.ZIP, "this is a zip archive, not GGUF", "unpack it, and name the .gguf in it"
    if _TORCH in head[:32] or re.match(rb"\x80[\x02-\x05]", head):
        return Cause.PYTORCH, "this is a PyTorch checkpoint (pickle), not GGUF", _CONVERT
    for magic, name in _COMPRESSED.items():
        if head.startswith(magic):
            says = f"this is compressed with {name}, and llama.cpp reads plain GGUF only"
            return Cause.COMPRESSED, says, "unpack it first"
    if head[:4] in _OLD:
        says = f"this is {_OLD[head[:4]]}, the format that GGUF replaced in August 2023"
        return Cause.UNSUPPORTED_VERSION, says, "download a GGUF conversion of the model"
    if not head.strip(b"\0"):
        says = "the file starts with zeros: its space was reserved, and the data never came"
        return Cause.NOT_GGUF, says, COMPLETE
    if _printable(text):
        return Cause.TEXT, _text(text, size), DOWNLOAD
    says = f"this is not GGUF: it starts with the bytes {head[:4].hex(' ')}, not 47 47 55 46 (GGUF)"
    return Cause.NOT_GGUF, says, DOWNLOAD


def _pointer(head: bytes) -> str:
    says = "this is a Git LFS pointer, a note of a few lines that stands for the model"
    found = re.search(rb"^size (\d{1,18})\s*$", head, re.MULTILINE)
    return f"{says} of {plural(int(found[1]), 'byte')}" if found else says


def _json(text: bytes) -> str:
    if found := _MESSAGE.search(text):
        return f"this is a server's answer in place of a model: {_quote(found[1])}"
    return "this is JSON, not a model"


def _text(text: bytes, size: int) -> str:
    """Quote what reads like a server's refusal, and nothing else: reports get published."""
    if size <= 1024 and _REFUSED.search(text):
        return f"this is a server's answer in place of a model: {_quote(text)}"
    return "this is a text file, not a model"


def _printable(text: bytes) -> bool:
    """Say whether the bytes are text; the last character may be cut off."""
    try:
        decoded = text[:400].decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        if error.start < len(text[:400]) - 3:
            return False
        decoded = text[: error.start].decode("utf-8")
    return bool(decoded) and all(c.isprintable() or c in "\r\n\t" for c in decoded)


def _quote(text: bytes) -> str:
    """Return the start of a text for a message: one line, nothing that moves a cursor."""
    line = " ".join(text[:400].decode("utf-8", "replace").split())
    short = line if len(line) <= 80 else line[:79] + "…"
    return "“" + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in short) + "”"
