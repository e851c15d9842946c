"""The two files of a pair, and what they say about each other."""

from __future__ import annotations

import re

from mtpdoctor import (
    Advice,
    Download,
    Drafter,
    Evidence,
    Fix,
    Model,
    NotApplicable,
    Server,
    Target,
    Unknown,
    known,
)
from mtpdoctor.gguf import Header
from mtpdoctor.visible import visible

ASSISTANT = "gemma4-assistant"
"""The architecture of Gemma 4's drafters; they read the KV cache of a ``gemma4`` target."""

UNREADABLE = ("file-not-found", "not-a-gguf", "file-truncated")
"""Checks whose finding means that there is no header to look at."""

NOT_A_PAIR = (*UNREADABLE, "roles-swapped", "no-mtp-head", "drafter-arch-unknown")
"""Checks whose finding makes it pointless to compare the two files."""

PUBLISHED = {
    1536: "gemma-4-E2B-it",
    2560: "gemma-4-E4B-it",
    2816: "gemma-4-26B-A4B-it",
    3840: "gemma-4-12B-it",
    5376: "gemma-4-31B-it",
}
"""Gemma 4's targets by ``embedding_length``."""

_LAYERS = {
    "gemma-4-E2B-it": 35,
    "gemma-4-E4B-it": 42,
    "gemma-4-26B-A4B-it": 30,
    "gemma-4-12B-it": 48,
    "gemma-4-31B-it": 60,
}
_QAT = re.compile(r"(?<![a-z])qat(?![a-z])", re.IGNORECASE)


def files(target: Target | None, drafter: Drafter | None) -> tuple[Model, ...]:
    """Return the models that the command names; the question does not arise without any."""
    models = tuple(model for model in (target, drafter) if model is not None)
    if not models:
        raise NotApplicable("the command names no file")
    return models


def gemma4_pair(target: Target, drafter: Drafter) -> tuple[Header, Header]:
    """Return both headers; the question does not arise for any other kind of pair."""
    for model, arch in ((drafter, ASSISTANT), (target, "gemma4")):
        if not isinstance(model.header, Unknown) and model.header.arch != arch:
            raise NotApplicable(f"not a {ASSISTANT} drafter with a gemma4 target")
    return known(target.header), known(drafter.header)


def shown(value: object) -> str:
    """Return a value of a file for a message: one line, short, without control characters."""
    return visible(repr(value) if isinstance(value, str) else str(value), 80)


def stated(model: Model, key: str, value: object | None = None) -> Evidence:
    """Return what *model* has under *key* of its architecture as evidence."""
    if value is None and not isinstance(model.header, Unknown):
        value = model.header.get(key)
    written = "is not there" if value is None else f"= {shown(value)}"
    return Evidence(f"{name(model)}: {key} {written}")


def name(model: Model) -> str:
    """Return what to call the file in a sentence: a path's last part, or the repository."""
    named = re.split(r"[/\\]", model.named)[-1] if model.named.endswith(".gguf") else model.named
    return visible(named) or model.origin or type(model).__name__.lower()


def program(server: Server) -> str:
    """Return what to call the server in a sentence: the last part of its path."""
    return visible(re.split(r"[/\\]", server.named)[-1]) or "llama-server"


def integer(header: Header, key: str) -> int | None:
    """Return a whole number of the architecture; ``None`` if there is none."""
    value = header.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def its_drafter(target: Model) -> tuple[Fix, ...]:
    """Return how to get a drafter that was made for *target*, as its family, width and layers tell.

    Q8_0 comes first: its rounding costs no draft, and the drafter is small beside its target. The
    file at the root is of less precision; it is the one that ``-hf`` finds.
    """
    header = target.header
    if isinstance(header, Unknown):
        return (Advice(f"give a drafter that was made for {name(target)}"),)
    width, layers = integer(header, "embedding_length"), integer(header, "block_count")
    found = PUBLISHED.get(width or 0)
    if header.arch != "gemma4" or found is None or _LAYERS[found] != layers:
        what = f"{shown(header.arch)}, {width} wide" if width else f"{shown(header.arch)}"
        return (
            Advice(
                f"give a drafter that was made for {name(target)} (an MTP head for {what}), "
                "or take a file that holds the head"
            ),
        )
    repo = f"unsloth/{found}-{'qat-' if _is_qat(target, header) else ''}GGUF"
    return (
        Download(repo, f"MTP/mtp-{found}-Q8_0.gguf"),
        Download(repo, f"mtp-{found}.gguf"),
    )


def _is_qat(target: Model, header: Header) -> bool:
    """Whether the target was trained to be quantized; drafters of its own guess it better."""
    names = (target.named, str(header.metadata.get("general.name", "")))
    return any(_QAT.search(each) for each in names)


def replacement(model: Model, target: Model | None) -> tuple[Fix, ...]:
    """Return how to get a sound file in place of *model*, which is *target* or its drafter."""
    if isinstance(model, Target):
        return (Advice(f"take another conversion of {name(model)}, or convert it anew"),)
    return its_drafter(target if target is not None else Target(named="the target"))
