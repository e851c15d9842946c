"""Values of the macOS kernel, asked of libc; no process is started."""

from __future__ import annotations

import ctypes

from mtpdoctor.facts import Unknown
from mtpdoctor.visible import visible


def text(name: str) -> str | Unknown:
    """Return the string value *name*, ``machdep.cpu.brand_string``."""
    raw = _value(name, 256)
    if isinstance(raw, Unknown):
        return raw
    return visible(raw.rstrip(b"\0").decode("utf-8", "backslashreplace"), 120)


def number(name: str) -> int | Unknown:
    """Return the integer value *name*, ``hw.memsize``."""
    raw = _value(name, 8)
    return raw if isinstance(raw, Unknown) else int.from_bytes(raw, "little")


def _value(name: str, size: int) -> bytes | Unknown:
    try:
        ask = ctypes.CDLL(None).sysctlbyname
    except (OSError, AttributeError):
        return Unknown("this system has no sysctl")
    buffer = ctypes.create_string_buffer(size)
    length = ctypes.c_size_t(size)
    if ask(name.encode(), buffer, ctypes.byref(length), None, ctypes.c_size_t(0)) != 0:
        return Unknown(f"sysctl {name} has no answer")
    return buffer.raw[: length.value]
