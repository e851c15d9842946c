"""The words of a command before any server was asked: assignments, the program, its arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from mtpdoctor.errors import DoctorError
from mtpdoctor.launch.privacy import masked
from mtpdoctor.launch.quoting import shell
from mtpdoctor.launch.shipped import shipped

PROGRAM = "llama-server"
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_SERVER = re.compile(r"(?:.*[-_])?llama[-_]?server(?:[-_.].*)?", re.IGNORECASE)
_SPEAKS = re.compile(r"LLAMA_ARG_\w+")
_CREDENTIALS = frozenset({"HF_TOKEN", "LLAMA_API_KEY"})

_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl", "docker-compose", "distrobox"})
_WRAPPERS = """
sudo doas su env nohup numactl taskset systemd-run nice ionice chrt stdbuf time timeout setsid
exec command strace ltrace gdb lldb valgrind perf nsys ncu rocprof srun mpirun ssh wsl flatpak
snap xvfb-run firejail bwrap prime-run gamemoderun mangohud nix uvx uv pipx npx conda mamba
micromamba direnv bash sh zsh fish dash cmd powershell pwsh start screen tmux watch make just
"""
_OTHERS = """
ollama koboldcpp lms llamafile llama-swap ramalama vllm localai jan gpt4all
text-generation-launcher python python3 python2 py pypy3 node
"""
_ROUTER = ("--models-dir", "--models-preset")
_ROUTER_ENV = ("LLAMA_ARG_MODELS_DIR", "LLAMA_ARG_MODELS_PRESET")
_MODEL = frozenset(
    {
        "-m",
        "--model",
        "-mu",
        "--model-url",
        "-dr",
        "--docker-repo",
        "-hf",
        "-hfr",
        "--hf-repo",
    }
)
"""Flags after which a server does not start as a router: they name a model."""
PRINTS = {
    "-h": "its help",
    "--help": "its help",
    "--usage": "its help",
    "--version": "its version",
    "--list-devices": "its devices",
    "-cl": "the models in its cache",
    "--cache-list": "the models in its cache",
    "--completion-bash": "a script for bash",
}
"""Questions that a llama-server answers and then ends, wherever in the command they stand."""
_MODEL_ENV = ("MODEL", "MODEL_URL", "DOCKER_REPO", "HF_REPO")
_PRESET = re.compile(r"--[a-z0-9.-]+-(?:default|spec)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command taken apart without a flag table."""

    words: tuple[str, ...]
    """The program and its arguments; assignments are not among them."""
    start: int = 1
    """Index of the first argument: 1, or 2 for ``llama serve``."""
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Every variable that the server would read: inherited ones, then those typed before it."""
    inherited: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The share of it that the surrounding shell sets by itself."""

    @property
    def program(self) -> str:
        return self.words[0]

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[self.start :]


def split(words: Sequence[str], inherited: Mapping[str, str] | None = None) -> Command:
    """Take *words* apart: ``NAME=value`` before the program, the program, its arguments.

    *inherited* is the environment in which the user would run it; of it, only what llama-server
    reads is kept. Flags without a program mean ``llama-server``. Raises :exc:`DoctorError` for
    what is no plain start of one llama-server: a container, a wrapper, a router, another program.
    """
    given, rest = _assignments(tuple(words))
    kept = {name: value for name, value in (inherited or {}).items() if is_read(name)}
    if any("\0" in word for word in (*rest, *given.values())):
        raise DoctorError("the command holds a NUL character", "no program can be given one")
    if rest and rest[0].startswith("-"):
        rest = (PROGRAM, *rest)
    if not rest:
        raise DoctorError(
            "the command names no program", f"give it as you run it: {PROGRAM} -m FILE ..."
        )
    command = Command(
        words=rest,
        start=_start(rest),
        environment=MappingProxyType(kept | given),
        inherited=MappingProxyType(kept),
    )
    _refuse_question(command)
    _refuse_router(command)
    return command


def is_read(variable: str) -> bool:
    """Whether llama-server looks at an environment variable of this name for its settings."""
    return _SPEAKS.fullmatch(variable) is not None or variable in _CREDENTIALS


def _assignments(words: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    at = 0
    if len(words) > 1 and words[0] == "env" and not words[1].startswith("-"):
        at = 1  # env A=b llama-server: nothing but assignments
    found: dict[str, str] = {}
    while at < len(words) and (match := _ASSIGNMENT.fullmatch(words[at])) is not None:
        found[match[1]] = match[2]
        at += 1
    return found, words[at:]


def base_name(program: str) -> str:
    """Return the last part of a POSIX or Windows path, lower-case, without ``.exe``."""
    return re.split(r"[/\\]", program)[-1].lower().removesuffix(".exe")


def _start(words: tuple[str, ...]) -> int:
    name = base_name(words[0])
    if name == "llama":
        if len(words) > 1 and words[1] in {"serve", "server"}:
            return 2
        raise DoctorError("llama starts a server only as 'llama serve'", "give that command")
    if name in _CONTAINERS:
        raise DoctorError(
            f"the command runs llama-server inside a container ({name})",
            "install mtpdoctor in the container, or give the llama-server command of the host",
        )
    if name in _WRAPPERS.split():
        raise DoctorError(f"the command starts {name}, not llama-server", _inner(words))
    if name in _OTHERS.split() or re.fullmatch(r"python\d[\d.]*", name):
        raise DoctorError(
            f"{name} is not llama-server",
            "mtpdoctor examines llama.cpp's own server: llama-server -m FILE ...",
        )
    if len(words) == 1 and (one := _quoted(words[0])):
        raise DoctorError(
            "the command is one word", f"leave out the quotes around it: mtpdoctor -- {one}"
        )
    if name.startswith("llama-") and not _SERVER.fullmatch(name):
        raise DoctorError(f"{name} is not llama-server", f"give the {PROGRAM} command")
    return 1


def _inner(words: tuple[str, ...]) -> str:
    for at, word in enumerate(words[1:], 1):
        if _SERVER.fullmatch(base_name(word)) and " " not in word:
            return f"give that alone: mtpdoctor -- {shell(masked(words[at:]))}"
    return f"give the command that it starts: {PROGRAM} -m FILE ..."


def _quoted(word: str) -> str:
    """Return the command that was quoted as a whole into *word*, masked; empty if it is a path."""
    try:
        inside = shlex.split(word)
    except ValueError:
        return ""
    flags = [part for part in inside[1:] if part.startswith("-")]
    return shell(masked(inside)) if flags else ""


def _refuse_question(command: Command) -> None:
    """Refuse a command that starts no server; a word behind another flag may be its value."""
    values = 0
    for word in command.arguments:
        if values:
            values -= 1
            continue
        flag = word.replace("_", "-") if word.startswith("--") else word
        if flag in PRINTS:
            raise DoctorError(
                f"this command only prints {PRINTS[flag]} ({word})", f"leave {word} out"
            )
        row = shipped().find(flag)
        values = row.arity if row is not None and not row.optional else 0


def _refuse_router(command: Command) -> None:
    flags = [
        word.partition("=")[0].replace("_", "-") if word.startswith("--") else word
        for word in command.arguments
    ]
    named = any(
        flag in _MODEL or flag.partition("=")[0] in _MODEL or _PRESET.fullmatch(flag)
        for flag in flags
    ) or any(f"LLAMA_ARG_{name}" in command.environment for name in _MODEL_ENV)
    if named:  # --models-dir beside a model is looked at by no build
        return
    asked = next((flag for flag in flags if flag in _ROUTER), None) or next(
        (name for name in _ROUTER_ENV if name in command.environment), None
    )
    if asked is not None:
        raise DoctorError(
            f"the command starts a router ({asked}), which runs other servers",
            f"give the command of one model: {PROGRAM} -m FILE ...",
        )
    raise DoctorError(
        "the command names no model, so llama-server would start as a router",
        "add -m FILE or -hf REPO",
    )
