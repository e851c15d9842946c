"""Whether the processor has the instructions that llama-server was compiled for."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Drafter,
    Evidence,
    Finding,
    Fix,
    Host,
    Launch,
    Model,
    NotApplicable,
    Rebuild,
    Server,
    Severity,
    SmokeRun,
    Target,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor.launch import cache_type, flash_attention
from mtpdoctor_checks.pair import name, program
from mtpdoctor_checks.speculation import quantized

NAMES: dict[str, tuple[str, ...]] = {
    "SSE3": ("pni", "sse3"),
    "SSSE3": ("ssse3",),
    "AVX": ("avx",),
    "AVX2": ("avx2",),
    "F16C": ("f16c",),
    "FMA": ("fma",),
    "BMI2": ("bmi2",),
    "AVX_VNNI": ("avx_vnni",),
    "AVX512": ("avx512f",),
    "AVX512_VBMI": ("avx512vbmi", "avx512_vbmi"),
    "AVX512_VNNI": ("avx512_vnni",),
    "AVX512_BF16": ("avx512_bf16",),
    "NEON": ("asimd", "neon"),
    "DOTPROD": ("asimddp",),
    "MATMUL_INT8": ("i8mm",),
    "SVE": ("sve",),
    "SME": ("sme",),
}
"""Instruction sets in the words of ``system_info``, and in those of ``/proc/cpuinfo``.

AMX_INT8 is not among them: llama.cpp asks the system for AMX when it starts, and does without.
"""

_QUANTIZED_ONLY = frozenset({"AVX_VNNI", "AVX512_VNNI", "DOTPROD", "MATMUL_INT8"})
"""Whole-number instructions, which only the code for quantized numbers uses."""

_RARE = frozenset({"AVX512_VBMI", "AVX512_BF16"})
"""Instructions of which nobody knows what uses them, until it is run."""

_FLOAT = frozenset({"F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64"})


@check(
    "cpu-features-missing",
    "llama-server was compiled for another processor",
    after=["server-not-found"],
)
def cpu_features_missing(  # noqa: PLR0917  its facts
    server: Server,
    host: Host | None,
    launch: Launch | None,
    target: Target | None,
    drafter: Drafter | None,
    run: SmokeRun | None,
) -> Iterator[Finding]:
    crash = run.crash if run is not None else None
    if crash is not None and crash.signal == "SIGILL":
        during = f"during {crash.request}" if crash.request else "while it started"
        yield _illegal(server, host, f"the smoke run: {program(server)} died of SIGILL {during}")
        return
    failure = server.failure
    if failure is not None and not isinstance(failure, Unknown) and failure.signal == "SIGILL":
        yield _illegal(server, host, f"{program(server)} --version died of SIGILL")
        return
    if host is None:
        raise NotApplicable("no processor was examined")
    needs = known(server.cpu_features)
    missing = _missing(needs, known(host.cpu_features))
    if run is not None and run.proved:
        return  # it computed with all that the command asks for
    rare, missing = missing & _RARE, missing - _RARE
    if not missing:
        if rare:
            lacking = ", ".join(sorted(rare))
            raise Undetermined(f"only a run shows whether it does without {lacking}")
        return
    uses = _quantized(launch, target, drafter)
    spared = missing <= _QUANTIZED_ONLY and not uses
    if spared:
        for model in (target, drafter):
            if model is not None:
                known(model.header)
    yield _compiled_for(server, host, missing, uses, spared=spared)


def _missing(compiled: frozenset[str], there: frozenset[str]) -> frozenset[str]:
    """Return the instruction sets that were *compiled* in and are not *there*.

    Words that name no instruction set of ours (``LLAMAFILE``, ``OPENMP``) are left aside.
    """
    return frozenset(word for word in compiled if word in NAMES and there.isdisjoint(NAMES[word]))


def _quantized(
    launch: Launch | None, target: Target | None, drafter: Drafter | None
) -> tuple[str, ...]:
    """Return what in the command is quantized: a model, or the KV cache."""
    found = [name(model) for model in (target, drafter) if model is not None and _is(model)]
    if launch is not None and (
        quantized(cache_type(launch, "k"))
        # a quantized V cache without flash attention is refused before anything is computed
        or (quantized(cache_type(launch, "v")) and flash_attention(launch) != "off")
    ):
        found.append("the KV cache")
    return tuple(found)


def _is(model: Model) -> bool:
    if isinstance(model.header, Unknown):
        return False
    return any(tensor.type_name not in _FLOAT for tensor in model.header.tensors.values())


def _compiled_for(
    server: Server, host: Host, missing: frozenset[str], uses: tuple[str, ...], *, spared: bool
) -> Finding:
    words = ", ".join(sorted(missing))
    if spared:
        effect = "A quantized model would end it with SIGILL; this command has none."
    elif missing <= _QUANTIZED_ONLY:
        effect = f"It dies of SIGILL as soon as it computes with {' and '.join(uses)}."
    else:
        effect = "It dies of SIGILL as soon as it computes."
    return Finding(
        says=f"{program(server)} was compiled for {words}, which this processor lacks\n{effect}",
        severity=Severity.INFO if spared else Severity.ERROR,
        about=server.named,
        evidence=(Evidence(f"{program(server)} was compiled for: {words}"), *_processor(host)),
        fixes=_fixes(),
    )


def _illegal(server: Server, host: Host | None, seen: str) -> Finding:
    return Finding(
        says=(
            f"{program(server)} died of SIGILL: it uses instructions that this processor lacks\n"
            "Take a llama.cpp that was built for this processor."
        ),
        about=server.named,
        evidence=(Evidence(seen), *(_processor(host) if host is not None else ())),
        fixes=_fixes(),
    )


def _processor(host: Host) -> tuple[Evidence, ...]:
    return () if isinstance(host.cpu, Unknown) else (Evidence(f"processor: {host.cpu}"),)


def _fixes() -> tuple[Fix, ...]:
    return (
        Rebuild(("-DGGML_NATIVE=ON",), why="for this very processor"),
        Advice("or take one of llama.cpp's own releases, which choose the code that fits"),
    )
