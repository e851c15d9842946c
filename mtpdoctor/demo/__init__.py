"""The built-in pair: a tiny Gemma 4 that counts, and a drafter that is right as often as asked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mtpdoctor import gguf

_RECIPE = ("acceptance.py", "blueprint.py", "builtin.py", "vocabulary.py", "walk.py")
"""The sources that decide what the files hold; a change of theirs makes new files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two model files that belong together."""

    target: Path
    drafter: Path


def write_pair(folder: Path, *, acceptance: float = 0.66) -> Pair:
    """Return the built-in pair in ``folder``, writing what is not there yet (110 MB, 0.3 s).

    ``acceptance`` is the share of drafted tokens that the target will accept at a draft depth of
    four, from 0 to 1. Files are named after all that decides their content, and appear complete
    or not at all, so a folder may be shared by any number of processes. Raises ``OSError``, and
    ``ValueError`` for an acceptance out of range.
    """
    drafted = f"{acceptance:.4f}"
    pair = Pair(
        target=folder / f"count-F32-{_digest('target')}.gguf",
        drafter=folder / f"mtp-count-F32-{_digest('drafter', drafted)}.gguf",
    )
    lacking = {path for path in (pair.target, pair.drafter) if not _is_whole(path)}
    if not lacking:
        return pair
    from mtpdoctor.demo import builtin  # numpy and gguf take 0.2 s to import

    folder.mkdir(parents=True, exist_ok=True)
    if pair.drafter in lacking:
        builtin.write_drafter(pair.drafter, float(drafted))
    if pair.target in lacking:
        builtin.write_target(pair.target)
        for old in folder.glob("count-F32-*.gguf"):
            if old != pair.target:
                old.unlink(missing_ok=True)  # of an older recipe
    return pair


def _is_whole(path: Path) -> bool:
    """Whether the file is there, with nothing of it cut off or overwritten at its head."""
    try:
        gguf.read(path)
    except gguf.GGUFError:
        return False
    return True


def _digest(*parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode())
    for name in _RECIPE:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:12]
