"""The flag that was probably meant."""

from __future__ import annotations

import re

from mtpdoctor.facts import FlagTable

_NEAR = 0.78
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


def _bare(name: str) -> str:
    return name.lstrip("-").replace("_", "-").lower()
