"""Whether a server knows the architecture of a file that no known llama.cpp knows."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Model,
    NotApplicable,
    Server,
    Undetermined,
    Unknown,
    known,
)
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import ASSISTANT, name, program, shown

SPELLINGS = {
    "gemma4_assistant": "as a fork of llama.cpp spells it, with other tensor names",
    "gemma4_mtp": "as ik_llama.cpp spells it, with other tensor names",
}
"""Names that forks gave to Gemma 4's drafters; no build of llama.cpp up to the horizon has them."""


def unknown_architecture(
    model: Model, server: Server, knowledge: Knowledge, fixes: tuple[Fix, ...]
) -> Iterator[Finding]:
    """Find an architecture that the server does not know, and no known llama.cpp does."""
    arch = known(model.header).arch
    if arch is None:
        raise Undetermined(f"{name(model)} does not state its architecture")
    loads = capability.loads(server, arch, knowledge)
    if loads is True:
        return
    if knowledge.feature("arch", arch) or knowledge.feature("mtp-graph", arch):
        if isinstance(loads, Unknown):
            raise Undetermined(loads.reason)
        raise NotApplicable(f"{arch} came to llama.cpp later: see build-too-old")
    foreign = SPELLINGS.get(arch)
    if isinstance(loads, Unknown):
        if foreign is None:
            raise Undetermined(loads.reason)
        build = capability.known_build(server)
        if build.last > knowledge.horizon:
            raise Undetermined(knowledge.past_horizon(build))
    evidence = [Evidence(f"{name(model)}: general.architecture = {shown(arch)}")]
    if loads is False:
        evidence.append(Evidence(f"libllama of {program(server)} does not hold {shown(arch)}"))
    says = (
        f"{name(model)} has the architecture {shown(arch)}, which {program(server)} does not know"
    )
    if foreign is not None:
        says += f"\nThat is {ASSISTANT} {foreign}; llama.cpp cannot load the file."
    yield Finding(says=says, about="general.architecture", evidence=tuple(evidence), fixes=fixes)
