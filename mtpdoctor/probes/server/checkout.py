"""The git checkout that a server was built in, if it still lies there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from mtpdoctor.probes.server.ask import ask

_DEADLINE = 3.0
_MOST_PARENTS = 8
_UPSTREAM = ("ggml-org/llama.cpp", "ggerganov/llama.cpp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """What git says of it."""

    folder: str
    commit: str
    day: date
    """The commit date, UTC."""
    count: int | None
    """Commits up to it, which is the build number; ``None`` in a shallow clone or in a fork's."""


def beside(executable: str, commit: str, environment: Mapping[str, str]) -> Checkout | None:
    """Return the checkout that *executable* was built from; ``None`` where that is not certain.

    Its HEAD must be the *commit* that the server prints. Where it prints none, it must have been
    built since HEAD last moved.
    """
    top = _top(executable)
    git = shutil.which("git", path=environment.get("PATH"))
    if top is None or git is None:
        return None
    quiet = {
        **{name: value for name, value in environment.items() if not name.startswith("GIT_")},
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",  # static means no network
    }

    def say(*words: str) -> str:
        answer = ask([git, "-C", str(top), *words], quiet, _DEADLINE)
        return answer.out.decode("utf-8", "replace").strip() if answer.ok else ""

    lines = say("rev-list", "--max-count=1", "--format=%H%n%cI", "HEAD").split("\n")
    if len(lines) != 3:
        return None
    head = lines[1].strip().lower()
    try:
        day = datetime.fromisoformat(lines[2].strip()).astimezone(UTC).date()
    except ValueError:
        return None
    if not (head.startswith(commit) if commit else _built_since(executable, top)):
        return None
    urls = say("config", "--get-regexp", r"^remote\..*\.url$")
    ours = any(url.rstrip("/").removesuffix(".git").endswith(_UPSTREAM) for url in urls.split("\n"))
    whole = ours and say("rev-parse", "--is-shallow-repository") == "false"
    count = say("rev-list", "--count", "HEAD") if whole else ""
    return Checkout(
        folder=str(top), commit=head, day=day, count=int(count) if count.isdecimal() else None
    )


def _top(executable: str) -> Path | None:
    """Return the checkout of llama.cpp that a file lies in, and of nothing else."""
    for folder in Path(executable).parents[:_MOST_PARENTS]:
        if (folder / ".git").exists():
            named = (folder / "include" / "llama.h").is_file() and (folder / "ggml").is_dir()
            return folder if named else None
    return None


def _built_since(executable: str, top: Path) -> bool:
    try:
        return os.stat(executable).st_mtime > (top / ".git" / "logs" / "HEAD").stat().st_mtime  # noqa: PTH116
    except OSError:
        return False
