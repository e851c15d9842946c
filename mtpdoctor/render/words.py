"""Facts, findings and numbers in words that every front end uses."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import launch as commands
from mtpdoctor.engine import Outcome
from mtpdoctor.facts import (
    CommitDate,
    Drafter,
    Facts,
    Gpus,
    Host,
    Model,
    Server,
    SmokeRun,
    Target,
    Unknown,
)
from mtpdoctor.findings import Advice, Download, Fix, Rebuild, Severity
from mtpdoctor.gguf import Header
from mtpdoctor.launch import mask_text, redact
from mtpdoctor.report import Report, Verdict
from mtpdoctor.visible import visible

_GIB = 1 << 30


def facts(known: Facts) -> Iterator[tuple[str, str]]:
    """Yield what is to be examined, a name and a line each."""
    server, target, drafter = known.get(Server), known.get(Target), known.get(Drafter)
    if server is not None:
        yield "server", _shown(_server(server))
    if target is not None:
        yield "target", _shown(_model(target))
    if drafter is not None:
        yield "drafter", _shown(_model(drafter))
    gpus, host = known.get(Gpus), known.get(Host)
    if gpus is not None:
        yield "gpu", visible(_gpus(gpus))
    if host is not None:
        yield "host", visible(_host(host))


def _shown(text: str) -> str:
    """Return *text* as people may paste it: no credentials, no name of a home folder."""
    return redact(mask_text(visible(text)))


def _server(server: Server) -> str:
    where = server.named if isinstance(server.path, Unknown) else server.path
    known = [where]
    if not isinstance(server.build, Unknown):
        known.append(f"{server.build} ({server.build_how})" if server.build_how else "")
    elif not isinstance(server.banner, Unknown):
        known.append(server.banner.splitlines()[0] if server.banner else "")
    if not isinstance(server.commit_date, Unknown):
        known.append(commit_day(server.commit_date))
    return ", ".join(part for part in known if part)


def commit_day(day: CommitDate) -> str:
    """Return a commit date in words: a day, or the two that it lies between."""
    if day.earliest == day.latest:
        return f"of {day.earliest}"
    return f"of {day.earliest} to {day.latest}"


def _model(model: Model) -> str:
    name = model.named or "(none)"
    if model.trouble is not None:
        return f"{name}: {model.trouble.cause}"
    if isinstance(model.header, Unknown):
        return f"{name}: {model.header.reason}"
    return f"{name}: {header_line(model.header)}"


def header_line(header: Header) -> str:
    """Return architecture, size and tensor types of a model in one line."""
    types: dict[str, int] = {}
    for tensor in header.tensors.values():
        if len(tensor.shape) > 1:
            types[tensor.type_name] = types.get(tensor.type_name, 0) + 1
    shape = [header.arch or "no architecture"]
    if isinstance(width := header.get("embedding_length"), int):
        shape.append(f"{width} wide")
    if isinstance(blocks := header.get("block_count"), int):
        shape.append(f"{blocks} blocks")
    if types:
        shape.append(max(types, key=lambda name: types[name]))
    return ", ".join(shape)


def _gpus(gpus: Gpus) -> str:
    if not gpus.gpus:
        return gpus.says or gpus.state
    names = []
    for gpu in gpus.gpus:
        name = "unknown GPU" if isinstance(gpu.name, Unknown) else gpu.name
        if not isinstance(gpu.capability, Unknown):
            name += f" (compute capability {gpu.capability // 10}.{gpu.capability % 10})"
        names.append(name)
    return ", ".join(names)


def _host(host: Host) -> str:
    parts = [f"{host.system} {host.machine}".strip()]
    if not isinstance(host.cpus, Unknown):
        parts.append(f"{host.cpus} CPUs")
    if not isinstance(host.available_bytes, Unknown) and not isinstance(host.total_bytes, Unknown):
        free, total = host.available_bytes / _GIB, host.total_bytes / _GIB
        parts.append(f"{free:.1f} of {total:.1f} GiB free")
    if isinstance(host.container, str):
        parts.append(f"in {host.container}")
    return ", ".join(parts)


def fix_command(fix: Fix) -> str:
    """Return the line to copy for a fix that has one."""
    match fix:
        case Download():
            return commands.shell(fix.argv)
        case Rebuild():
            return fix.command
        case Advice():
            return fix.command
        case _:
            return ""


def smoke(run: SmokeRun) -> Iterator[tuple[str, str]]:
    """Yield what a smoke run measured, a name and a line each."""
    if run.plain is not None and not isinstance(run.plain.tokens_per_second, Unknown):
        yield "plain", f"{run.plain.tokens_per_second:.1f} tok/s"
    if run.mtp is not None and not isinstance(run.mtp.tokens_per_second, Unknown):
        yield "mtp", f"{run.mtp.tokens_per_second:.1f} tok/s"
    if not isinstance(run.acceptance, Unknown):
        drafted = f" of {run.mtp.drafted} drafted tokens" if run.mtp is not None else ""
        yield "acceptance", f"{run.acceptance:.2f}{drafted}"
    if not isinstance(run.mean_accepted_length, Unknown):
        yield "mean length", f"{run.mean_accepted_length:.2f} tokens a pass of the target"
    if not isinstance(run.speedup, Unknown):
        yield "speed-up", f"{run.speedup:.2f} times"
    if not isinstance(run.parity, Unknown):
        equal = "equal tokens in both arms"
        yield "parity", equal if run.parity.equal else _difference(run.parity.first_difference)
    if omissions := "; ".join(_omissions(run)):
        yield "left out", omissions


def _omissions(run: SmokeRun) -> Iterator[str]:
    arms = [arm for arm in (run.plain, run.mtp) if arm is not None]
    left_out = dict.fromkeys(name for arm in arms for name in arm.left_out)
    short = dict.fromkeys(name for arm in arms for name in arm.short)
    if left_out:
        yield f"{', '.join(left_out)} (too few slots, or too small a context)"
    if short:
        yield f"{', '.join(short)} ended early"


def _difference(index: int | None) -> str:
    return "the arms differ" + ("" if index is None else f" from token {index} on")


def verdict(report: Report) -> str:
    """Return the verdict's reason in one line, without the word itself."""
    errors = [f.severity for f in report.findings].count(Severity.ERROR)
    warnings = [f.severity for f in report.findings].count(Severity.WARNING)
    open_ = [r.check for r in report.results if r.outcome in {Outcome.UNKNOWN, Outcome.CRASHED}]
    parts = []
    if errors:
        parts.append(_count(errors, "error"))
    if warnings:
        parts.append(_count(warnings, "warning"))
    if report.verdict is Verdict.INCONCLUSIVE and open_:
        parts.append(f"{_count(len(open_), 'check')} could not tell: {_some(open_)}")
    if report.broken:
        parts.append(f"{_count(len(report.broken), 'plugin')} did not load")
    if not parts:
        passed = report.count(Outcome.PASSED)
        every = "the one check that applies" if passed == 1 else f"all {passed} checks that apply"
        parts.append(f"{every} passed" if passed else "no check applies")
    if report.smoke is not None and report.proved:
        parts.append(_proof(report, report.smoke))
    elif report.smoke is not None:
        cancelled = any(attempt.outcome == "cancelled" for attempt in report.smoke.attempts)
        said = "cancelled" if cancelled else "the command was not proved"
        parts.append(f"smoke run: {said}")
    else:
        parts.append(f"smoke run: {report.smoke_skipped or 'not run'}")
    return "; ".join(parts)


def _proof(report: Report, run: SmokeRun) -> str:
    said = "the corrected command is proved" if report.corrected else "the command is proved"
    if not isinstance(run.acceptance, Unknown):
        said += f", acceptance {run.acceptance:.2f}"
    if not isinstance(run.speedup, Unknown):
        said += f", speed-up {run.speedup:.2f}"
    return said


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _some(ids: list[str], most: int = 3) -> str:
    shown = ", ".join(ids[:most])
    return shown if len(ids) <= most else f"{shown} and {len(ids) - most} more"
