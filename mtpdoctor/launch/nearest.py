"""The flag that was probably meant, and the one that surely was."""

from __future__ import annotations

import re

from mtpdoctor.facts import Flag, FlagTable, Option
from mtpdoctor.findings import SetFlag
from mtpdoctor.launch.reading import takes

_NEAR = 0.78
_GLUED = re.compile(r"(--?[A-Za-z][A-Za-z_-]*?)(\d+)")
_LONG = 5
"""Letters from which on one slip of the pen leaves no doubt."""
_FLAG = re.compile(r"(?<![\w*-])--?[a-z][\w.-]*(?![\w*-])")


def suggest(name: str, table: FlagTable) -> str:
    """Return the flag that a server with *table* takes and that is nearest to *name*.

    For a removed flag it is the one that its note names first; empty where none is near.
    """
    name = table.spelling(name.partition("=")[0])
    row = table.find(name)
    if row is not None and row.removed:
        if "*" in row.removed:  # "use the respective --spec-ngram-*-size-n": the user must choose
            return ""
        named = (word for word in _FLAG.findall(row.removed) if table.accepts(word))
        return next(named, "")
    accepted = [other for other in table.names if table.accepts(other)]
    bare = _bare(name)
    for other in accepted:
        if _bare(other) == bare or _bare(other) == bare.rstrip("0123456789"):
            return other
    long = [other for other in accepted if other.startswith("--")]
    if len(bare) < 4:
        return ""
    import difflib

    near = difflib.get_close_matches("--" + bare, long, n=1, cutoff=_NEAR)
    return near[0] if near else ""


def mended(option: Option, table: FlagTable) -> SetFlag | None:
    """Return what *option*, which no flag of *table* is spelled like, surely stands for.

    That is a flag of as many values whose spelling differs by dashes, underscores, case, or by one
    letter that is missing, too many or swapped with the next; or a flag with its number glued on
    (``-ngl99``). ``None`` where it could be anything else.
    """
    glued = _GLUED.fullmatch(option.spelled)
    if glued is not None and not option.values:
        row = table.find(glued[1])
        if row is not None and _fits(row, (glued[2],)):
            return SetFlag(glued[1], glued[2], replaces=option.spelled)
    names = [name for name in table.names if _fits(table.find(name), option.values)]
    exact = [name for name in names if _bare(name) == _bare(option.spelled)]
    written = _letters(option.spelled)
    same = exact or [name for name in names if _letters(name) == written]
    if not same and option.spelled.startswith("--") and len(written) >= _LONG:
        long = [name for name in names if name.startswith("--")]
        same = [name for name in long if _is_slip(written, _letters(name))]
    meant = {id(table.find(name)): name for name in same}
    return (
        SetFlag(next(iter(meant.values())), option.value, replaces=option.spelled)
        if len(meant) == 1 and len({table.negates(name) for name in same}) == 1
        else None
    )


def _fits(row: Flag | None, values: tuple[str, ...]) -> bool:
    """Whether *row* is a flag that takes just *values*."""
    if row is None or row.removed or len(values) > 1:
        return False
    if len(values) != row.arity and not (row.optional and not values):
        return False
    return not values or takes(row, values[0])


def _is_slip(one: str, other: str) -> bool:
    """Whether one letter to add, to take out, or to swap with the next parts *one* from *other*."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        rest = one[len(other) :] or other[len(one) :]
        return len(rest) == 1 and rest.isalpha()
    one, other = one[at:], other[at:]
    if one[:2] == other[1::-1]:
        return one[2:] == other[2:]
    return (one[1:] == other and one[0].isalpha()) or (one == other[1:] and other[0].isalpha())


def _letters(name: str) -> str:
    return _bare(name).replace("-", "")


def _bare(name: str) -> str:
    return name.lstrip("-").replace("_", "-").lower()
