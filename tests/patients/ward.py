"""The ward: field reports and sound commands as patients, and whether the doctor judges them right.

A patient is a TOML file in ``fixtures/patients``: what a report says of hardware, software, model
and command, never its diagnosis; what the server printed, where the report shows it; and what a
right verdict is. The tables of facts are those of the checks' pages (``pages.harness``), and

* ``[server]`` may have a ``banner`` or a ``day`` in place of a build: read as the doctor does;
* ``[end]`` is how the server ended: ``log``, ``exit`` or ``signal``, ``request`` (none: at its
  start), ``arm``; ``answered = true`` for a log of a server that served.

``find`` is the right cause, any one of them as the first error, else as the first warning. Behind a
colon stands what the finding speaks of, or the line of the log that explains an end. Each of
``fix`` is part of a fix of that finding: ``download: mtp-gemma-4``. ``never`` must not be found,
``told`` is the cause in the log's terms, where the facts know it better.
``inconclusive`` is part of the reason where nothing can be told, ``untold`` why the cause itself
cannot be named by anyone who has only this, ``wrong`` why a patient is judged wrongly today.

``python tests/patients/ward.py`` judges everybody and writes ``docs/proofs/patients.md``.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePath
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from pages.harness import stated_facts

import mtpdoctor_checks
from mtpdoctor import knowledge
from mtpdoctor.engine import Outcome, Result, examine
from mtpdoctor.facts import (
    Arm,
    Attempt,
    Crash,
    Drafter,
    Facts,
    Launch,
    Server,
    SmokeRun,
    Target,
    Unknown,
)
from mtpdoctor.findings import Finding, Fix, Severity
from mtpdoctor.probes.server import banner, build
from mtpdoctor.render.words import fix_command
from mtpdoctor.smoke.diagnosis import Ending, diagnose

ROOT = Path(__file__).parents[2]
PATIENTS = ROOT / "fixtures" / "patients"
CHECKS = {check.id: check for check in mtpdoctor_checks.CHECKS}
BOOK = knowledge.load()
_LISTS = ("find", "fix", "never", "told")
_TARGET = ("-m", "--model", "-hf", "--hf-repo")
_DRAFTER = ("-md", "--spec-draft-model", "-hfd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """One file of the ward."""

    name: str
    kind: str
    """``report``, ``sound``, or ``case``: told by what llama.cpp itself shows, not by a report."""
    title: str
    source: str
    find: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    inconclusive: str = ""
    wrong: str = ""
    untold: str = ""
    steady: bool = True
    """Whether sizes and quantization must not matter; they do where memory is short."""
    facts: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the doctor said to one patient."""

    by: str
    """``facts``, ``log`` or ``run``: what the first finding rests on; empty for none."""
    causes: tuple[str, ...]
    """The cause of each error, then of each warning: a check, behind a colon what it is about."""
    fixes: tuple[str, ...]
    """Of the first finding."""
    results: tuple[Result, ...]

    @property
    def checks(self) -> tuple[str, ...]:
        return tuple(cause.partition(":")[0] for cause in self.causes)


@cache
def patients() -> tuple[Patient, ...]:
    return tuple(_read(path) for path in sorted(PATIENTS.glob("*.toml")))


def _read(path: Path) -> Patient:
    table = tomllib.loads(path.read_text("utf-8"))
    own = {name: table.pop(name) for name in list(table) if name in Patient.__slots__}
    lists: dict[str, Any] = {name: tuple(own.pop(name, ())) for name in _LISTS}
    kind = next((kind for kind in ("sound", "case") if path.stem.startswith(f"{kind}-")), "report")
    return Patient(name=path.stem, kind=kind, **lists, **own, facts=table)


def stated(patient: Patient) -> dict[str, Any]:
    """Return a copy of what *patient* states, to be changed."""
    return deepcopy(patient.facts)


def admit(table: dict[str, Any]) -> Facts:
    """Return the facts that *table* states; files are called as the command calls them."""
    server = table.get("server", {})
    told = {key: server.pop(key) for key in ("banner", "day") if key in server}
    facts = stated_facts(table)
    found = facts.get(Server)
    if found is not None and told:
        facts = facts.with_(_identified(found, told))
    launch = facts.get(Launch)
    for kind, flags in ((Target, _TARGET), (Drafter, _DRAFTER)):
        model = facts.get(kind)
        if (
            model is not None
            and launch is not None
            and model.named == f"{kind.__name__.lower()}.gguf"
        ):
            facts = facts.with_(_named(model, launch, flags))
    return facts


def _named(model: Any, launch: Launch, flags: tuple[str, ...]) -> Any:
    uses = [use for flag in flags for use in launch.uses(flag)]
    if not uses or uses[-1].value is None:
        return model
    named = uses[-1].value
    path = model.path if isinstance(model.path, Unknown) else named
    return replace(model, named=named, path=path, origin=uses[-1].env or uses[-1].spelled)


def _identified(server: Server, told: dict[str, Any]) -> Server:
    """Add the build of a server that a banner, or the day of its commit, tells."""
    if "day" in told:
        span = build.of_day(told["day"], BOOK)
        return replace(server, build=span, build_how=f"its commit is of {told['day']}")
    said = banner.read(told["banner"])
    folders = () if isinstance(server.path, Unknown) else PurePath(server.path).parent.parts
    fork = build.fork(said, folders, server.flags, BOOK)
    kinds = server.spec_types
    listed = frozenset[str]() if isinstance(kinds, Unknown) else kinds
    known = build.tell(said, fork, listed, BOOK, lambda: None)
    return replace(server, program=fork or server.program, build=known.build, build_how=known.how)


def judge(patient: Patient, facts: Facts | None = None) -> Judgement:
    """Examine as the doctor does: first what can be seen, then what a run shows."""
    seen = admit(stated(patient)) if facts is None else facts
    run = seen.get(SmokeRun) or _run(patient)
    before = _judged("facts", seen.without(SmokeRun, "not run"))
    if before.causes or run is None:
        return before
    return _judged("log" if patient.end else "run", seen.with_(run))


def _run(patient: Patient) -> SmokeRun | None:
    if not patient.end:
        return None
    if patient.end.get("answered"):
        return _served(patient)
    crash = ended(patient)
    outcome = "crashed" if crash.signal or crash.exit_code is not None else "refused"
    arm = patient.end.get("arm", "mtp")
    return SmokeRun(attempts=(Attempt(argv=(), arm=arm, outcome=outcome, crash=crash),))  # type: ignore[arg-type]


def _served(patient: Patient) -> SmokeRun:
    """Return the run of a server that served, whatever its log complains of."""
    said = ended(patient)
    figures = {key: patient.end.get(key, 0) for key in ("predicted", "drafted", "accepted")}
    arm = Arm(ready_seconds=1.0, complaint=said.cause, signature=said.signature, **figures)
    attempts = (Attempt(argv=(), arm="mtp", outcome="answered"),)
    if not arm.drafted:
        return SmokeRun(mtp=arm, attempts=attempts)
    acceptance = arm.accepted / arm.drafted
    return SmokeRun(mtp=arm, acceptance=acceptance, attempts=attempts, proved=True)


def ended(patient: Patient) -> Crash:
    """Return what the log of *patient* says about its end."""
    end, lines = patient.end, patient.end["log"].strip().splitlines()
    request = end.get("request", "")
    code = end.get("exit")
    ending = Ending.of_exit(code) if code is not None else Ending(signal=end.get("signal", ""))
    return diagnose(
        lines,
        ending=ending,
        knowledge=BOOK,
        request=request,
        recent=lines if request else None,
    )


def _judged(by: str, facts: Facts) -> Judgement:
    results = tuple(examine(facts, CHECKS))
    run = facts.get(SmokeRun)
    serious = sorted(_serious(results), key=lambda pair: -pair[1].severity.rank)
    causes = tuple(_cause(result, finding, run) for result, finding in serious)
    fixes = serious[0][1].fixes if serious else ()
    return Judgement(
        by=by if serious else "",
        causes=causes,
        fixes=tuple(_words(fix) for fix in fixes),
        results=results,
    )


def _serious(results: tuple[Result, ...]) -> Iterator[tuple[Result, Finding]]:
    for result in results:
        for finding in result.findings:
            if finding.severity is not Severity.INFO:
                yield result, finding


def _cause(result: Result, finding: Finding, run: SmokeRun | None) -> str:
    crash = run.crash if run is not None else None
    if result.check == "server-failed" and crash is not None:
        return f"{crash.check or result.check}:{crash.signature}"
    if result.check == "draft-not-used" and run is not None and run.mtp is not None:
        return f"{result.check}:{run.mtp.signature}"
    return f"{result.check}:{finding.about}"


def _words(fix: Fix) -> str:
    return f"{fix.kind}: {fix.title} {fix_command(fix)}".strip()


def faults(patient: Patient, said: Judgement) -> list[str]:
    """Return in words what is wrong with what was said to *patient*; nothing if all is right."""
    found: list[str] = []
    crashed = [result.check for result in said.results if result.outcome is Outcome.CRASHED]
    found += [f"{check} crashed" for check in crashed]
    found += [f"{check} was found" for check in patient.never if check in said.checks]
    if not patient.find:
        found += [f"{cause} was found" for cause in said.causes]
        reasons = "; ".join(
            result.reason for result in said.results if result.outcome is Outcome.UNKNOWN
        )
        if patient.inconclusive not in reasons:
            found.append(
                f"no reason speaks of {patient.inconclusive!r}: {reasons or 'none at all'}"
            )
        return found
    first = said.causes[0] if said.causes else ""
    if not any(wanted in {first, first.partition(":")[0]} for wanted in patient.find):
        found.append(f"{first or 'nothing'} in place of {' or '.join(patient.find)}")
        return found
    all_fixes = "\n".join(said.fixes).lower()
    found += [
        f"no fix is {wanted!r}, of {list(said.fixes)}"
        for wanted in patient.fix
        if not _is_among(wanted.lower(), all_fixes)
    ]
    return found


def _is_among(wanted: str, fixes: str) -> bool:
    """Whether a line of *fixes* has the kind before the colon, and all words behind it."""
    kind, _, words = wanted.partition(":")
    return any(
        line.startswith(kind) and all(word in line for word in words.split())
        for line in fixes.splitlines()
    )


if __name__ == "__main__":
    from patients.round import main

    main()
