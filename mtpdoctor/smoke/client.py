"""Asking a llama-server on the loopback: bounded answers, bounded time, no proxy."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from mtpdoctor.smoke.log import clean

MOST = 8 << 20
"""Bytes of an answer that are read; the longest expected one has some 100 KiB."""
_PIECE = 64 << 10
_OK = 200
_SAYS = 300


class Lost(Exception):  # noqa: N818  an answer among others
    """The connection could not be made, or ended before the answer did."""


class Late(Exception):  # noqa: N818
    """The answer did not come in time."""


class Refused(Exception):  # noqa: N818
    """The server answered, but not with what was asked for."""

    def __init__(self, says: str, status: int = _OK) -> None:
        super().__init__(says)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One server; every call makes a connection of its own and may come from any thread."""

    port: int
    key: str = field(repr=False)
    host: str = "127.0.0.1"

    def healthy(self, *, seconds: float = 2.0) -> bool:
        """Whether the model is loaded and the server ready."""
        try:
            self._call("GET", "/health", None, seconds, most=_PIECE)
        except (Lost, Late, Refused):
            return False
        return True

    def get(self, path: str, *, seconds: float) -> dict[str, Any]:
        return self._object("GET", path, None, seconds)

    def post(self, path: str, body: Mapping[str, object], *, seconds: float) -> dict[str, Any]:
        """Return the JSON object that *path* answers to *body* within *seconds*.

        Raises :exc:`Lost`, :exc:`Late` or :exc:`Refused`.
        """
        return self._object("POST", path, json.dumps(body).encode(), seconds)

    def _object(self, method: str, path: str, body: bytes | None, seconds: float) -> dict[str, Any]:
        text = self._call(method, path, body, seconds, most=MOST)
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            shown = clean(text[:_SAYS].decode("utf-8", "replace"), _SAYS)
            raise Refused(f"{path} did not answer with JSON: {shown}") from None
        if not isinstance(answer, dict):
            raise Refused(f"{path} answered with JSON, but not with an object")
        return answer

    def _call(self, method: str, path: str, body: bytes | None, seconds: float, most: int) -> bytes:
        deadline = monotonic() + seconds
        headers = {"Authorization": f"Bearer {self.key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        link = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        with closing(link):
            try:
                link.request(method, path, body, headers)
                response = link.getresponse()
                with closing(response):
                    text = _read(link, response, path, deadline, most)
            except TimeoutError:
                raise Late(f"no answer to {path} within {seconds:g} s") from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise Lost(clean(f"{path}: {str(error) or type(error).__name__}", _SAYS)) from None
        if response.status != _OK:
            raise Refused(_says(path, response.status, text), response.status)
        return text


def _read(
    link: http.client.HTTPConnection,
    response: http.client.HTTPResponse,
    path: str,
    deadline: float,
    most: int,
) -> bytes:
    text = bytearray()
    while True:
        left = deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        if link.sock is not None:
            link.sock.settimeout(left)
        piece = response.read1(_PIECE)
        if not piece:
            break
        text += piece
        if len(text) > most:
            raise Refused(f"the answer to {path} is longer than {most >> 20} MiB")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return bytes(text)


def _says(path: str, status: int, text: bytes) -> str:
    """Return the server's own words for what it refused."""
    try:
        message = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        message = text[:_SAYS].decode("utf-8", "replace")
    return clean(f"{path} answered {status}: {message}", _SAYS)
