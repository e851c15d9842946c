"""Whether the server is new enough for MTP with these files."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    Model,
    Server,
    Target,
    Undetermined,
    Unknown,
    Upgrade,
    check,
    cited,
)
from mtpdoctor.gguf import Header
from mtpdoctor.knowledge import Feature
from mtpdoctor.launch import speculative_types, wants_mtp
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import UNREADABLE, program
from mtpdoctor_checks.speculation import has_head


@check(
    "build-too-old",
    "llama-server is older than what these files need",
    after=["server-not-found", "server-does-not-run", *UNREADABLE],
)
def build_too_old(
    server: Server,
    launch: Launch | None,
    target: Target | None,
    drafter: Drafter | None,
    knowledge: Knowledge,
) -> Iterator[Finding]:
    reasons = [
        model.header.reason
        for model in (target, drafter)
        if model is not None and isinstance(model.header, Unknown)
    ]
    lacks: dict[str, Finding] = {}
    for feature, answer in _wanted(server, launch, target, drafter, knowledge):
        if isinstance(answer, Unknown):
            reasons.append(answer.reason)
        elif not answer:
            lacks[feature.id] = _too_old(server, feature)
    yield from list(lacks.values())[:1]
    if reasons:
        raise Undetermined("; ".join(dict.fromkeys(reasons)))


def _wanted(
    server: Server,
    launch: Launch | None,
    target: Target | None,
    drafter: Drafter | None,
    knowledge: Knowledge,
) -> Iterator[tuple[Feature, bool | Unknown]]:
    """Yield what is needed, the newest last to come first, and whether the server has it."""
    found = list(_needs(server, launch, target, drafter, knowledge))
    yield from sorted(found, key=lambda pair: pair[0].since.first_with, reverse=True)


def _needs(
    server: Server,
    launch: Launch | None,
    target: Target | None,
    drafter: Drafter | None,
    knowledge: Knowledge,
) -> Iterator[tuple[Feature, bool | Unknown]]:
    drafts = launch is None or not speculative_types(launch) or wants_mtp(launch)
    if drafts:
        spec_type = knowledge.feature("spec-type")
        if spec_type is not None:
            yield spec_type, capability.drafts_mtp(server, knowledge)
    for model in (target, drafter):
        header = _header(model)
        arch = header.arch if header is not None else None
        entry = knowledge.feature("arch", arch) if arch else None
        if arch and entry is not None:
            yield entry, capability.loads(server, arch, knowledge)
    header = _header(drafter) or _header(target)
    graph = knowledge.feature("mtp-graph", header.arch or "-") if header is not None else None
    if header is not None and graph is not None and drafts and has_head(header):
        yield graph, _draws(server, header, graph, knowledge)


def _draws(server: Server, header: Header, graph: Feature, knowledge: Knowledge) -> bool | Unknown:
    """Whether the server drafts with a head of this architecture.

    An architecture that is a drafter and nothing else drafts wherever it loads.
    """
    entry = knowledge.feature("arch", header.arch or "-")
    if entry is not None and entry.since == graph.since:
        return capability.loads(server, header.arch or "-", knowledge)
    return capability.has(server, graph, knowledge)


def _header(model: Model | None) -> Header | None:
    if model is None or isinstance(model.header, Unknown):
        return None
    return model.header


def _too_old(server: Server, feature: Feature) -> Finding:
    build = "this llama-server" if isinstance(server.build, Unknown) else str(server.build)
    return Finding(
        says=(
            f"{build} does not have {feature.title}, which came with {feature.since.first_with}\n"
            "Take a newer llama.cpp."
        ),
        about=server.named,
        evidence=(*_measured(server, feature), *cited(feature.source)),
        fixes=(Upgrade(str(feature.since.first_with)),),
    )


def _measured(server: Server, feature: Feature) -> Iterator[Evidence]:
    if feature.kind == "spec-type" and not isinstance(server.spec_types, Unknown):
        listed = ", ".join(sorted(server.spec_types)) or "no such flag"
        yield Evidence(f"{program(server)} --help: --spec-type: {listed}")
    lacking = set[str]()
    if not isinstance(server.architectures, Unknown):
        lacking = set(feature.archs & server.architectures.absent)
    if lacking:
        yield Evidence(f"libllama of {program(server)} does not hold {', '.join(sorted(lacking))}")
    if not isinstance(server.build, Unknown):
        yield Evidence(f"{program(server)}: {server.build} ({server.build_how or 'as it says'})")
