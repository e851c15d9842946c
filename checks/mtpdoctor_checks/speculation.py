"""What a command asks for when it speaks of drafting."""

from __future__ import annotations

from mtpdoctor import Launch, NotApplicable
from mtpdoctor.gguf import Header
from mtpdoctor.launch import speculative_types
from mtpdoctor_checks.pair import ASSISTANT, integer

MTP = "draft-mtp"
SPEC_TYPE = "--spec-type"


def asks_for_mtp(launch: Launch) -> bool:
    """Whether the command asks for MTP in llama.cpp's own word."""
    return MTP in speculative_types(launch)


def need_mtp(launch: Launch) -> None:
    """Go on only if the command asks for draft-mtp."""
    if not asks_for_mtp(launch):
        raise NotApplicable(f"the command does not ask for {SPEC_TYPE} {MTP}")


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
