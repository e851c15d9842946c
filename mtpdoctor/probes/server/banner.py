"""The lines of ``--version``, in both of llama.cpp's formats and in those of its forks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mtpdoctor.visible import visible

# Up to b10380: ``version: 9536 (308f61c31)``.
_OLD = re.compile(r"version:\s*(\d{1,9})\s+\(([^)]{1,64})\)")
# From b10405 on: ``version: 0.1.0-dev (build 1, commit 7e4c0a9)``.
_NEW = re.compile(
    r"version:\s*v?(\d{1,4}\.\d{1,4}\.\d{1,4}[0-9A-Za-z.+-]{0,32})"
    r"\s+\(build\s+(\d{1,9}),\s*commit\s+([^)]{1,64})\)"
)
_COMMIT = re.compile(r"([0-9a-f]{7,40})(?:-dirty)?", re.IGNORECASE)
_BUILT = re.compile(r"built with\s", re.IGNORECASE)
_MOST_LINES = 20_000

FORKS = {
    "ik_llama": "ik_llama.cpp",
    "koboldcpp": "koboldcpp",
    "llamafile": "llamafile",
    "ollama": "ollama",
    "turboquant": "a turboquant fork",
    "rotorquant": "rotorquant",
    "opencoti": "opencoti",
    "vllm": "vLLM",
}
"""What a fork's own version text, or the folder it was built in, is told by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Banner:
    """What a server says of itself; empty where it says nothing."""

    lines: tuple[str, ...] = ()
    """Its version lines, without those of backends before them."""
    number: int | None = None
    commit: str = ""
    """Lower-case hexadecimal; empty where it prints ``unknown``."""
    version: str = ""
    """The semantic version, a suffix such as ``-dev`` included."""
    fork: str = ""
    """The fork that its own text names."""


def read(text: str) -> Banner:
    """Read what ``--version`` printed, both streams together; any text is taken."""
    lines = [line.strip() for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]]
    banner = Banner(fork=_fork(lines))
    for at, line in enumerate(lines):
        new, old = _NEW.match(line), _OLD.match(line)
        if new is None and old is None:
            continue
        if new is not None:
            version, number, commit = new.groups()
        else:
            assert old is not None
            version, (number, commit) = "", old.groups()
        built = lines[at + 1 : at + 2]
        shown = [line, *(each for each in built if _BUILT.match(each))]
        known = _COMMIT.fullmatch(commit.strip())
        return Banner(
            lines=tuple(visible(each, 200) for each in shown),
            number=int(number),
            commit=known[1].lower() if known else "",
            version=version,
            fork=banner.fork,
        )
    return banner


def _fork(lines: list[str]) -> str:
    """Return the fork that a line names; lines of backends only hold paths, and are passed over."""
    for line in lines:
        if not line.startswith(("load_backend:", "ggml_", "register_")):
            lower = line.lower()
            for mark, name in FORKS.items():
                if mark in lower:
                    return name
    return ""


def fork_of_path(parts: Iterable[str]) -> str:
    """Return the fork whose checkout a path leads through."""
    for part in parts:
        for mark in ("ik_llama", "koboldcpp", "llamafile", "turboquant", "rotorquant"):
            if part.lower().startswith(mark) or part.lower().endswith(mark):
                return FORKS[mark]
    return ""
