"""What a real server does with a case: started once, asked once, and remembered."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from differential.servers import STORE, Server

Kind = Literal["refused", "crashed", "failing", "plain", "ruined", "drafting"]
KINDS: tuple[Kind, ...] = ("refused", "crashed", "failing", "plain", "ruined", "drafting")
RUINED = 0.3
"""An acceptance below it, where 1.0 was due, is no drafting worth the name."""
_PROMPT = "w1 w2 w3 w4 w5 w6 w7 w8"
_READY, _ANSWER = 60.0, 60.0


@dataclass(frozen=True)
class Outcome:
    """``refused`` exits, ``crashed`` dies of a signal, ``failing`` answers no request."""

    kind: Kind
    drafted: int = 0
    accepted: int = 0
    exit_code: int | None = None
    says: str = ""
    """The decisive line of the log, as well as it can be guessed."""


def outcome(
    server: Server, words: Sequence[str], folder: Path, environment: dict[str, str]
) -> Outcome:
    """Return what came of it, from the store if it was ever seen."""
    place = STORE / "outcomes" / server.key / f"{_key(words, folder, environment)}.json"
    try:
        return Outcome(**json.loads(place.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        pass
    seen = _real(server, words, environment)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(f".{os.getpid()}.{id(seen)}")
    draft.write_text(json.dumps(asdict(seen)), "utf-8")
    draft.replace(place)
    return seen


def _key(words: Sequence[str], folder: Path, environment: dict[str, str]) -> str:
    files = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    plain = [word.replace(str(folder), "") for word in words]
    ours = {key: value.replace(str(folder), "") for key, value in environment.items()}
    return hashlib.sha256(repr((1, files, plain, ours)).encode()).hexdigest()[:32]


def _real(server: Server, words: Sequence[str], environment: dict[str, str]) -> Outcome:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [server.binary, *words, "--host", "127.0.0.1", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=server.environment | environment,
            start_new_session=True,
        )
        timings: dict[str, Any] | None = None
        try:
            if _ready(process, port):
                timings = _ask(port)
            if timings is None:  # it may be about to die
                until = time.monotonic() + 2
                while process.poll() is None and time.monotonic() < until:
                    time.sleep(0.02)
        finally:
            ended = process.poll()
            if ended is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        said = log.read().decode(errors="replace")
    if timings is None:
        kind: Kind = "failing" if ended is None else "crashed" if ended < 0 else "refused"
        return Outcome(kind, exit_code=ended, says=_decisive(said))
    drafted, accepted = timings.get("draft_n", 0), timings.get("draft_n_accepted", 0)
    kind = "plain"
    if drafted:
        kind = "drafting" if accepted / drafted >= RUINED else "ruined"
    return Outcome(kind, drafted, accepted)


def _decisive(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    marks = ("GGML_ASSERT", "GGML_ABORT", "error loading model:", "error while handling", "error:")
    for mark in marks:
        for line in lines:
            if mark in line and "memory fitting" not in line:
                return line[-240:]
    faults = [line for line in lines if " E " in line and "memory fitting" not in line]
    return (faults or lines or [""])[0][-240:]


def _ready(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + _READY
    while process.poll() is None and time.monotonic() < deadline:
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
        with urllib.request.urlopen(request, timeout=_ANSWER) as answer:
            timings = json.load(answer)["timings"]
    except urllib.error.HTTPError as error:
        error.close()
        return None
    except (OSError, KeyError, ValueError):
        return None
    assert isinstance(timings, dict)
    return timings
