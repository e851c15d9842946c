"""Why a program does not start, in the words of the system that refused it."""

from __future__ import annotations

import errno
import os
import platform
import re
import signal
from pathlib import Path

from mtpdoctor.facts import StartFailure
from mtpdoctor.probes.server import elf
from mtpdoctor.probes.server.ask import Answer
from mtpdoctor.visible import visible

_SAYS = 400

# The loaders of glibc, musl and macOS; the first group is the library.
_MISSING = (
    re.compile(r"error while loading shared libraries: (\S+): cannot open shared object file"),
    re.compile(r"Error loading shared library ([^\s:]+): No such file"),
    re.compile(r"Library not loaded: (\S+)"),
)
_TOO_OLD = (
    re.compile(r"version `([^'\s]{1,80})' not found"),
    re.compile(r"undefined symbol: (\S{1,200})"),
    re.compile(r"Error relocating [^\s:]+: (\S{1,200}): symbol not found"),
    re.compile(r"Symbol not found: (\S{1,200})"),
)
_FOREIGN = re.compile(
    r"wrong ELF class|cannot execute binary file|Exec format error|Bad CPU type", re.IGNORECASE
)
# NTSTATUS values with which Windows ends a program that it cannot start.
_WINDOWS = {
    0xC0000135: ("missing-library", "a DLL that it needs was not found", ""),
    0xC0000139: ("library-version", "a DLL that it needs is of another version", ""),
    0xC000007B: ("wrong-architecture", "a DLL or the program is for another processor", ""),
    0xC000001D: ("signal", "it died of an illegal instruction", "SIGILL"),
    0xC0000005: ("signal", "it died of an access violation", "SIGSEGV"),
}
_MACHO = {bytes.fromhex(magic) for magic in ("cffaedfe", "cefaedfe", "feedfacf", "cafebabe")}
_SAME_MACHINE = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64", "i386": "i686"}


def failure(answer: Answer, path: str) -> StartFailure | None:
    """Return why the program at *path* gave no version; ``None`` when it ended well."""
    if answer.refused is not None:
        return _refused(answer.refused, path)
    if answer.ok:
        return None
    text = answer.text
    if answer.stopped == "flood":
        return StartFailure(kind="flood", says="it writes without end instead of its version")
    if answer.stopped:
        says = f"it did not print its version within {answer.seconds:.0f} s"
        return StartFailure(kind="timeout", says=says)
    assert answer.code is not None
    for kind, patterns in (("missing-library", _MISSING), ("library-version", _TOO_OLD)):
        for pattern in patterns:
            match = pattern.search(text)
            if match is not None:
                return StartFailure(
                    kind="missing-library" if kind == "missing-library" else "library-version",
                    says=_line(text, match.start()),
                    library=visible(match[1], 200),
                )
    windows = _WINDOWS.get(answer.code & 0xFFFFFFFF) if answer.code not in range(-64, 256) else None
    if windows is not None:
        kind, says, name = windows
        return StartFailure(
            kind="missing-library"
            if kind == "missing-library"
            else "library-version"
            if kind == "library-version"
            else "wrong-architecture"
            if kind == "wrong-architecture"
            else "signal",
            says=says,
            signal=name,
        )
    name = _signal(answer.code)
    if name:
        return StartFailure(
            kind="signal", signal=name, says=_last(text) or f"it died of {name} at once"
        )
    foreign = _FOREIGN.search(text)
    if foreign is not None:
        return StartFailure(kind="wrong-architecture", says=_line(text, foreign.start()))
    return StartFailure(
        kind="exit", says=f"it ended with exit code {answer.code}" + _quoted(_last(text))
    )


def _refused(error: OSError, path: str) -> StartFailure:
    """Tell what the system's refusal to start the file at *path* comes from."""
    built_for, here = elf.machine(path), _here()
    foreign = bool(built_for) and built_for != here
    if error.errno == errno.ENOEXEC or getattr(error, "winerror", None) in {193, 216}:
        if foreign:
            return StartFailure(
                kind="wrong-architecture",
                says=f"it is built for {built_for}, and this machine is {here or 'another'}",
            )
        return _what_instead(path)
    if error.errno == getattr(errno, "EBADARCH", -1):
        return StartFailure(
            kind="wrong-architecture", says=f"it is built for another processor than {here}"
        )
    if error.errno == errno.ENOENT:
        return _no_interpreter(path)
    if error.errno in {errno.EACCES, errno.EPERM} and not _may_execute(path):
        also = f"; and it is built for {built_for}, this machine is {here}" if foreign else ""
        return StartFailure(
            kind="not-executable", says=f"no permission to execute it (chmod +x){also}"
        )
    instead = _what_instead(path)
    if instead.kind == "bad-interpreter":
        return instead
    return StartFailure(kind="exit", says=visible(error.strerror or str(error), _SAYS))


def _no_interpreter(path: str) -> StartFailure:
    """Return which program or loader a file is to be run by that is not there."""
    try:
        with Path(path).open("rb") as file:
            first = file.readline(512)
    except OSError as error:
        return StartFailure(kind="no-program", says=visible(str(error), _SAYS))
    if first.startswith(b"#!"):
        words = first[2:].decode("utf-8", "replace").split()
        name = visible(words[0] if words else "nothing", 200)
        return StartFailure(
            kind="bad-interpreter", says=f"it is a script for {name}, which is not there"
        )
    loader = visible(elf.interpreter(path), 200)
    if loader:
        return StartFailure(
            kind="missing-library",
            says=f"its loader {loader} is not on this system: it was built for another one",
            library=loader,
        )
    return StartFailure(kind="no-program", says="the system finds no such program")


def _may_execute(path: str) -> bool:
    """Whether the file has the permission; then a refusal comes from somewhere else."""
    try:
        return bool(os.access(path, os.X_OK))
    except (OSError, ValueError):
        return False


def _what_instead(path: str) -> StartFailure:
    """Tell what the file at *path* is, which the system took for no program."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(512)
    except OSError as error:
        return StartFailure(kind="no-program", says=visible(str(error), _SAYS))
    if head[:2] == b"MZ":
        return StartFailure(kind="wrong-architecture", says="it is a program for Windows")
    if head[:4] in _MACHO:
        return StartFailure(kind="wrong-architecture", says="it is a program for macOS")
    if head.startswith(b"#!"):
        words = head[2:].split(b"\n")[0].decode("utf-8", "replace").split()
        says = "its first line, #!, names no program"
        if words:
            says = f"its first line names {visible(words[0], 200)}, which cannot run it"
        return StartFailure(kind="bad-interpreter", says=says)
    if not head:
        says = "the file is empty"
    elif head.startswith(elf.MAGIC):
        says = "the system cannot run this ELF file: it is damaged or cut short"
    else:
        says = "it is neither a program for this system nor a script that begins with #!"
    return StartFailure(kind="no-program", says=says)


def _here() -> str:
    name = platform.machine().lower()
    return _SAME_MACHINE.get(name, name)


def _signal(code: int) -> str:
    """Return the signal behind a status; a shell says 128 more than the signal's number."""
    number = -code if code < 0 else code - 128
    if not 0 < number < 65:
        return ""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if code < 0 else ""


def _line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    return visible(text[start:].split("\n", 1)[0].strip(), _SAYS)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return visible(lines[-1], _SAYS) if lines else ""


def _quoted(line: str) -> str:
    return f": {line}" if line else ""
