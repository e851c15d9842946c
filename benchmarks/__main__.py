"""``make bench``: every measurement as one table, also written to docs/proofs/bench.md."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import header_read, startup, static_verdict


def main() -> None:
    ours, theirs, ratio = header_read.main()
    table = [
        *(
            (f"header read: {row['reader']}", f"{row['seconds']:.3f} s", f"{row['MiB']:.1f} MiB")
            for row in (ours, theirs)
        ),
        (
            "header read: GGUFReader over ours",
            f"{ratio['seconds']:.0f} times the time",
            f"{ratio['MiB']:.0f} times the memory",
        ),
        *startup.rows(),
        *static_verdict.rows(theirs["seconds"]),
    ]
    width = max(len(name) for name, *_ in table)
    lines = [
        f"| {'what':<{width}} | measured | ratio |",
        f"|{'-' * (width + 2)}|---|---|",
        *(f"| {name:<{width}} | {measured} | {against} |" for name, measured, against in table),
    ]
    print("\n".join(lines))
    today = datetime.now(UTC).date()
    where = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    proof = Path(__file__).parents[1] / "docs" / "proofs" / "bench.md"
    head = f"# Benchmarks\n\n{today}: `make bench`, {where}. Best of several runs in turn.\n\n"
    proof.write_text(head + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
