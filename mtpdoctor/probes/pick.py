"""Which file of a repository ``-hf`` takes, by llama-server's own rules.

They stand in llama.cpp's common/download.cpp (here as of b10435). Files are paths relative to the
repository, with ``/``; where several are equally good the first one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_PREFERRED = ("Q4_K_M", "Q8_0")
_NO_MODEL = ("mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-")
_SPLIT = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"[-.]([A-Z0-9_]+)\Z", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,6}")
_ENDING = ".gguf"

DRAFTER = "mtp-"
"""What the path of an MTP drafter must hold, in lower case, to be found."""


def split(named: str) -> tuple[str, str]:
    """Take ``user/model:Q4_K_M`` apart; the tag is empty where none is given."""
    repo, _, rest = named.partition(":")
    return repo, rest.rpartition(":")[2]


def model(files: Sequence[str], tag: str) -> str | None:
    """Return the file that is loaded as the model; of a split one, the first part.

    Without a *tag* that is Q4_K_M, else Q8_0, else the first. The tag is looked for anywhere in
    the path, followed by ``.`` or ``-``, in any case.
    """
    models = [file for file in files if _is_model(file) and _part(file) == 1]
    for wanted in (tag,) if tag else _PREFERRED:
        pattern = re.compile(re.escape(wanted) + "[.-]", re.IGNORECASE)
        for file in models:
            if pattern.search(file):
                return file
    return models[0] if models and not tag else None


def drafter(files: Iterable[str], target: str, tag: str) -> str | None:
    """Return the MTP drafter that is found for the model *target*; empty for no model.

    It lies in a folder that the target lies in too (a file at the root serves all, one in ``MTP/``
    none at the root). The deepest such folder wins, then the very tag, then the nearest number of
    bits; builds before b10142 to b10151 do not look for the very tag.
    """
    folders = target.split("/")[:-1]
    upper = tag.upper()
    bits = _bits(upper) if tag else _bits(_quant(target))
    best: tuple[tuple[int, bool, int], str] | None = None
    for file in files:
        own = file.split("/")[:-1]
        if not file.endswith(_ENDING) or DRAFTER not in file or folders[: len(own)] != own:
            continue
        exact = bool(tag) and f"-{upper}." in file.upper()
        rank = (len(own), exact, -abs(_bits(_quant(file)) - bits))
        if best is None or rank > best[0]:
            best = rank, file
    return best[1] if best else None


def _is_model(file: str) -> bool:
    name = file.rpartition("/")[2]
    return file.endswith(_ENDING) and not any(word in name for word in _NO_MODEL)


def _part(file: str) -> int:
    """Return the number of a split model's part; 1 for a model in one file."""
    match = _SPLIT.fullmatch(file.removesuffix(_ENDING))
    return int(match[2]) if match and int(match[3]) > 1 else 1


def _quant(file: str) -> str:
    """Return the last word of the name, which says how it is quantized: ``Q4_K_M``, ``IT``."""
    stem = file.removesuffix(_ENDING)
    match = _SPLIT.fullmatch(stem)
    tag = _TAG.search(match[1] if match else stem)
    return tag[1].upper() if tag else ""


def _bits(quant: str) -> int:
    """Return 4 for Q4_K_M, 16 for BF16, 0 for what has no number."""
    match = _DIGITS.search(quant)
    return int(match[0]) if match else 0
