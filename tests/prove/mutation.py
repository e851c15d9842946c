"""Is every check and every entry of the knowledge of use?

    python tests/prove/mutation.py

Takes one check or one entry away at a time, judges the patients again, where none notices the
pairs of ``tests/pairs.py`` by the real probes, and reads the logs of ``fixtures/logs``: some
verdict must change. A verdict is what is found and how grave, the outcome, what a log means, the
fix, why nothing can be told, and the evidence, in this order: the table says which. An entry that a check asks for by its id is made untrue or unknown in place, since a check
that crashes says nothing. Writes ``docs/proofs/mutation.md``, and exits with 1 if a mutant
survives.
"""

from __future__ import annotations

import datetime as dt
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import pairs  # noqa: E402
from differential.servers import installed  # noqa: E402
from differential.verdict import Doctor  # noqa: E402
from patients import ward  # noqa: E402
from patients.ward import Judgement, Patient, patients  # noqa: E402
from prove.told import Told, told  # noqa: E402

from mtpdoctor import launch  # noqa: E402
from mtpdoctor.builds import Bracket  # noqa: E402
from mtpdoctor.checks import Check  # noqa: E402
from mtpdoctor.engine import examine  # noqa: E402
from mtpdoctor.facts import Crash, Facts, Server, SmokeRun  # noqa: E402
from mtpdoctor.knowledge import Bug, Feature, Knowledge, SemanticVersion  # noqa: E402
from mtpdoctor.probes import gather  # noqa: E402
from mtpdoctor.smoke import Ending, diagnose  # noqa: E402
from mtpdoctor.smoke.diagnosis import says_nothing  # noqa: E402

LOGS = ROOT / "fixtures" / "logs"
PROOF = ROOT / "docs" / "proofs" / "mutation.md"
PARTS = ("features", "bugs", "flags", "values", "versions", "signatures")
BOOK, CHECKS = ward.BOOK, ward.CHECKS
_NEVER = Bracket.parse("b100000000")
_NOBODY_KNOWS = Bracket.parse("b1..b100000000")


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """The doctor without one check or one entry."""

    kind: str
    id: str
    checks: dict[str, Check[Any]] = field(default_factory=lambda: CHECKS)
    book: Knowledge = BOOK


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Who notices a mutant, and by what."""

    who: str
    what: str
    fails: bool
    """Whether a test of the patients or of the logs fails."""

    @property
    def weight(self) -> tuple[bool, bool]:
        return (self.what not in _FAINT, self.fails)


_FAINT = (
    "another reason",
    "its evidence alone",
    "a harmless line is shown",
)
"""What changes the words of a verdict, and not the verdict."""


def mutants() -> Iterator[Mutant]:
    """Yield the doctor without each check, then without each entry of the knowledge."""
    for id in CHECKS:
        rest = {other: check for other, check in CHECKS.items() if other != id}
        yield Mutant(kind="check", id=id, checks=rest)
    for part in PARTS:
        for entry in getattr(BOOK, part):
            id = entry.version if isinstance(entry, SemanticVersion) else entry.id
            yield Mutant(kind=part, id=id, book=without(part, entry))


def without(part: str, entry: Any) -> Knowledge:
    """Return the knowledge without *entry*."""
    rest = tuple(_removed(other) if other is entry else (other,) for other in getattr(BOOK, part))
    kept = tuple(other for others in rest for other in others)
    if part != "signatures":
        changes: dict[str, Any] = {part: kept}
        book = replace(BOOK, **changes)
        vars(book)["signatures"] = BOOK.signatures
    else:
        book = replace(BOOK)
        vars(book)["signatures"] = kept  # else read again from the file
    return book


def _removed(entry: Any) -> tuple[Any, ...]:
    """Return what stands in the place of an entry: nothing, or one that says nothing."""
    if isinstance(entry, Bug):
        return (replace(entry, introduced=_NEVER, fixed=None, source=()),)
    if isinstance(entry, Feature) and entry.kind == "behaviour":
        return (replace(entry, since=_NOBODY_KNOWS, archs=frozenset()),)
    return ()


@cache
def admitted() -> dict[str, Facts]:
    """The facts of each patient, by name."""
    return {patient.name: ward.admit(ward.stated(patient)) for patient in patients()}


def judged(patient: Patient, mutant: Mutant) -> tuple[Judgement, Told]:
    """Judge *patient* as *mutant* does."""
    with patch.object(ward, "BOOK", mutant.book), patch.object(ward, "CHECKS", mutant.checks):
        told_itself = {"banner", "day"} & patient.facts.get("server", {}).keys()
        facts = ward.admit(ward.stated(patient)) if told_itself else admitted()[patient.name]
        said = ward.judge(patient, facts.with_(mutant.book))
        run = None if said.by == "facts" else facts.get(SmokeRun) or ward._run(patient)
    settled = run is not None and run.proved
    return said, told(said.results, mutant.checks, settled=settled)


def ended(patient: Patient, book: Knowledge) -> tuple[str, ...]:
    """Return what the log of *patient* means to *book*."""
    with patch.object(ward, "BOOK", book):
        crash = ward.ended(patient)
    return _means(crash, patient.end["log"].strip().splitlines(), book)


@cache
def logs() -> dict[str, list[str]]:
    """The captured logs by name, without their first two lines, which say what they are."""
    return {
        path.stem: path.read_text("utf-8").splitlines()[2:] for path in sorted(LOGS.glob("*.log"))
    }


def read(lines: list[str], book: Knowledge) -> tuple[str, ...]:
    return _means(diagnose(lines, ending=Ending(), knowledge=book), lines, book)


def _means(crash: Crash, lines: list[str], book: Knowledge) -> tuple[str, ...]:
    quiet = "says nothing" if says_nothing(lines, book) else ""
    return (crash.signature, crash.check, crash.cause, crash.advice, quiet, *crash.log_tail)


class Examination:
    """The verdicts of the whole doctor, and who notices that a part of it is gone."""

    def __init__(self) -> None:
        whole = Mutant(kind="", id="")
        self.whole = whole
        self.patients = {patient.name: judged(patient, whole)[1] for patient in patients()}
        self.ends = {patient.name: ended(patient, BOOK) for patient in patients() if patient.end}
        self.logs = {name: read(lines, BOOK) for name, lines in logs().items()}
        self._pairs: dict[str, tuple[Facts, Told]] = {}

    def notice(self, mutant: Mutant) -> Notice | None:
        """Return who notices *mutant* most."""
        best: Notice | None = None
        wheres = (self._logs,) if mutant.kind == "signatures" else (self._wards, self._in_pairs)
        for where in wheres:
            for notice in where(mutant):
                if all(notice.weight):
                    return notice
                if best is None or notice.weight > best.weight:
                    best = notice
            if best is not None and best.weight[0]:
                break
        return best

    def _wards(self, mutant: Mutant) -> Iterator[Notice]:
        for patient in patients():
            before = self.patients[patient.name]
            said, after = judged(patient, mutant)
            what = before.differs(after)
            if what:
                fails = bool(ward.faults(patient, said)) and not patient.wrong
                yield Notice(who=patient.name, what=what, fails=fails)

    def _logs(self, mutant: Mutant) -> Iterator[Notice]:
        for patient in patients():
            if patient.end:
                after = ended(patient, mutant.book)
                yield from _read_otherwise(patient.name, self.ends[patient.name], after)
        for name, before in self.logs.items():
            after = read(logs()[name], mutant.book)
            yield from _read_otherwise(f"{name}.log", before, after)

    def _in_pairs(self, mutant: Mutant) -> Iterator[Notice]:
        for name, (facts, before) in self.pairs().items():
            after = told(
                tuple(examine(facts.with_(mutant.book), mutant.checks)),
                mutant.checks,
                settled=False,
            )
            what = before.differs(after)
            if what:
                yield Notice(who=f"the pair {name}", what=what, fails=True)

    def pairs(self) -> dict[str, tuple[Facts, Told]]:
        """The pairs, seen by the real probes and judged by the whole doctor; made when needed."""
        if not self._pairs:
            doctor = Doctor(installed())
            examined = doctor.facts.get(Server)
            assert examined is not None
            names = ("sound", *pairs.BROKEN, *pairs.DAMAGED, *pairs.SOUND, *pairs.QUANTIZED)
            for name in names:
                with tempfile.TemporaryDirectory() as folder:
                    words = pairs.write(Path(folder), name).arguments
                    environment = doctor.server.environment
                    command = launch.split((str(doctor.server.binary), *words), environment)
                    given = launch.parse(command, examined.flags)  # type: ignore[arg-type]
                    facts = gather.again(doctor.facts, given, environment)
                facts = facts.without(SmokeRun, "smoke run: not run")
                results = tuple(examine(facts, CHECKS))
                self._pairs[name] = facts, told(results, CHECKS, settled=False)
        return self._pairs


def _read_otherwise(who: str, before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[Notice]:
    if before[:4] != after[:4]:
        yield Notice(who=who, what=f"{after[0] or 'nothing'} in place of {before[0]}", fails=True)
    elif before[4] != after[4]:
        yield Notice(who=who, what="a harmless line is called trouble", fails=False)
    elif before != after:
        yield Notice(who=who, what="a harmless line is shown", fails=False)


def page(rows: list[tuple[Mutant, Notice | None]], seconds: float) -> str:
    """Return the page of docs/proofs/."""
    of, gone = Counter(m.kind for m, _ in rows), Counter(m.kind for m, n in rows if n is None)
    faint = Counter(m.kind for m, n in rows if n is not None and not n.weight[0])
    lines = [
        "# One thing less",
        "",
        (
            f"{dt.datetime.now(dt.UTC):%Y-%m-%d}: `python tests/prove/mutation.py`, Python"
            f" {platform.python_version()}, {seconds:.0f} s, {len(patients())} patients,"
            f" {len(logs())} logs. Each check and each entry of the knowledge of {BOOK.revision}"
            " (to "
            f"{BOOK.horizon}) is taken away alone; someone's verdict must change."
        ),
        "",
        "| taken away | of | survive unnoticed | change words alone |",
        "|---|---:|---:|---:|",
        *(f"| {kind} | {count} | {gone[kind]} | {faint[kind]} |" for kind, count in of.items()),
        "",
        "| | taken away | noticed by | what changes |",
        "|---|---|---|---|",
        *(_row(mutant, notice) for mutant, notice in rows),
        "",
    ]
    return "\n".join(lines)


def _row(mutant: Mutant, notice: Notice | None) -> str:
    who, what = (notice.who, notice.what) if notice else ("**nobody**", "")
    what = what.replace("|", "\\|")
    return f"| {mutant.kind} | `{mutant.id}` | {who} | {what} |"


def main() -> int:
    started = time.monotonic()
    examination = Examination()
    rows = []
    for mutant in mutants():
        notice = examination.notice(mutant)
        rows.append((mutant, notice))
        mark = "✗" if notice is None else "✓" if notice.weight[0] else "·"
        said = f"{notice.who}: {notice.what}" if notice else "nobody notices"
        print(f"{mark} {mutant.kind:<10} {mutant.id:<40} {said}", flush=True)
    text = page(rows, time.monotonic() - started)
    PROOF.write_text(text, "utf-8")
    print(text.split("\n\n")[2])
    return int(any(notice is None for _, notice in rows))


if __name__ == "__main__":
    sys.exit(main())
