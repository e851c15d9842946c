"""What a command asks for, in the server's reading: speculation, flash attention, cache types."""

from __future__ import annotations

import re
from typing import Literal

from mtpdoctor.facts import Launch
from mtpdoctor.launch.helptext import OFF, ON

_LEADING = re.compile(r"\s*([+-]?\d+)")
_LEADING_HEX = re.compile(
    r"\s*([+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?)", re.IGNORECASE
)
_LEADING_REAL = re.compile(
    r"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan))", re.IGNORECASE
)
MTP = "draft-mtp"
"""llama.cpp's own word for drafting with an MTP head."""
_MTP_WORDS = frozenset({MTP, "mtp"})
"""``mtp`` is the word of forks and of drafts of the feature; llama.cpp refuses it."""


def speculative_types(launch: Launch) -> tuple[str, ...]:
    """Return the values of ``--spec-type`` in force, each once, ``none`` left out.

    The flag appends: the environment's and every repetition count. A ``none`` undoes the list that
    it stands in (``none,draft-mtp`` drafts nothing), and no other use of the flag.
    ``--spec-default`` stands for ``ngram-mod``. What a server infers from the drafter's file is
    not among them.
    """
    lists = [
        [part.strip() for part in value.split(",")]
        for option in launch.uses("--spec-type")
        for value in option.values
    ]
    types = [kind for listed in lists if "none" not in listed for kind in listed]
    if launch.has("--spec-default"):
        types.append("ngram-mod")
    return tuple(dict.fromkeys(filter(None, types)))


def wants_mtp(launch: Launch) -> bool:
    """Whether the command asks for multi-token prediction, in whichever spelling."""
    return not _MTP_WORDS.isdisjoint(speculative_types(launch))


def flash_attention(launch: Launch) -> Literal["on", "off", "auto"]:
    """Return the setting of ``-fa`` in force.

    Without the flag it is ``auto``; of a build that lists it as a switch, ``off``. A value that
    the server refuses counts as not given.
    """
    flag = launch.table.find("--flash-attn")
    for option in reversed(launch.uses("--flash-attn")):
        if option.negated or option.value in OFF:
            return "off"
        if option.value in ON or (
            option.value is None and flag and (flag.optional or not flag.arity)
        ):
            return "on"
        if option.value in {"auto", "-1"}:
            return "auto"
    return "off" if flag is not None and flag.arity == 0 else "auto"


def cache_type(launch: Launch, which: Literal["k", "v"]) -> str:
    """Return the data type of the target's K or V cache: ``f16`` where nothing is said."""
    return launch.value(f"--cache-type-{which}") or "f16"


def draft_cache_type(launch: Launch, which: Literal["k", "v"]) -> str:
    """Return the data type of the drafter's own K or V cache: ``f16`` where nothing is said."""
    return launch.value(f"--cache-type-{which}-draft") or "f16"


def draft_n_max(launch: Launch) -> int | None:
    """Return the draft depth that the command asks for; ``None`` for the server's own.

    The spellings of all builds are looked at, also one that this server has removed.
    """
    for name in ("--spec-draft-n-max", "--draft-max"):
        value = launch.value(name)
        if value is not None:
            return whole_number(value)
    return None


def whole_number(text: str) -> int | None:
    """Read a number as llama-server does: leading digits count, so that ``2k`` is 2."""
    match = _LEADING.match(text)
    return int(match[1]) if match is not None else None


def real_number(text: str) -> float | None:
    """Read a number as llama-server does (``std::stof``): what follows its start is ignored."""
    match = _LEADING_HEX.match(text)
    if match is not None:
        return float.fromhex(match[1])
    match = _LEADING_REAL.match(text)
    return float(match[1]) if match is not None else None
