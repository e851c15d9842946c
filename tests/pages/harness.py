"""Runs the examples that stand on the checks' pages.

An example is a block of facts in TOML, and what the check says to them:

    ```toml facts
    command = "llama-server -m target.gguf -md drafter.gguf --spec-type draft-mtp -fa on"
    [server]
    build = "b9600"
    backends = ["cuda"]
    [drafter]
    like = "gemma-4-E4B-it-assistant"
    set = { "attention.head_count_kv" = 1 }
    ```
    ```text result
    error: …
      fix: use -fa off
    ```

Each table is a fact (``server``, ``target``, ``drafter``, ``gpus``, ``host``, ``hub``, ``run``) with
its own fields; what is left out is unknown, as it is to a probe that could not ask. A value
``{ unknown = "why" }`` is unknown for that reason. ``MTPDOCTOR_UPDATE=1`` rewrites the results.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from headers import real

from mtpdoctor import knowledge, launch, tables
from mtpdoctor.checks import Check
from mtpdoctor.engine import Outcome, Result, examine
from mtpdoctor.facts import (
    Architectures,
    Device,
    Drafter,
    Facts,
    FlagTable,
    Gpus,
    Host,
    HubRepo,
    Model,
    Server,
    SmokeRun,
    Target,
    Unknown,
)
from mtpdoctor.gguf import Header, Tensor

_EXAMPLE = re.compile(
    r"^```toml facts\n(?P<facts>.*?)^```\n+```text result\n(?P<result>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
FIXTURES = Path(__file__).parents[2] / "fixtures" / "servers"
SERVERS = {"b10068": "0.10068.0", "b10092": "0.10092.0", "b10434": "0.10434.0"}
_FULL_KEY = ("general.", "tokenizer.", "quantize.")
_ABSENT = {
    Target: "the command names no model",
    Drafter: "the command names no drafter",
    SmokeRun: "smoke run: not run",
}


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a page."""

    line: int
    section: str
    facts: str
    result: str


def examples(page: str) -> Iterator[Example]:
    """Yield the examples of a page from the top."""
    for match in _EXAMPLE.finditer(page):
        sections = [found[1] for found in _SECTION.finditer(page) if found.start() < match.start()]
        yield Example(
            page.count("\n", 0, match.start()) + 1,
            sections[-1] if sections else "",
            match["facts"],
            match["result"],
        )


def rewritten(page: str, id: str, check: Check[Any]) -> str:
    """Return the page with every result as it is today."""

    def again(match: re.Match[str]) -> str:
        result = answer(match["facts"], id, check)
        return f"```toml facts\n{match['facts']}```\n```text result\n{result}```"

    return _EXAMPLE.sub(again, page)


def answer(facts: str, id: str, check: Check[Any]) -> str:
    """Return what *check* says to *facts*, as a page shows it."""
    (result,) = examine(patient(facts), {id: check})
    return "".join(f"{line}\n" for line in lines(result))


def lines(result: Result) -> Iterator[str]:
    """Yield a result as a page shows it: a fix is applied by the doctor, the rest is by hand."""
    if result.outcome in {Outcome.UNKNOWN, Outcome.SKIPPED, Outcome.CRASHED}:
        yield f"{result.outcome}: {result.reason}"
        return
    if result.outcome is Outcome.PASSED:
        yield "passed"
    for finding in result.findings:
        first, *more = finding.says.splitlines()
        yield f"{finding.severity}: {first}"
        yield from (f"  {line}" for line in more)
        for fix in finding.fixes:
            yield f"  {'fix' if fix.safe else 'by hand'}: {fix.title}"
    if result.outcome is Outcome.FOUND and result.reason:
        yield f"unknown: {result.reason}"


def patient(text: str) -> Facts:
    """Return the facts that an example states."""
    return stated_facts(tomllib.loads(text))


def stated_facts(stated: dict[str, Any]) -> Facts:
    """Return the facts that the tables of *stated* name, which is used up."""
    command, environment = stated.pop("command", None), stated.pop("environment", {})
    server = _server(stated.pop("server", None))
    facts = [knowledge.load(), *(_fact(name, table) for name, table in stated.items())]
    if server is not None:
        facts.append(server)
    if command is not None:
        asked = server.flags if server is not None else Unknown()
        known = launch.shipped() if isinstance(asked, Unknown) else asked
        words = launch.split(tuple(shlex.split(command)), environment)
        facts.append(launch.parse(words, known))
    return Facts(*facts, absent=_ABSENT)


def _fact(name: str, table: dict[str, Any]) -> object:
    match name:
        case "target":
            return _model(Target, table, origin="-m", named="target.gguf")
        case "drafter":
            return _model(Drafter, table, origin="-md", named="drafter.gguf")
        case "gpus":
            return Gpus(**_fields(Gpus, {"state": "present", **table}))
        case "host":
            return Host(**_fields(Host, table))
        case "hub":
            return HubRepo(**_fields(HubRepo, table))
        case "run":
            return SmokeRun(**_fields(SmokeRun, table))
        case _:
            raise ValueError(f"no fact is called {name!r}")


def _fields(kind: Any, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of *kind* that *table* states, each read as its type wants it."""
    hints = get_type_hints(kind)
    return {key: _field(raw, hints[key], key) for key, raw in table.items()}


def _field(raw: Any, kind: Any, at: str) -> Any:
    if isinstance(raw, dict) and raw.keys() == {"unknown"}:
        return Unknown(raw["unknown"])
    for member in (kind, *get_args(kind)):
        if not isinstance(member, type) or not is_dataclass(member) or member is Unknown:
            continue
        if isinstance(raw, dict):
            return member(**_fields(member, raw))
        if isinstance(raw, list):
            return tuple(_field(each, member, at) for each in raw)
    return tables.build(raw, kind, at)


def _server(table: dict[str, Any] | None) -> Server | None:
    """Return a server that starts.

    ``help`` names the build whose captured help is this server's, ``spec_types`` changes what that
    lists, ``{ unknown = "…" }`` to no values at all; ``architectures`` is
    ``{ has = […], lacks = […] }``, ``devices`` a list of
    rows, ``CUDA0`` or ``CUDA0: its description``.
    """
    if table is None:
        return None
    raw = {"program": "llama.cpp", "path": "/usr/bin/llama-server", **table}
    flags: FlagTable | Unknown = Unknown("its --help could not be read")
    help_of, spec_types = raw.pop("help", None), raw.pop("spec_types", None)
    if help_of is not None:
        flags = _listing(SERVERS[help_of], spec_types)
    devices, archs = raw.pop("devices", None), raw.pop("architectures", None)
    fields = {"failure": None, "flags": flags, **_fields(Server, raw)}
    if isinstance(devices, dict):
        fields["devices"] = Unknown(devices["unknown"])
    elif devices is not None:
        fields["devices"] = tuple(_device(row) for row in devices)
    if archs is not None:
        has, lacks = archs.get("has", ()), archs.get("lacks", ())
        fields["architectures"] = Architectures(names=frozenset(has), absent=frozenset(lacks))
    return Server(**fields)


def _device(row: str) -> Device:
    name, _, description = row.partition(": ")
    return Device(name=name, description=description)


def _listing(server: str, spec_types: list[str] | dict[str, str] | None) -> FlagTable:
    """Return the flags of a captured help, perhaps with other values of ``--spec-type``."""
    text = (FIXTURES / server / "help.txt").read_text("utf-8")
    listed = launch.table(text, "llama-server --help")
    if spec_types is None:
        return listed
    if isinstance(spec_types, dict):  # the flag is listed, its values are not
        spec_types = [""]
    flags = tuple(
        replace(flag, values=frozenset(filter(None, spec_types)))
        if "--spec-type" in flag.names
        else flag
        for flag in listed.flags
        if spec_types or "--spec-type" not in flag.names
    )
    return replace(listed, flags=flags)


def _model(kind: type[Model], table: dict[str, Any], *, origin: str, named: str) -> Model:
    raw = dict(table)
    like, arch = raw.pop("like", None), raw.pop("arch", None)
    changes = {key: raw.pop(key, {}) for key in ("set", "tensors")}
    dropped = raw.pop("drop", [])
    quantized = raw.pop("quantized", True)
    fields = _fields(kind, {"origin": origin, "named": named, **raw})
    fields.setdefault("path", fields["named"])
    if like is not None:
        header = _changed(real(like), arch, changes["set"], changes["tensors"], dropped)
        fields["header"] = header if quantized else _unquantized(header)
    elif "trouble" in fields:
        fields["header"] = Unknown(fields["trouble"].says)
    return kind(**fields)


def _changed(
    header: Header,
    arch: str | None,
    values: Mapping[str, Any],
    shapes: Mapping[str, list[int]],
    dropped: list[str],
) -> Header:
    """Return *header* with another architecture, other values and tensors, and without some.

    Keys that are not general are the architecture's own: ``attention.key_length``.
    """
    before = header.arch or ""
    after = arch or before
    metadata: dict[str, object] = {}
    for key, value in header.metadata.items():
        own = key.startswith(f"{before}.")
        metadata[f"{after}.{key.removeprefix(f'{before}.')}" if own else key] = value
    metadata["general.architecture"] = after
    for key, value in values.items():
        metadata[key if key.startswith(_FULL_KEY) else f"{after}.{key}"] = value
    table: dict[str, Tensor] = dict(header.tensors)
    for name, shape in shapes.items():
        old = table.get(name, Tensor(name=name, shape=()))
        table[name] = replace(old, shape=tuple(shape))
    for name in dropped:
        key = name if name.startswith(_FULL_KEY) else f"{after}.{name}"
        if metadata.pop(key, None) is None and table.pop(name, None) is None:
            raise ValueError(f"there is no {name!r} to drop")
    return Header.of(metadata, table)


def _unquantized(header: Header) -> Header:
    plain = {name: replace(tensor, type=0) for name, tensor in header.tensors.items()}
    return Header.of(header.metadata, plain)
