"""The report as JSON, version 1: a contract, written field by field apart from the types.

``report-1.schema.json`` beside this file is its schema. Fields are only ever added within version
1. What is not known is ``{"unknown": reason}``; secrets in commands are masked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtpdoctor import launch as commands
from mtpdoctor.engine import Result
from mtpdoctor.facts import Arm, Attempt, Crash, Launch, Parity, SmokeRun
from mtpdoctor.findings import (
    Advice,
    Download,
    DropFlag,
    Finding,
    Fix,
    Rebuild,
    SetFlag,
    Upgrade,
)
from mtpdoctor.render import facts_v1
from mtpdoctor.render.facts_v1 import known_or_why
from mtpdoctor.report import Report
from mtpdoctor.version import VERSION

SCHEMA_ID = "mtpdoctor/report/1"


def dumps(report: Report) -> str:
    """Return the report as one JSON document; control characters and non-ASCII are escaped."""
    return json.dumps(document(report), indent=2, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON Schema that every report of version 1 fits."""
    text = Path(__file__).with_name("report-1.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def document(report: Report) -> dict[str, Any]:
    return {
        "schema": SCHEMA_ID,
        "tool": {
            "name": "mtpdoctor",
            "version": VERSION,
            "knowledge": {"revision": report.revision, "horizon": str(report.horizon)},
        },
        "started_at": report.started_at.isoformat(timespec="seconds"),
        "seconds": round(report.seconds, 3),
        "scope": report.scope,
        "verdict": report.verdict.value,
        "exit_code": int(report.exit_code),
        "command": _command(report),
        "facts": facts_v1.document(report.facts),
        "results": [_result(report, result) for result in report.results],
        "ignored": [{"check": id, "reason": why} for id, why in report.ignored.items()],
        "plugins": {
            "broken": [{"plugin": b.plugin, "reason": b.reason} for b in report.broken],
        },
        "smoke": _smoke(report.smoke),
        "smoke_skipped": report.smoke_skipped or None,
    }


def _command(report: Report) -> dict[str, Any]:
    given, corrected = report.launch, report.corrected
    return {
        "given": _argv(given),
        "environment": _environment(given),
        "corrected": _argv(corrected),
        "corrected_environment": _environment(corrected) if corrected else None,
        "corrected_shell": commands.shown(corrected) if corrected else None,
        "proved": report.proved,
    }


def _argv(launch: Launch | None) -> list[str] | None:
    return None if launch is None else list(commands.masked(launch.words))


def _environment(launch: Launch | None) -> dict[str, str]:
    if launch is None:
        return {}
    return dict(commands.masked_environment(launch.environment))


def _result(report: Report, result: Result) -> dict[str, Any]:
    return {
        "check": result.check,
        "title": report.checks[result.check].title,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "seconds": round(result.seconds, 6),
        "findings": [_finding(finding) for finding in result.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "severity": finding.severity.value,
        "message": finding.says,
        "about": finding.about,
        "evidence": [{"says": e.says, "url": e.url or None} for e in finding.evidence],
        "fixes": [_fix(fix) for fix in finding.fixes],
    }


def _fix(fix: Fix) -> dict[str, Any]:
    common = {"kind": fix.kind, "title": fix.title, "safe": fix.safe}
    match fix:
        case SetFlag():
            argv = [fix.flag] if fix.value is None else [fix.flag, fix.value]
            return common | {"argv": argv, "replaces": fix.replaces or None}
        case DropFlag():
            return common | {"argv": [fix.flag]}
        case Rebuild():
            return common | {"command": fix.command}
        case Download():
            return common | {"command": commands.shell(fix.argv)}
        case Advice() if fix.command:
            return common | {"command": fix.command}
        case Upgrade() | Advice():
            return common


def _smoke(run: SmokeRun | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "plain": _arm(run.plain),
        "mtp": _arm(run.mtp),
        "acceptance": known_or_why(run.acceptance, _ratio),
        "mean_accepted_length": known_or_why(run.mean_accepted_length, _ratio),
        "speedup": known_or_why(run.speedup, _ratio),
        "parity": known_or_why(run.parity, _parity),
        "attempts": [_attempt(attempt) for attempt in run.attempts],
    }


def _arm(arm: Arm | None) -> dict[str, Any] | None:
    if arm is None:
        return None
    return {
        "ready_seconds": round(arm.ready_seconds, 3),
        "tokens_per_second": known_or_why(arm.tokens_per_second, _ratio),
        "prompt_tokens_per_second": known_or_why(arm.prompt_tokens_per_second, _ratio),
        "predicted": arm.predicted,
        "drafted": arm.drafted,
        "accepted": arm.accepted,
        "requests": list(arm.requests),
        "short": list(arm.short),
        "left_out": list(arm.left_out),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "argv": list(commands.masked(attempt.argv)),
        "arm": attempt.arm,
        "corrected": attempt.corrected,
        "outcome": attempt.outcome,
        "request": attempt.request or None,
        "crash": None if attempt.crash is None else _crash(attempt.crash),
    }


def _crash(crash: Crash) -> dict[str, Any]:
    return {
        "signal": crash.signal or None,
        "exit_code": crash.exit_code,
        "cause": crash.cause or None,
        "signature": crash.signature or None,
        "log_tail": list(crash.log_tail),
    }


def _parity(parity: Parity) -> Mapping[str, Any]:
    return {"equal": parity.equal, "first_difference": parity.first_difference}


def _ratio(value: float) -> float:
    return round(value, 4)
