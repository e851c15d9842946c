"""What a smoke run does, as data: the rounds, the requests, and each server's command."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from mtpdoctor.facts import ArmName, Launch
from mtpdoctor.launch import environment_for, without

HOST = "127.0.0.1"
KEY_VARIABLE = "LLAMA_API_KEY"
"""Every build takes its key from here, so that it never stands in a process list."""

OURS = frozenset(
    {
        # where the server listens and who may ask it
        "--host",
        "--port",
        "--reuse-port",
        "--api-key",
        "--api-key-file",
        "--api-prefix",
        "--ssl-key-file",
        "--ssl-cert-file",
        # would overwrite the user's files, or hide what the diagnosis is read from
        "--log-file",
        "--log-disable",
        "--log-prompts-dir",
    }
)
"""Flags of the user's command that are left out: nothing that reaches the model is among them."""
_LOG_VARIABLE = "LLAMA_LOG_FILE"
"""How builds before the prefix ``LLAMA_ARG_`` named it."""
_MARGIN = 64
"""Tokens of the context that stay free beside prompt and answer: room for drafts."""

_STORY = (
    "Write the story of a lighthouse keeper who finds a letter in a bottle. "
    "Tell it slowly and in detail, in at least four hundred words."
)
_LONG = "Sum up this list of a ship's stores in one sentence.\n" + "\n".join(
    f"Chest {number}: {number * 7 % 90 + 3} {goods}, stowed on deck {number % 4 + 1}."
    for number, goods in enumerate(
        ("ropes", "lamps", "barrels of oil", "sails", "bolts of cloth", "charts", "bells") * 15, 1
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One kind of request."""

    name: str
    text: str
    """What the user says; put into the model's chat template where it has one."""
    predict: int
    """Tokens to generate; a model that ends its answer earlier gives a short sample."""
    free: bool = False
    """Counts for speed, acceptance and parity; the others judge health alone."""
    cached: bool = False
    """Whether the prompt may come from the cache of an earlier request."""
    parallel: int = 1
    """How many are sent at once; left out where the server has fewer slots, or no room."""
    prompt: int = 0
    """Tokens to cut the prompt to; 0 for all of it."""
    repeats: int = 1
    """How often at most, while the free samples are shorter than they could be."""


WARM_UP = Ask(name="warm-up", text=_STORY, predict=16)
REQUESTS = (
    Ask(name="long-prompt", text=_LONG, predict=32, prompt=1200),
    Ask(name="generate", text=_STORY, predict=128, free=True),
    Ask(name="again", text=_STORY, predict=128, free=True, cached=True, repeats=5),
    Ask(name="parallel", text=_STORY, predict=64, parallel=2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a smoke run is to be made."""

    timeout: float = 300.0
    """Seconds that a server may take to become ready, unless it is still reading or writing."""
    request_timeout: float = 300.0
    """Seconds that one answer may take."""
    rounds: tuple[ArmName, ...] = ("plain", "mtp")
    """One start of a server each."""
    sure_above: float = 1.2
    """A smaller speed-up may be a busy machine's doing: the rounds are run once more, backwards."""
    warm_up: Ask = WARM_UP
    requests: tuple[Ask, ...] = REQUESTS
    sample_seconds: float = 3.0
    """Free generation is repeated up to this length, for a steady median on fast models."""
    min_acceptance: float | None = None
    min_speedup: float | None = None
    corrected: bool = False
    """Whether the command is one that fixes were applied to; noted in each attempt."""

    @property
    def steps(self) -> int:
        """How many stages the whole run announces."""
        return len(self.rounds) * (len(self.requests) + 4)  # start, wait, warm-up, …, stop


def free_port() -> int:
    """Return a port of the loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_taken(port: int) -> bool:
    """Whether somebody listens on *port* of the loopback."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return True
    return False


def command(launch: Launch, *, binary: str, port: int) -> tuple[str, ...]:
    """Return the words of *launch* with host and port of ours in place of the user's."""
    kept = without(launch, OURS).words[1:]
    return (binary, *kept, "--host", HOST, "--port", str(port))


def environment(
    launch: Launch, *, key: str, inherited: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables of the server: *inherited* ones, and *launch*'s own settings.

    Without ``GGML_NO_BACKTRACE`` a failed assertion attaches a debugger, which can take minutes.
    """
    surrounding = os.environ if inherited is None else inherited
    found = {"GGML_NO_BACKTRACE": "1"} | environment_for(without(launch, OURS), surrounding)
    found.pop(_LOG_VARIABLE, None)
    return found | {KEY_VARIABLE: key}


def fits(ask: Ask, prompt: int, context: int | None, *, shared: bool) -> bool:
    """Whether a KV cache of *context* tokens a slot holds all that *ask* sends at once.

    Where it is *shared* (unified), the slots have those tokens together.
    """
    if context is None or ask.parallel == 1:
        return True
    each = min(ask.prompt or prompt, prompt) + ask.predict + _MARGIN
    return each * (ask.parallel if shared else 1) <= context


def body(ask: Ask, prompt: tuple[int, ...], context: int | None) -> dict[str, object]:
    """Return the greedy ``/completion`` request for *prompt*, cut to what *context* holds."""
    most = min(ask.prompt or len(prompt), len(prompt))
    if context is not None:
        most = min(most, max(1, context - ask.predict - _MARGIN))
    return {
        "prompt": list(prompt[:most]),
        "n_predict": ask.predict,
        "temperature": 0,
        "top_k": 1,
        "mirostat": 0,
        "seed": 1,
        "cache_prompt": ask.cached,
        "return_tokens": True,
        "stream": False,
    }
