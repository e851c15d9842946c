"""What a real llama-server itself does with a command: the referee of every verdict."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["refused", "crashed", "plain", "ruined", "drafting"]
RUINED = 0.3
"""An acceptance below it, where 1.0 was due, is no drafting worth the name."""
_ERROR = re.compile(r"\berror\b| E ")
_PROMPT = "w1 w2 w3 w4 w5 w6 w7 w8"


@dataclass(frozen=True)
class Behaviour:
    """How it went: ``refused`` exits, ``crashed`` dies, the others answer."""

    kind: Kind
    log: str
    exit_code: int | None = None
    signal: str = ""
    drafted: int = 0
    accepted: int = 0


def behaviour(words: Sequence[str], environment: Mapping[str, str] | None = None) -> Behaviour:
    """Start *words* with host and port of ours, ask once, and say what came of it.

    Started again where somebody else was quicker to take the port, and where a server that exits
    at once lost the last lines of its log, as b10434 sometimes does.
    """
    for _ in range(3):
        found = _once(words, environment)
        mute = found.kind == "refused" and not _ERROR.search(found.log)
        if not mute and "couldn't bind" not in found.log:
            break
    return found


def _once(words: Sequence[str], environment: Mapping[str, str] | None) -> Behaviour:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    variables = dict(os.environ) | {"GGML_NO_BACKTRACE": "1"} | dict(environment or {})
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(
            [*words, "--host", "127.0.0.1", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=variables,
            start_new_session=True,
        )
        timings: dict[str, Any] | None = None
        try:
            if _ready(server, port):
                timings = _ask(port)
            if timings is None:
                server.wait(timeout=60)
        finally:
            ended = server.poll()
            if ended is None:
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        log.seek(0)
        said = log.read().decode(errors="replace")
    if timings is None:
        assert ended is not None
        if ended < 0:
            return Behaviour("crashed", said, signal=signal.Signals(-ended).name)
        return Behaviour("refused", said, exit_code=ended)
    drafted, accepted = timings.get("draft_n", 0), timings.get("draft_n_accepted", 0)
    kind: Kind = "plain"
    if drafted:
        kind = "drafting" if accepted / drafted >= RUINED else "ruined"
    return Behaviour(kind, said, drafted=drafted, accepted=accepted)


def _ready(server: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + 90
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return True
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            pass
        time.sleep(0.02)
    return False


def _ask(port: int) -> dict[str, Any] | None:
    body = json.dumps({"prompt": _PROMPT, "n_predict": 64, "temperature": 0}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            timings = json.load(answer)["timings"]
    except (OSError, KeyError):
        return None
    assert isinstance(timings, dict)
    return timings
