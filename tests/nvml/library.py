"""Compiles the stand-in for NVIDIA's library, and asks the gpu probe through it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("stand_in.c")
_ASK = """
import dataclasses, json
from mtpdoctor.facts import Unknown
from mtpdoctor.probes import gpu
def plain(value):
    return {"unknown": value.reason} if isinstance(value, Unknown) else value
def flat(value):
    return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
seen = gpu.probe()
print(json.dumps(flat(seen) | {"gpus": [flat(one) for one in seen.gpus]}))
"""


def compile_stand_in(folder: Path) -> Path:
    """Compile ``libnvidia-ml.so.1`` into *folder*: with the machine's compiler, else with zig."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    words = [compiler] if compiler else [sys.executable, "-m", "ziglang", "cc"]
    library = folder / "libnvidia-ml.so.1"
    subprocess.run([*words, "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
    return library


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The stand-in driver of one test."""

    library: Path | None
    folder: Path

    def probe(self, *lines: str) -> dict[str, Any]:
        """Return what the probe makes of a driver that answers *lines*, as plain data.

        Asked in a process of its own: the binding loads a library once and for all.
        """
        script = self.folder / "answers.txt"
        script.write_text("\n".join(lines) + "\n", "utf-8")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("LD_")
        } | {"NVML_STAND_IN": str(script), "NVML_STAND_IN_LOG": str(self.folder / "log")}
        if self.library is not None:
            environment["LD_LIBRARY_PATH"] = str(self.library.parent)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", _ASK],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    @property
    def calls(self) -> list[str]:
        """``init`` and ``shutdown``, as the library saw them."""
        log = self.folder / "log"
        return log.read_text("utf-8").split() if log.exists() else []
