"""What must not be shown: credentials, and the name of the user's home folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MASK = "***"
_SECRET_FLAG = re.compile(
    r"--?(?:hft|(?:[\w-]*[-_])?(?:token|api[-_]?keys?|secret|password|passwd))", re.IGNORECASE
)
_SECRET_VARIABLE = re.compile(
    r"(?:\w*_)?(?:TOKEN|API_?KEY|ACCESS_KEY|SECRET|PASSWORD|PASSWD|CREDENTIALS)(?:_\w*)?"
    r"|LLAMA_ARG_API_KEY",
    re.IGNORECASE,
)
_FILE_VARIABLE = re.compile(r".*_(?:FILE|PATH|N_MAX|TOKENS)", re.IGNORECASE)
_TOKENS = re.compile(r"\b(?:hf_[A-Za-z0-9]{8,}|gh[a-z]_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,})")
_BEARER = re.compile(r"\b(bearer|basic)(\s+|%20)[^\s\"',;&]+", re.IGNORECASE)
_USERINFO = re.compile(r"([a-z][a-z0-9+.-]{0,30}://)[^/\s@\"']{1,300}@", re.IGNORECASE)
_QUERY = re.compile(
    r"([?&](?:[\w-]*token|[\w-]*key|signature|x-amz-[\w-]+|sig|password)=)[^&\s\"'#]+",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(\"[\w-]*(?:authorization|token|api[_-]?key|secret|password)[\w-]*\"\s*:\s*\")"
    r"(?:[^\"\\]|\\.)+",
    re.IGNORECASE,
)

_NAME = r"[^\s/\\:*?\"'<>|,;)\]}`]+"
_SPACED = r"[^/\\:*?\"'<>|\r\n,;)\]}`]{1,60}?(?=[/\\])"
_BEFORE = r"(?:(?<![\w./\\~-])|(?<=file://))"
_HOMES = re.compile(
    rf"{_BEFORE}(?:"
    rf"(?:/home|/Users|/var/home|/mnt/[a-z]/Users|/[a-z]/Users)/{_NAME}"
    rf"|/root(?![\w.-])"
    rf"|[A-Za-z]:(?:[/\\]{{1,4}})Users(?:[/\\]{{1,4}})(?:{_SPACED}|{_NAME})"
    r")"
)


def masked(words: Iterable[str]) -> tuple[str, ...]:
    """Return *words* with credentials replaced by ``***``: API keys, tokens, passwords in URLs.

    Files that hold a key are no secret; their paths stay.
    """
    found: list[str] = []
    hide = False
    for word in words:
        name, equals, _ = word.partition("=")
        if hide:
            found.append(MASK)
            hide = False
        elif _SECRET_FLAG.fullmatch(name) and not equals:
            found.append(word)
            hide = True
        elif equals and (_SECRET_FLAG.fullmatch(name) or _names_secret(name)):
            found.append(f"{name}={MASK}")
        else:
            found.append(mask_text(word))
    return tuple(found)


def masked_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return *environment* with the values of credentials replaced by ``***``."""
    return {
        name: MASK if value and _names_secret(name) else mask_text(value)
        for name, value in environment.items()
    }


def mask_text(text: str) -> str:
    """Return *text* without what looks like a credential, wherever it stands."""
    text = _TOKENS.sub(MASK, text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    text = _USERINFO.sub(rf"\1{MASK}@", text)
    text = _QUERY.sub(rf"\1{MASK}", text)
    return _FIELD.sub(rf"\1{MASK}", text)


def redact(text: str, home: str = "") -> str:
    """Return *text* with home folders replaced by ``~``, whoever's they are.

    *home* is the user's own, wherever it lies; a text to paste in public should be given it.
    """
    home = home.rstrip("/\\")
    if len(home) > 1:
        text = re.sub(rf"{_BEFORE}{re.escape(home)}(?![\w.-])", "~", text)
    return _HOMES.sub("~", text)


def _names_secret(variable: str) -> bool:
    return (
        _SECRET_VARIABLE.fullmatch(variable) is not None
        and _FILE_VARIABLE.fullmatch(variable) is None
    )
