"""Which executable really runs behind a command, and which libraries it runs with."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from mtpdoctor.facts import Unknown
from mtpdoctor.probes.server import elf

# libllama.so.0.1.0, ggml-cuda.dll, and libggml-cuda-3851d25f.so as wheel builders rename it.
_LIBRARY = re.compile(
    r"(?:lib)?(llama|ggml(?:-[a-z0-9]+)*?)(?:-[0-9a-f]{8})?\.(?:so(?:\.\d+){0,4}|(?:\d+\.){0,3}dylib|dll)"
)
_MOST_MAPS = 1 << 22
_MOST_ENVIRONMENT = 1 << 20
_MOST_ENTRIES = 50_000
_NATIVE = (elf.MAGIC, b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xbe\xba\xfe\xca")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "busybox", "ksh"})
_NOT_OFFLOADING = ("base", "cpu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What runs."""

    executable: str
    libraries: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Path by stem: ``llama``, ``ggml``, ``ggml-base``, ``ggml-cuda``; none in a static server."""
    environment: Mapping[str, str] | None = None
    """What a wrapper script set for it; ``None`` where that could not be seen."""
    seen: bool = False
    """Whether this was seen in the running process, rather than told from the files."""

    def holder(self, stem: str) -> str:
        """Return the file that has the code of a library: its own, or the static server's."""
        return self.libraries.get(stem, self.executable)

    @property
    def static(self) -> bool:
        """Whether the server brings its code along instead of loading libllama."""
        return "llama" not in self.libraries

    @property
    def backends(self) -> frozenset[str]:
        """The backends whose libraries are there: ``cuda`` for libggml-cuda."""
        stems = (stem.split("-", 1) for stem in self.libraries if stem.startswith("ggml-"))
        return frozenset(name for _, name in stems if not name.startswith(_NOT_OFFLOADING))


def watch(pid: int, path: str) -> Program | None:
    """Look at the process *pid* that *path* was started as, or at what it started in its group.

    Works where ``/proc`` does, while the process is held. ``None`` elsewhere, and where all that
    is seen is the interpreter of a script.
    """
    if sys.platform != "linux":
        return None
    own = _process(pid)
    if own is not None and own.libraries:
        return own
    children = [each for each in map(_process, _group(pid)) if each is not None]
    for each in children:
        if each.libraries:
            return each
    last = children[-1] if children else own
    return None if last is None or _interprets(last.executable, path) else last


def _interprets(executable: str, path: str) -> bool:
    """Whether *executable* may be what runs the script at *path*: its ``#!`` line names it."""
    try:
        with Path(path).open("rb") as file:
            first = file.readline(512)
    except OSError:
        return False
    if not first.startswith(b"#!"):
        return False
    names = {os.path.basename(word) for word in os.fsdecode(first[2:]).split()}  # noqa: PTH119
    runs = os.path.basename(executable)  # noqa: PTH119
    return runs in _SHELLS or any(runs.startswith(name) for name in names)


def at_rest(path: str) -> Program | Unknown:
    """Tell from the files alone what *path* runs: itself, with the libraries that lie beside it."""
    real = os.path.realpath(path)
    try:
        with Path(real).open("rb") as file:
            head = file.read(4)
    except OSError as error:
        return Unknown(f"it cannot be read: {error.strerror}")
    if not head.startswith(_NATIVE):
        return Unknown("it is a script, and what it starts could not be seen")
    return Program(executable=real, libraries=MappingProxyType(beside([_folder(real)])))


def complete(program: Program) -> Program:
    """Add the backends that lie beside those libraries, to be loaded where their driver is."""
    folders = dict.fromkeys(
        _folder(path)
        for path in (program.libraries.get("ggml"), program.libraries.get("ggml-base"))
        if path
    )
    near = beside(list(folders) or [_folder(program.executable)])
    backends = {stem: path for stem, path in near.items() if stem.startswith("ggml-")}
    if not program.seen:
        return program
    return Program(
        executable=program.executable,
        libraries=MappingProxyType(backends | dict(program.libraries)),
        environment=program.environment,
        seen=True,
    )


def beside(folders: list[str]) -> dict[str, str]:
    """Return the llama.cpp libraries in *folders* and the ``lib`` beside each, by stem."""
    found: dict[str, str] = {}
    for folder in folders:
        parent = Path(folder).parent
        for place in (folder, str(parent / "lib"), str(parent / "lib64")):
            for name in sorted(_names(place)):
                match = _LIBRARY.fullmatch(name)
                if match is not None:
                    found.setdefault(match[1], os.path.join(place, name))  # noqa: PTH118
    return found


def _process(pid: int) -> Program | None:
    try:
        executable = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115  as it stands there
        with Path(f"/proc/{pid}/maps").open("rb") as file:
            maps = file.read(_MOST_MAPS)
    except OSError:
        return None
    libraries: dict[str, str] = {}
    for path in dict.fromkeys(_mapped(maps)):
        match = _LIBRARY.fullmatch(os.path.basename(path))  # noqa: PTH119
        if match is not None:
            libraries.setdefault(match[1], path)
    return Program(
        executable=executable,
        libraries=MappingProxyType(libraries),
        environment=_environment(pid),
        seen=True,
    )


def _mapped(maps: bytes) -> Iterator[str]:
    for line in maps.split(b"\n"):
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5].startswith(b"/"):
            yield os.fsdecode(fields[5])


def _environment(pid: int) -> Mapping[str, str] | None:
    try:
        with Path(f"/proc/{pid}/environ").open("rb") as file:
            words = file.read(_MOST_ENVIRONMENT).split(b"\0")
    except OSError:
        return None
    pairs = (os.fsdecode(word).partition("=") for word in words if b"=" in word)
    return {name: value for name, _, value in pairs if name}


def _group(pid: int) -> list[int]:
    """Return the other processes of the group that *pid* leads, oldest first."""
    members = []
    for entry in _names("/proc"):
        if not entry.isdecimal() or int(entry) == pid:
            continue
        try:
            with Path(f"/proc/{entry}/stat").open("rb") as file:
                fields = file.read(4096).rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 19 and fields[2] == str(pid).encode():
            members.append((int(fields[19]), int(entry)))  # start time
    return [member for _, member in sorted(members)]


def _names(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                yield entry.name
    except OSError:
        return


def _folder(path: str) -> str:
    return str(Path(path).parent)
