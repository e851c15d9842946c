"""A llama-server command as data: read, judged against the server's own flags, changed, printed."""

from mtpdoctor.launch.change import (
    accepted_spelling,
    apply,
    environment_for,
    is_speculative,
    plain,
    with_flags,
    without,
)
from mtpdoctor.launch.helptext import table
from mtpdoctor.launch.meaning import (
    MTP,
    cache_type,
    draft_cache_type,
    draft_n_max,
    flash_attention,
    real_number,
    speculative_types,
    wants_mtp,
    whole_number,
)
from mtpdoctor.launch.nearest import mended, suggest
from mtpdoctor.launch.privacy import mask_text, masked, masked_environment, redact
from mtpdoctor.launch.quoting import Style, shell, shown
from mtpdoctor.launch.reading import parse
from mtpdoctor.launch.refused import Refusal, refusals
from mtpdoctor.launch.shipped import shipped
from mtpdoctor.launch.words import Command, split

__all__ = [
    "MTP",
    "Command",
    "Refusal",
    "Style",
    "accepted_spelling",
    "apply",
    "cache_type",
    "draft_cache_type",
    "draft_n_max",
    "environment_for",
    "flash_attention",
    "is_speculative",
    "mask_text",
    "masked",
    "masked_environment",
    "mended",
    "parse",
    "plain",
    "real_number",
    "redact",
    "refusals",
    "shell",
    "shipped",
    "shown",
    "speculative_types",
    "split",
    "suggest",
    "table",
    "wants_mtp",
    "whole_number",
    "with_flags",
    "without",
]
