"""The round: everybody is judged, a table says who rightly."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

from patients.perturb import perturbed
from patients.ward import BOOK, ROOT, Patient, faults, judge, patients

PROOF = ROOT / "docs" / "proofs" / "patients.md"
TIMES = 5
"""How often each patient is told otherwise."""
SEED = 20261201


def judged() -> Iterator[tuple[Patient, str, str, list[str]]]:
    """Yield each patient, what the verdict rests on, the first cause, and what is wrong with it."""
    for patient in patients():
        said = judge(patient)
        wrong = faults(patient, said)
        random = Random(f"{SEED} {patient.name}")
        for _ in range(TIMES):
            again = judge(patient, perturbed(patient, random))
            if sorted(again.checks) != sorted(said.checks):
                wrong.append(f"told otherwise: {', '.join(again.checks) or 'nothing'}")
        yield patient, said.by, said.causes[0] if said.causes else "", list(dict.fromkeys(wrong))


def main() -> None:
    rows = list(judged())
    for patient, by, cause, wrong in rows:
        mark = "✗" if wrong else "✓"
        print(
            f"{mark} {patient.name:<44} {by or '-':<6} {cause or patient.inconclusive or 'nothing found'}"
        )
        for line in wrong:
            print(f"    {line}")
    text = _proof(rows)
    PROOF.write_text(text, "utf-8")
    print(text.split("\n\n")[2])


def _proof(rows: list[tuple[Patient, str, str, list[str]]]) -> str:
    reports = [row for row in rows if row[0].kind == "report"]
    sound = [row for row in rows if row[0].kind == "sound"]
    right = sum(not wrong for *_, wrong in reports)
    fine = sum(not wrong for *_, wrong in sound)
    untold = sum(bool(patient.untold) and not wrong for patient, *_, wrong in reports)
    python = platform.python_version()
    how = (
        f"{datetime.now(tz=UTC):%Y-%m-%d}: `make patients`, Python {python}, knowledge of "
        f"{BOOK.revision} (to {BOOK.horizon}). Each patient is judged as reported and {TIMES} times "
        "with other names, spellings, order of flags and quantization."
    )
    sums = (
        f"Reports judged right, cause and fix: {right} of {len(reports)} "
        f"({right / max(1, len(reports)):.0%}); of these {untold} are told only that the cause cannot "
        f"be named, and why. Sound commands without a finding: {fine} of {len(sound)}."
    )
    table = "| patient | what is told | rests on | verdict | right |\n|---|---|---|---|---|\n"
    table += "\n".join(_row(*row) for row in rows)
    return f"# Patients\n\n{how}\n\n{sums}\n\n{table}" + "\n"


def _row(patient: Patient, by: str, cause: str, wrong: list[str]) -> str:
    said = cause or (f"cannot tell: {patient.inconclusive}" if patient.inconclusive else "nothing")
    right = "; ".join(wrong) or (f"cannot be named: {patient.untold}" if patient.untold else "yes")
    cells = (
        f"[{patient.name}]({patient.source})",
        patient.title,
        by or "facts",
        f"`{said}`",
        right,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
