"""Proves the flag table of a help text: a real server is asked about every flag that it lists.

    python tests/prove/flag_table.py [--server PATH ...]

Each spelling is given with more unknown flags behind it than it can have values: at which of them
the server stops says how many words the flag took. Every allowed value must be taken and a word
that is none refused; a removed flag must be refused in the words of its note. Without --server it
is the server of the demo's wheel. Prints a table and writes it to docs/proofs/.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from launch.asking import LEAVES, Answer, ask, server  # noqa: E402

from mtpdoctor.facts import Flag  # noqa: E402
from mtpdoctor.launch import table  # noqa: E402

BEHIND = ("--mtpdoctor-1", "--mtpdoctor-2", "--mtpdoctor-3")
SAMPLES = ("1", "none", "a=b", "a=int:1", "{}", "1-1", "a=CPU", "distribute", ".", "a:1", "1+1")


@dataclass(frozen=True)
class Question:
    """Asks one server, in a folder where what it writes does no harm."""

    program: Path
    folder: Path

    def taken(self, *words: str) -> int | None:
        """Count the words that the server took before it stopped at one of ``BEHIND``."""
        answer = self.ask(*words, *BEHIND)
        match = re.fullmatch(r"--mtpdoctor-(\d)", answer.invalid or "")
        return len(words) - 1 + int(match[1]) - 1 if match is not None else None

    def ask(self, *words: str) -> Answer:
        return ask(self.program, *words, cwd=self.folder)

    def arity(self, name: str, flag: Flag) -> int | None:
        """Return how many words *name* really takes; ``None`` where no sample is a value of it."""
        samples = (*SAMPLES, *sorted(flag.values)[:1])
        tries = [(name,), *((name, s) for s in samples), *((name, s, s) for s in samples)]
        for words in tries:
            taken = self.taken(*words)
            if taken is not None:
                return taken
        needs = self.ask(name).says.startswith("expected value")
        return flag.arity if needs and flag.arity == 1 else None

    def faults(self, flag: Flag) -> list[str]:
        found: list[str] = []
        if not set(LEAVES).isdisjoint(flag.names):
            return found
        for name in (*flag.names, *flag.negations):
            if flag.removed:
                says = self.ask(name, "1").says
                if not flag.removed.startswith(says) or not says:
                    found.append(f"{name}: removed, but the server says {says!r}")
                continue
            arity = self.arity(name, flag)
            if arity != flag.arity:
                found.append(f"{name}: takes {arity} words, the table says {flag.arity}")
        if flag.values:
            wrong = [v for v in sorted(flag.values) if self.taken(flag.name, v) != 1]
            found += [f"{flag.name}: refuses {value!r}" for value in wrong]
            if self.taken(flag.name, "mtpdoctor") is not None:
                found.append(f"{flag.name}: takes any word")
        return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", type=Path, action="append")
    programs = parser.parse_args().server or [server()]
    rows, failed = [], False
    for program in (each.resolve() for each in programs):
        printed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        banner = (version.stdout + version.stderr).splitlines()[0]
        flags = table(printed.stdout, banner).flags
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            question = Question(program, Path(folder))
            faults = [fault for many in pool.map(question.faults, flags) for fault in many]
        spellings = sum(len(flag.names) + len(flag.negations) for flag in flags)
        removed = sum(bool(flag.removed) for flag in flags)
        rows.append(f"| {banner} | {len(flags)} | {spellings} | {removed} | {len(faults)} |")
        print(rows[-1], *faults, sep="\n  ")
        failed |= bool(faults) or not flags
    text = (
        "# The flag table against real servers\n\n"
        f"{dt.datetime.now(tz=dt.UTC).date()}, `python tests/prove/flag_table.py`: every listed "
        "spelling is given to the server\nitself; a fault is one that takes another number of "
        "words, or other values, than the table says.\n\n"
        "| server | flags | spellings | removed | faults |\n|---|---|---|---|---|\n"
    )
    path = ROOT / "docs" / "proofs" / "flag_table.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n".join(rows) + "\n", "utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
