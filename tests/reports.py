"""Reports of every shape, for the tests of what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from mtpdoctor import launch
from mtpdoctor.builds import Build, Span
from mtpdoctor.checks import Check, check
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.errors import ExitCode
from mtpdoctor.facts import (
    Architectures,
    Arm,
    Attempt,
    CommitDate,
    Crash,
    Device,
    Drafter,
    Facts,
    Gpu,
    GpuCode,
    Gpus,
    Host,
    HubRepo,
    Launch,
    Parity,
    Server,
    SmokeRun,
    StartFailure,
    Target,
    Trouble,
    Unknown,
)
from mtpdoctor.findings import (
    Advice,
    Download,
    DropFlag,
    Evidence,
    Finding,
    Rebuild,
    SetFlag,
    Severity,
    Upgrade,
)
from mtpdoctor.gguf import Header
from mtpdoctor.registry import BrokenPlugin
from mtpdoctor.report import Report, Verdict

HOSTILE = "\x1b]0;owned\x07 [red]x[/] \u202e ::error::%0A </td> `rm -rf`"


@check("one-thing", "one thing is wrong")
def one_thing(host: Host) -> Iterator[Finding]:
    yield from ()


@check("a-remark", "worth knowing", severity=Severity.INFO)
def a_remark(host: Host) -> Iterator[Finding]:
    yield from ()


CHECKS: dict[str, Check[Any]] = {one_thing.id: one_thing, a_remark.id: a_remark}


def command(*words: str) -> Launch:
    return launch.parse(launch.split(("llama-server", "-m", "t.gguf", *words)), launch.shipped())


def report(**changes: Any) -> Report:
    values: dict[str, Any] = {
        "started_at": datetime(2026, 12, 1, 12, 0, tzinfo=UTC),
        "seconds": 0.25,
        "revision": "2026-12-01",
        "horizon": Build(11549),
        "scope": "static",
        "verdict": Verdict.PASS,
        "exit_code": ExitCode.OK,
        "facts": Facts(),
        "checks": CHECKS,
        "results": (Result(check="one-thing", outcome=Outcome.PASSED),),
    }
    return Report(**values | changes)


def found(finding: Finding) -> Result:
    return Result(check="one-thing", outcome=Outcome.FOUND, findings=(finding,))


FIXES = (
    SetFlag("--spec-draft-n-max", "4", replaces="--draft-max"),
    SetFlag("-fa"),
    DropFlag("-ctv"),
    Upgrade("b9847"),
    Rebuild(("-DGGML_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=89")),
    Download("unsloth/gemma-4-E4B-it-GGUF", "mtp-gemma-4-E4B-it.gguf"),
    Advice("close other programs"),
    Advice("look at it", "nvidia-smi"),
)

FULL = Facts(
    Server(
        path="/opt/llama-server",
        binary="/opt/llama-server",
        failure=None,
        program="llama.cpp",
        banner="version: 9600 (abcdef0)",
        build=Span.parse("b9600..b9700"),
        build_how="between two known builds",
        commit="abcdef0",
        version=Unknown("older builds have none"),
        commit_date=CommitDate(
            earliest=date(2026, 6, 9), latest=date(2026, 6, 12), how="from builds.tsv"
        ),
        flags=launch.shipped(),
        devices=(Device(name="CUDA0", description="RTX 4090", total_mib=24000, free_mib=23000),),
        backends=frozenset({"cuda"}),
        architectures=Architectures(names=frozenset({"gemma4"}), absent=frozenset({"qwen35"})),
        gpu_code=GpuCode(sass=frozenset({89}), ptx=frozenset({90})),
        cpu_features=frozenset({"AVX2"}),
    ),
    Target(
        named="t.gguf",
        origin="-m",
        path="/m/t.gguf",
        header=Header.of(metadata={"general.architecture": "gemma4"}, tensors={"a": (32, 2)}),
    ),
    Drafter(
        named="d.gguf",
        origin="-md",
        path="/m/d.gguf",
        trouble=Trouble(cause="truncated", says="d.gguf ends early", offset=17),
    ),
    Gpus(
        state="present",
        says="one GPU",
        driver="580.65",
        cuda="13.0",
        gpus=(Gpu(index=0, name="RTX 4090", capability=89, total_bytes=1, free_bytes=1),),
    ),
    Host(
        system="Linux",
        machine="x86_64",
        cpu="EPYC",
        cpus=2,
        cpu_features=frozenset({"avx2"}),
        total_bytes=2,
        available_bytes=1,
        container=None,
    ),
    HubRepo(repo="org/name", revision="abc", files=("t.gguf",)),
)

CRASH = Crash(signal="SIGABRT", exit_code=None, cause="an assertion", log_tail=("GGML_ASSERT",))
RUN = SmokeRun(
    plain=Arm(
        ready_seconds=0.5, tokens_per_second=150.0, prompt_tokens_per_second=900.0, predicted=128
    ),
    mtp=Arm(ready_seconds=0.6, tokens_per_second=214.0, predicted=128, drafted=100, accepted=66),
    acceptance=0.66,
    mean_accepted_length=3.6,
    speedup=1.43,
    parity=Parity(equal=True),
    attempts=(
        Attempt(argv=("llama-server",), arm="mtp", outcome="crashed", crash=CRASH),
        Attempt(argv=("llama-server",), arm="mtp", outcome="answered", corrected=True),
    ),
    proved=True,
)


@cache
def every_report() -> dict[str, Report]:
    """Return a report of each shape by name."""
    finding = Finding(
        says="the drafter is for another target\nget the one for this",
        about="d.gguf",
        evidence=(Evidence("embedding_length_out = 1536", "https://example.invalid/1"),),
        fixes=FIXES,
    )
    hostile = Finding(says=HOSTILE, about=HOSTILE, evidence=(Evidence(HOSTILE),))
    return {
        "bare": report(),
        "full": report(facts=FULL, launch=command("--spec-type", "draft-mtp")),
        "found": report(
            facts=FULL,
            results=(found(finding),),
            verdict=Verdict.FAIL,
            exit_code=ExitCode.FOUND,
            launch=command("--draft-max", "4"),
            corrected=command("--spec-draft-n-max", "4"),
        ),
        "smoke": report(
            facts=FULL.with_(RUN), smoke=RUN, scope="smoke", proved=True, launch=command()
        ),
        "crashed": report(
            scope="smoke",
            smoke=SmokeRun(attempts=RUN.attempts[:1]),
            results=(Result(check="a-remark", outcome=Outcome.CRASHED, reason="KeyError: 1"),),
            verdict=Verdict.INCONCLUSIVE,
            exit_code=ExitCode.INCONCLUSIVE,
            broken=(BrokenPlugin("acme", "ImportError: no"),),
            ignored={"vocab-mismatch": "known"},
            launch=command(),
        ),
        "not-started": report(
            facts=Facts(Server(failure=StartFailure(kind="signal", says="died", signal="SIGILL"))),
            smoke_skipped="not run, because one-thing stands",
        ),
        "hostile": report(
            facts=Facts(
                Server(named=HOSTILE, banner=HOSTILE),
                Target(named=HOSTILE, trouble=Trouble(cause=HOSTILE, says=HOSTILE)),
                Host(system=HOSTILE),
            ),
            results=(
                found(hostile),
                Result(check="a-remark", outcome=Outcome.UNKNOWN, reason=HOSTILE),
            ),
            launch=command("--alias", HOSTILE),
            corrected=command("--alias", HOSTILE, "-fa", "off"),
            smoke=SmokeRun(
                attempts=(
                    Attempt(
                        argv=(HOSTILE,),
                        arm="mtp",
                        outcome="crashed",
                        crash=Crash(cause=HOSTILE, log_tail=(HOSTILE,)),
                    ),
                )
            ),
            broken=(BrokenPlugin(HOSTILE, HOSTILE),),
        ),
        "secrets": report(
            launch=command("--api-key", "s3cret", "--hf-token", "hf_abcdefghijklmnopqrstuvwxyz"),
            corrected=command("--api-key", "s3cret", "-fa", "on"),
            smoke=SmokeRun(
                attempts=(
                    Attempt(argv=("s", "--api-key", "s3cret"), arm="plain", outcome="answered"),
                )
            ),
        ),
    }
