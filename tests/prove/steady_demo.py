"""Is the demo's verdict the same every time, also on a busy machine?

Runs ``mtpdoctor --demo --json`` twenty times with two busy loops beside it, and demands the same
verdict, exit code and ``proved`` each time, and an acceptance within 0.02. Writes the table
``docs/proofs/steady_demo.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCTOR = str(Path(sys.executable).with_name("mtpdoctor"))


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run() -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [DOCTOR, "--demo", "--json"], check=False, capture_output=True, text=True, timeout=600
    )
    return done.returncode, json.loads(done.stdout)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=20)
    asked.add_argument("--loops", type=int, default=2)
    wanted = asked.parse_args()
    rows = []
    with busy_loops(wanted.loops):
        for number in range(1, wanted.runs + 1):
            code, report = run()
            smoke = report["smoke"]
            row = (report["verdict"], code, report["command"]["proved"])
            rows.append((*row, smoke["acceptance"], smoke["speedup"], smoke["parity"]["equal"]))
            print(number, *rows[-1], flush=True)
    acceptances = [row[3] for row in rows]
    spread = max(acceptances) - min(acceptances)
    steady = len({row[:3] for row in rows}) == 1 and rows[0][:3] == ("pass", 0, True)
    write(rows, wanted.loops, spread)
    if not steady or spread > 0.02:
        print(f"not steady: {sorted({row[:3] for row in rows})}, spread {spread:.4f}")
        return 1
    return 0


def write(rows: list[Any], loops: int, spread: float) -> None:
    lines = [
        "# The demo, again and again",
        "",
        (
            f"{datetime.now(UTC).date()}: `python tests/prove/steady_demo.py --runs {len(rows)}`, Python "
            f"{platform.python_version()}, {os.cpu_count()} cores, {loops} busy loops beside it. Spread"
            f" of the acceptance: {spread:.4f}."
        ),
        "",
        "| run | verdict | exit code | proved | acceptance | speed-up | equal tokens |",
        "|---:|---|---:|---|---:|---:|---|",
        *(f"| {n} | " + " | ".join(map(str, row)) + " |" for n, row in enumerate(rows, 1)),
    ]
    (ROOT / "docs" / "proofs" / "steady_demo.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
