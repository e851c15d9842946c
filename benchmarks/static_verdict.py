"""How long is a static verdict on a pair of Gemma 4's size, real server included?"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from benchmarks.commands import DOCTOR, SERVER, best_seconds
from benchmarks.header_read import write_header_of_gemma4_size


def rows(reader_seconds: float, runs: int = 7) -> list[tuple[str, str, str]]:
    """Return the row; *reader_seconds* is what gguf.GGUFReader takes for one of the two files."""
    with tempfile.TemporaryDirectory() as folder:
        target, drafter = Path(folder) / "target.gguf", Path(folder) / "mtp-drafter.gguf"
        write_header_of_gemma4_size(target)
        write_header_of_gemma4_size(drafter, "gemma4-assistant")
        words = (
            *(DOCTOR, "--json", "--static", "--", SERVER, "-m", str(target)),
            *("--model-draft", str(drafter), "--spec-type", "draft-mtp"),
        )
        answer = subprocess.run(words, check=False, capture_output=True, text=True)
        report = json.loads(answer.stdout)
        (seconds,) = best_seconds(words, runs=runs)
    share = 100 * seconds / reader_seconds
    return [
        (
            f"static verdict ({report['verdict']}): mtpdoctor --json --static",
            f"{seconds:.3f} s",
            f"{share:.2f} % of GGUFReader's time for one file",
        )
    ]
