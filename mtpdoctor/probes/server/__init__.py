"""What a llama-server is and can do, learnt by asking it and by reading its own files.

Capability is measured, not inferred from a version: the help lists the flags, libllama holds the
names of architectures, libggml-cuda says what it was compiled for. It is run for nothing but
``--version``, ``--help``, ``--list-devices`` and its ``system_info`` line; no model is loaded.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from threading import Event

from mtpdoctor.builds import Span
from mtpdoctor.facts import (
    Architectures,
    Device,
    FlagTable,
    GpuCode,
    Server,
    StartFailure,
    Unknown,
)
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.launch import table
from mtpdoctor.probes.server import (
    abilities,
    architectures,
    banner,
    binary,
    build,
    checkout,
    devices,
    fatbin,
    literals,
    startup,
)
from mtpdoctor.probes.server.ask import Answer, ask, plain, surroundings
from mtpdoctor.probes.server.binary import Program
from mtpdoctor.probes.server.find import find
from mtpdoctor.probes.server.later import Later

_INFO = re.compile(rb"system_info:[^\n]*\n")
_NO_FILE = os.path.join(os.devnull, "none.gguf")  # noqa: PTH118  nothing can lie below it
_INFO_WORDS = ("-lv", "4", "-m", _NO_FILE, "--host", "127.0.0.1", "--port", "0")
_INFO_FLAGS = ("-lv", "-m", "--host", "--port")
_ENDING = 1.0
"""Seconds that it may take to end what did not answer within the deadline."""
_TRIES = 3
"""A server that ends at once may lose its log: 1 of 150 runs of b10434 printed nothing."""
_FEWEST_FLAGS = 10
"""Fewer are no help of a llama-server."""

_Read = tuple[Architectures | Unknown, GpuCode | Unknown, frozenset[str]]
"""What the files of a program say: architectures, GPU code, backends linked into it."""


def probe(
    named: str,
    *,
    environment: Mapping[str, str],
    knowledge: Knowledge,
    deadline: float = 10.0,
) -> Server:
    """Examine the program that a command names, in the *environment* it is to run in.

    Nothing is raised: what cannot be told is an Unknown that says why. Everything together takes
    little more than *deadline* seconds; a server without a GPU answers in a tenth of one.
    """
    path = find(named, environment)
    if isinstance(path, Unknown):
        return _nothing_known(named, path)
    until = time.monotonic() + deadline + _ENDING
    late = Answer(stopped="deadline", seconds=deadline)
    words = (path, "serve") if PurePath(path).stem == "llama" else (path,)
    clean = surroundings(environment)
    watched: list[Program] = []
    looked = Event()

    def look(pid: int) -> None:
        program = binary.watch(pid, path)
        if program is not None:
            watched.append(program)
        looked.set()

    def asked_help() -> FlagTable | Unknown:
        try:
            helped = ask([*words, "--help"], clean, deadline, when_writing=look)
        finally:
            looked.set()
        return _flags(helped, path)

    helping = Later(asked_help)
    versioning = Later(lambda: ask([*words, "--version"], clean, deadline))
    listing = Later(lambda: ask([*words, "--list-devices"], clean, deadline))
    looked.wait(deadline)
    program = watched[0] if watched else binary.at_rest(path)
    if isinstance(program, Program):
        program = binary.complete(program)
    no_help = _flags(late, path)
    reading = Later(lambda: _read(program, knowledge))
    printing = Later(
        lambda: _cpu_features(program, helping.get(until, no_help), words[1:], clean, until)
    )

    version = versioning.get(until, late)
    flags = helping.get(until, no_help)
    said = banner.read(version.text)
    failure = _failure(version, said, flags, path)
    slow = Unknown("reading its files took too long")
    names, code, inside = reading.get(until, (slow, slow, frozenset[str]()))
    server = Server(
        named=named,
        path=path,
        binary=program if isinstance(program, Unknown) else program.executable,
        failure=failure,
        flags=flags,
        devices=devices.told(listing.get(until, late)),
        architectures=names,
        gpu_code=code,
        cpu_features=printing.get(until, Unknown("it did not print its system_info line in time")),
    )
    server = replace(server, backends=_backends(server.devices, program, inside))
    if failure is not None:
        return _never_started(server, Unknown(f"it does not start: {failure.says}"))
    return _identified(server, said, program, knowledge, clean)


def _identified(
    server: Server,
    said: banner.Banner,
    program: Program | Unknown,
    knowledge: Knowledge,
    environment: Mapping[str, str],
) -> Server:
    """Add which program and which build it is."""
    executable = "" if isinstance(program, Unknown) else program.executable
    folders = PurePath(executable).parent.parts
    fork = build.fork(said, folders, server.flags, knowledge)
    kinds = server.spec_types
    told = build.tell(
        said,
        fork,
        frozenset() if isinstance(kinds, Unknown) else kinds,
        knowledge,
        lambda: checkout.beside(executable, said.commit, environment),
    )
    if isinstance(told.build, Unknown) and not fork and said.number in {0, 1}:
        span = abilities.between(server.architectures, kinds, knowledge)
        if isinstance(span, Span):
            how = f"what it has and has not; {told.build.reason}"
            told = build.Told(build=span, how=how, day=build.days(span, knowledge))
    no_line = Unknown("it printed no version line")
    name: str | Unknown = fork or "llama.cpp"
    if not fork and said.number is None:
        name = no_line
    elif not fork and isinstance(told.build, Unknown) and said.number not in {0, 1}:
        name = Unknown(f"llama.cpp, or a fork of it: {told.build.reason}")
    return replace(
        server,
        banner="\n".join(said.lines) if said.lines else no_line,
        program=name,
        build=told.build,
        build_how=told.how,
        commit=said.commit or Unknown("it does not print its commit"),
        version=said.version or Unknown("it does not print a semantic version"),
        commit_date=told.day,
    )


def _read(program: Program | Unknown, knowledge: Knowledge) -> _Read:
    if isinstance(program, Unknown):
        return program, program, frozenset()
    archs = (arch for feature in knowledge.features for arch in feature.archs)
    names = architectures.scan(program.holder("llama"), archs)
    code: GpuCode | Unknown = Unknown("it has no CUDA library (libggml-cuda)")
    inside = frozenset[str]()
    if "ggml-cuda" in program.libraries or program.static:
        code = fatbin.scan(program.holder("ggml-cuda"))
    if program.static:
        text = literals.read(program.executable)
        inside = frozenset() if isinstance(text, Unknown) else literals.backends(text)
    return names, code, inside


def _cpu_features(
    program: Program | Unknown,
    flags: FlagTable | Unknown,
    subcommand: tuple[str, ...],
    environment: Mapping[str, str],
    until: float,
) -> frozenset[str] | Unknown:
    """Have the server print what its CPU code was compiled for, and stop it there.

    It is given a model that cannot exist, so that it could never load one. What a wrapper script
    sets up is kept, but the script is not run: it may name a model of its own.
    """
    if isinstance(program, Unknown):
        return program
    if isinstance(flags, Unknown) or not all(map(flags.accepts, _INFO_FLAGS)):
        return Unknown("its help does not say how to have it print its system_info line")
    own = program.environment
    inner = environment if own is None else surroundings(own)
    for _ in range(_TRIES):
        left = max(0.1, until - time.monotonic())
        answer = ask([program.executable, *subcommand, *_INFO_WORDS], inner, left, enough=_INFO)
        features = devices.cpu_features(answer.text)
        if features is not None:
            return features
    return Unknown("it printed no system_info line")


def _flags(helped: Answer, path: str) -> FlagTable | Unknown:
    source = f"{PurePath(path).name} --help"
    for stream in (helped.out, helped.err):
        flags = table(plain(stream), source)
        if len(flags.flags) >= _FEWEST_FLAGS:
            return flags
    if helped.stopped == "deadline":
        return Unknown(f"--help did not answer within {helped.seconds:.0f} s")
    return Unknown("--help printed no flags")


def _failure(
    version: Answer, said: banner.Banner, flags: FlagTable | Unknown, path: str
) -> StartFailure | None:
    """Return why it does not start: it printed no version, nor any help."""
    if said.number is not None or not isinstance(flags, Unknown):
        return None
    return startup.failure(version, path)


def _backends(
    listed: tuple[Device, ...] | Unknown, program: Program | Unknown, inside: frozenset[str]
) -> frozenset[str] | Unknown:
    if isinstance(listed, Unknown) and isinstance(program, Unknown):
        return listed
    of_devices = () if isinstance(listed, Unknown) else listed
    found = {devices.backend(device.name) for device in of_devices} - {""}
    libraries = frozenset() if isinstance(program, Unknown) else program.backends
    return frozenset(found | libraries | inside)


def _nothing_known(named: str, where: Unknown) -> Server:
    why = Unknown("the program was not found")
    server = Server(named=named, path=where, binary=why, failure=why)
    files = replace(server, architectures=why, gpu_code=why, backends=why)
    return _never_started(files, why)


def _never_started(server: Server, why: Unknown) -> Server:
    """Say of everything that only a running program tells why it is not known."""
    return replace(
        server,
        banner=why,
        program=why,
        build=why,
        commit=why,
        version=why,
        commit_date=why,
        flags=why,
        devices=why,
        cpu_features=why,
    )
