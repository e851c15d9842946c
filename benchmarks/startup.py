"""What does it cost to start? ``--version`` and ``checks`` against an idle interpreter."""

from __future__ import annotations

import sys

from benchmarks.commands import DOCTOR, best_seconds


def rows(runs: int = 15) -> list[tuple[str, str, str]]:
    idle, version, checks = best_seconds(
        (sys.executable, "-c", "pass"), (DOCTOR, "--version"), (DOCTOR, "checks"), runs=runs
    )
    return [
        ("startup: python -c pass", f"{idle:.3f} s", "1"),
        ("startup: mtpdoctor --version", f"{version:.3f} s", f"{version / idle:.1f} times that"),
        ("startup: mtpdoctor checks", f"{checks:.3f} s", f"{checks / idle:.1f} times that"),
    ]
