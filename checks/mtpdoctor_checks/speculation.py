"""What a command asks for when it speaks of drafting."""

from __future__ import annotations

from mtpdoctor import Drafter, Knowledge, Launch, NotApplicable, Server, Unknown
from mtpdoctor.gguf import Header
from mtpdoctor.launch import MTP, speculative_types
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import ASSISTANT, integer

SPEC_TYPE = "--spec-type"


def asks_for_mtp(launch: Launch) -> bool:
    """Whether the command asks for MTP in a word that its server lists, or in llama.cpp's own."""
    asked = speculative_types(launch)
    return MTP in asked or ("mtp" in asked and _lists(launch, "mtp"))


def _lists(launch: Launch, value: str) -> bool:
    flag = launch.table.find(SPEC_TYPE)
    return launch.table.asked and flag is not None and value in flag.values


def need_mtp(launch: Launch) -> None:
    """Go on only if the command asks for draft-mtp."""
    if not asks_for_mtp(launch):
        raise NotApplicable(f"the command does not ask for {SPEC_TYPE} {MTP}")


def no_other_kind(launch: Launch | None) -> None:
    """Go on unless the command asks for other kinds of drafting alone."""
    others = speculative_types(launch) if launch is not None else ()
    if launch is not None and others and not asks_for_mtp(launch):
        raise NotApplicable(f"the command asks for {', '.join(others)}, not for {MTP}")


def will_draft(
    launch: Launch, server: Server | None, drafter: Drafter | None, knowledge: Knowledge
) -> bool | Unknown:
    """Whether the server will draft with MTP: it is asked to, or sees by itself that it can."""
    return asks_for_mtp(launch) or infers_mtp(launch, server, drafter, knowledge)


def infers_mtp(
    launch: Launch, server: Server | None, drafter: Drafter | None, knowledge: Knowledge
) -> bool | Unknown:
    """Whether the server draws ``draft-mtp`` from the drafter itself, as some builds do."""
    if drafter is None or speculative_types(launch) or launch.has(SPEC_TYPE):
        return False
    from_hub = launch.has("--spec-draft-hf") or launch.has("-hfd")
    header = drafter.header
    if isinstance(header, Unknown):
        return header
    if not has_head(header) or (header.arch == ASSISTANT and not from_hub):
        return False
    feature = knowledge.named("hfd-infers-draft-mtp" if from_hub else "md-infers-type")
    infers = Unknown("no server") if server is None else capability.has(server, feature, knowledge)
    if isinstance(infers, Unknown):
        return Unknown(f"whether the server sees by itself that this is MTP: {infers.reason}")
    return infers


def has_head(header: Header) -> bool:
    """Whether the file holds an MTP head that llama.cpp would look for; an assistant is one."""
    if header.arch == ASSISTANT:
        return True
    if not integer(header, "nextn_predict_layers"):
        return False
    return any(".nextn." in tensor or tensor.startswith("nextn.") for tensor in header.tensors)


def quantized(cache_type: str) -> bool:
    """Whether a KV cache of that type is quantized."""
    return cache_type.lower() not in {"f32", "f16", "bf16"}
