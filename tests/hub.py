"""A loopback hub: serves given files as one repository, as llama-server and huggingface_hub ask.

    with Hub("org/name", {"model.gguf": path}) as hub:
        subprocess.run(["llama-server", "-hf", "org/name"], env=os.environ | hub.environment(home))

It stands in for the network's edge alone: the programs that talk to it are the real ones.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_PIECE = 1 << 16


class Hub:
    """One repository on 127.0.0.1, from ``__enter__`` to ``__exit__``."""

    def __init__(
        self,
        repo: str,
        files: Mapping[str, Path | bytes],
        *,
        commit: str = "c0ffee" + "0" * 34,
        stall: Mapping[str, int] | None = None,
    ) -> None:
        """*stall* names files of which only so many bytes are sent; then the line goes quiet."""
        self.repo = repo
        self.files = dict(files)
        self.commit = commit
        self.stall = dict(stall or {})
        self.stalled = Event()
        """Set when a download has come to where it stalls."""
        self.closing = Event()
        self.requests: list[str] = []
        """Method and path of each request, in order."""
        self._oids = {name: _sha256(content) for name, content in self.files.items()}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def environment(self, home: Path) -> dict[str, str]:
        """Return the variables with which a program asks this hub, and caches below *home*."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def size(self, name: str) -> int:
        content = self.files[name]
        return len(content) if isinstance(content, bytes) else content.stat().st_size

    def oid(self, name: str) -> str:
        """Return the SHA-256 of a file, which names its blob in every cache."""
        return self._oids[name]

    def read(self, name: str, start: int, length: int) -> bytes:
        content = self.files[name]
        if isinstance(content, bytes):
            return content[start : start + length]
        with content.open("rb") as file:
            file.seek(start)
            return file.read(length)

    def answer(self, path: str) -> Any:
        """Return the JSON for a path of the API; ``None`` for one that does not exist."""
        known = (self.commit, "main")
        about = {
            "id": self.repo,
            "modelId": self.repo,
            "sha": self.commit,
            "private": False,
            "gated": False,
            "disabled": False,
            "tags": ["gguf"],
            "siblings": [{"rfilename": name} for name in sorted(self.files)],
        }
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": self.commit}
        match path.removeprefix(f"/api/models/{self.repo}").strip("/").split("/"):
            case [""]:
                return about
            case ["refs"]:
                return {"branches": [main], "tags": [], "converts": []}
            case ["revision", revision] if revision in known:
                return about
            case ["tree", revision, *_] if revision in known:
                return [self._entry(name) for name in sorted(self.files)]
        return None

    def _entry(self, name: str) -> dict[str, Any]:
        size = self.size(name)
        oid = self.oid(name)
        pointer = {"oid": oid, "size": size, "pointerSize": 134}
        return {"type": "file", "path": name, "size": size, "oid": oid[:40], "lfs": pointer}


def _sha256(content: Path | bytes) -> str:
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._respond(body=False)

        def do_GET(self) -> None:
            self._respond(body=True)

        def log_message(self, *_: Any) -> None:
            """Print nothing; ``hub.requests`` has it all."""

        def _respond(self, *, body: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.requests.append(f"{self.command} {path}")
            if path.startswith(f"/api/models/{hub.repo}"):
                answer = hub.answer(path)
                if answer is None:
                    self._refuse("RevisionNotFound")
                else:
                    self._json(HTTPStatus.OK, answer)
                return
            start = f"/{hub.repo}/resolve/"
            revision, _, name = path.removeprefix(start).partition("/")
            if not path.startswith(start):
                self._refuse("RepoNotFound")
            elif revision not in {hub.commit, "main"} or name not in hub.files:
                self._refuse("EntryNotFound")
            else:
                self._file(name, body=body)

        def _refuse(self, code: str) -> None:
            self._json(HTTPStatus.NOT_FOUND, {"error": code}, {"X-Error-Code": code})

        def _json(
            self, status: HTTPStatus, answer: Any, headers: Mapping[str, str] | None = None
        ) -> None:
            raw = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            for header, value in (headers or {}).items():
                self.send_header(header, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(raw)

        def _file(self, name: str, *, body: bool) -> None:
            size = hub.size(name)
            first, last = 0, size - 1
            part = _RANGE.fullmatch(self.headers.get("Range", ""))
            if part:
                first = int(part[1])
                last = min(last, int(part[2] or last))
            if part and first > last:
                self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
                self.send_header("Content-Range", f"bytes */{size}")
                self.end_headers()
                return
            self.send_response(HTTPStatus.PARTIAL_CONTENT if part else HTTPStatus.OK)
            if part:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            for header, value in (
                ("Content-Type", "application/octet-stream"),
                ("Content-Length", str(last - first + 1)),
                ("Accept-Ranges", "bytes"),
                ("ETag", f'"{hub.oid(name)}"'),
                ("X-Linked-ETag", f'"{hub.oid(name)}"'),
                ("X-Linked-Size", str(size)),
                ("X-Repo-Commit", hub.commit),
            ):
                self.send_header(header, value)
            self.end_headers()
            if body:
                self._send(name, first, min(last + 1, hub.stall.get(name, size)))

        def _send(self, name: str, first: int, end: int) -> None:
            try:
                for at in range(first, end, _PIECE):
                    self.wfile.write(hub.read(name, at, min(_PIECE, end - at)))
                if name in hub.stall:
                    self.wfile.flush()
                    hub.stalled.set()
                    hub.closing.wait()
            except (BrokenPipeError, ConnectionResetError):
                pass  # the program went away, as when it is stopped during a download

    return Handler
