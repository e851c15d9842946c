"""The program as a user starts it, and a look at what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCTOR = str(Path(sys.executable).with_name("mtpdoctor"))
SERVER = str(Path(sys.executable).with_name("llama-server-vulkan"))
MARK = "MTPDOCTOR_TEST_MARK"


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def report(self) -> Any:
        return json.loads(self.out)

    def errors(self) -> list[str]:
        """The ids of the checks that found an error, with each finding counted."""
        return [
            result["check"]
            for result in self.report["results"]
            for finding in result["findings"]
            if finding["severity"] == "error"
        ]


def environment(**changes: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LLAMA_", "HF_"))}
    return kept | {"PYTHONWARNINGS": "error"} | changes


def doctor(
    *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 170
) -> Answer:
    done = subprocess.run(
        [DOCTOR, *words],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env=dict(env) if env is not None else environment(),
        timeout=timeout,
    )
    return Answer(done.returncode, done.stdout, done.stderr)


def marked(mark: str) -> list[str]:
    """Every living process whose environment holds *mark*, as its command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() not in (folder / "environ").read_bytes():
                continue
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found.append(words.decode(errors="replace"))
        except OSError:
            continue
    return found
