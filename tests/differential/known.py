"""Where the doctor and a server differ, and why it stays so."""

from __future__ import annotations

KNOWN: dict[str, str] = {
    "target.tokens-renamed-all": "only the names of the tokens differ, which no real pair does",
    "drafter.tokens-renamed-all": "only the names of the tokens differ, which no real pair does",
    "qwen35 blk.0.attn_norm.weight-missing": (
        "llama.cpp takes the file for a head without a trunk and skips what is missing; "
        "the attention of the small model is zero, that of a real one is not"
    ),
    "--spec-type draft-eagle3": (
        "b9553 ignores that draft-eagle3 cannot start and drafts with draft-mtp; later ones do not"
    ),
    "qwen35 p-min 1.0": "the small head is as good as certain, a real one hardly ever",
}
"""By case, or by a case that it is part of."""


def why(name: str) -> str:
    """Return why a difference is as it should be; empty for one that nobody knows."""
    return next((KNOWN[part] for part in name.split(" & ") if part in KNOWN), KNOWN.get(name, ""))
