"""Whole commands as a user starts them: seconds from start to exit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

DOCTOR = str(Path(sys.executable).with_name("mtpdoctor"))
SERVER = str(Path(sys.executable).with_name("llama-server-vulkan"))


def best_seconds(*commands: Sequence[str], runs: int) -> tuple[float, ...]:
    """Return the shortest time of each command, all measured in turn so that noise hits all."""
    best = [float("inf")] * len(commands)
    for _ in range(runs):
        for index, words in enumerate(commands):
            started = perf_counter()
            subprocess.run(words, check=False, capture_output=True)
            best[index] = min(best[index], perf_counter() - started)
    return tuple(best)
