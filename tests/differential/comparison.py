"""Judges every case and runs it on every server, and counts who was right."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from differential import cases
from differential.case import Case
from differential.known import why
from differential.outcome import KINDS, RUINED, Outcome, outcome
from differential.servers import ROOT, Server, all_servers
from differential.verdict import Doctor, Opinion

from mtpdoctor.report import Verdict

PAGE = ROOT / "docs" / "proofs" / "differential.md"
AT_ONCE = 2
VERDICTS = (Verdict.PASS, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.FAIL)


@dataclass(frozen=True)
class Row:
    """One case on one server."""

    case: Case
    opinion: Opinion
    outcome: Outcome

    @property
    def drafts(self) -> bool:
        return self.outcome.kind == "drafting"

    @property
    def wrong(self) -> str:
        """Name the mistake, if it is one."""
        verdict = self.opinion.verdict
        if not self.drafts and verdict in {Verdict.PASS, Verdict.WARN}:
            return "false pass"
        if self.drafts and verdict is Verdict.FAIL:
            return "false alarm"
        return ""

    @property
    def open(self) -> bool:
        return self.opinion.verdict is Verdict.INCONCLUSIVE


def compare(server: Server, chosen: Iterable[Case]) -> Iterator[Row]:
    """Yield each case, judged and run, in its order."""
    doctor = Doctor(server)
    doctor.facts  # noqa: B018  asked once, before the threads

    def one(case: Case) -> Row:
        with TemporaryDirectory(prefix="differential-") as name:
            folder = Path(name)
            words = case.write(folder)
            own = {"HF_HOME": str(folder / "hub"), "LLAMA_CACHE": str(folder / "hub")}
            environment = own | dict(case.environment)
            return Row(
                case,
                doctor.examine(words, environment),
                outcome(server, words, folder, environment),
            )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(one, chosen)


def matrix(rows: Sequence[Row]) -> list[str]:
    """Return the confusion matrix as lines of a Markdown table."""
    count = Counter((row.opinion.verdict, row.outcome.kind) for row in rows)
    lines = [
        "| verdict | " + " | ".join(KINDS) + " |",
        "|---|" + "---:|" * len(KINDS),
    ]
    for verdict in VERDICTS:
        cells = (str(count[verdict, kind] or "") for kind in KINDS)
        lines.append(f"| {verdict.value} | " + " | ".join(cells) + " |")
    return lines


@dataclass(frozen=True)
class Shares:
    """The figures that the suite is held to."""

    false_passes: int
    false_alarms: float
    """Share of those that draft which are called errors, the known ones left aside."""
    known: int
    """Cases in which doctor and server differ, and it is known why."""
    passed: float
    """Share of those that draft which are passed."""
    found: float
    """Share of those that do not draft which are called errors."""

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Shares:
        drafting = [row for row in rows if row.drafts]
        broken = [row for row in rows if not row.drafts]
        return cls(
            sum(row.wrong == "false pass" and not why(row.case.name) for row in rows),
            sum(row.wrong == "false alarm" and not why(row.case.name) for row in rows)
            / max(1, len(drafting)),
            sum(bool(row.wrong and why(row.case.name)) for row in rows),
            sum(row.opinion.verdict in {Verdict.PASS, Verdict.WARN} for row in drafting)
            / max(1, len(drafting)),
            sum(row.opinion.verdict is Verdict.FAIL for row in broken) / max(1, len(broken)),
        )

    @property
    def good(self) -> bool:
        return (
            self.false_passes == 0
            and self.false_alarms <= 0.02
            and self.passed >= 0.9
            and self.found >= 0.9
        )

    def __str__(self) -> str:
        return (
            f"false passes {self.false_passes}; of those that draft, {self.false_alarms:.1%} are "
            f"called errors and {self.passed:.1%} pass; of those that do not, {self.found:.1%} "
            f"are found; known differences: {self.known}"
        )


def disagreements(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        seen = f"{row.outcome.kind} {row.outcome.accepted}/{row.outcome.drafted}"
        if row.wrong:
            said = f"{', '.join(row.opinion.errors)} {row.opinion.says}".strip()
            because = why(row.case.name)
            yield (
                f"{row.wrong}: {row.case.name}: {seen}: {said or row.outcome.says}"
                f"{f' (known: {because})' if because else ''}"
            )


def undecided(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        if row.open:
            yield f"open: {row.case.name}: {row.outcome.kind}: {'; '.join(row.opinion.open)}"


def main(about: str | None = None) -> int:
    asked = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked.add_argument("--only", default="", help="cases whose name holds this")
    asked.add_argument("--server", default="", help="servers whose name holds this")
    asked.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    asked.add_argument("--open", action="store_true", help="list what was left open")
    wanted = asked.parse_args()
    chosen = [case for case in cases.every() if wanted.only in case.name]
    page: list[str] = []
    good = True
    for server in all_servers():
        if wanted.server not in server.name:
            continue
        rows = []
        for row in compare(server, chosen):
            rows.append(row)
            for line in disagreements([row]):
                print(server.name, line, file=sys.stderr, flush=True)
        shares = Shares.of(rows)
        good &= shares.good
        told = [f"## {server.name}", "", *matrix(rows), "", f"{len(rows)} cases: {shares}."]
        wrong = list(disagreements(rows))
        print("\n".join([*told, "", *wrong, *(undecided(rows) if wanted.open else ())]), flush=True)
        page += [*told, "", *(f"* {line}" for line in wrong), *([""] if wrong else [])]
    if wanted.write:
        write(page, chosen)
    return 0 if good else 1


def write(page: Sequence[str], chosen: Sequence[Case]) -> None:
    families = Counter(case.family for case in chosen)
    listed = ", ".join(f"{count} {family}" for family, count in families.items())
    PAGE.write_text("\n".join([*_preface(listed), *page]).rstrip() + "\n", "utf-8")


def _preface(listed: str) -> list[str]:
    return [
        "# Verdicts against real servers",
        "",
        (
            f"{datetime.now(UTC).date()}: `make differential`, Linux x86-64 without a GPU. {listed}; all "
            "generated by `tests/differential` with fixed seeds from a pair, and from a target with its "
            "head inside, whose sound acceptance is 1."
        ),
        "",
        (
            "Rows: the static verdict. Columns: what the server did. *refused* ended by itself, "
            "*crashed* died of a signal, *failing* answered no request, *plain* served without "
            f"drafting, *ruined* accepted less than {RUINED} of its drafts, *drafting* did what was "
            "asked for."
        ),
        "",
        (
            "Wanted: no pass outside of *drafting*; of what drafts, at most 2 % called errors and at "
            "least 90 % passed; of what does not, at least 90 % found."
        ),
        "",
    ]
