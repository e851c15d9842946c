"""The drafters that lie beside a model in its repository, and which of them a server finds."""

from __future__ import annotations

from collections.abc import Iterable

from mtpdoctor import HubRepo, Target, Unknown

_MARK = "mtp-"
"""What the path of a drafter must hold, in lower case, to be found beside the model of -hf."""


def found(hub: HubRepo, target: Target | None) -> tuple[str, ...]:
    """Return the cached drafters that llama-server finds for *target*.

    It looks into the folders that the model lies in, from the root down; ``MTP/`` is none of
    those for a model at the root.
    """
    folders = _folders(_place(hub, target))
    drafters = ((file, _folders(file)) for file in _marked(hub))
    return tuple(file for file, own in drafters if folders[: len(own)] == own)


def unseen(hub: HubRepo, target: Target | None) -> tuple[str, ...]:
    """Return the cached drafters that llama-server passes over."""
    seen = found(hub, target)
    return tuple(file for file in _marked(hub) if file not in seen)


def _marked(hub: HubRepo) -> Iterable[str]:
    return [file for file in hub.files if file.endswith(".gguf") and _MARK in file]


def _place(hub: HubRepo, target: Target | None) -> str:
    """Return the model's path in the repository; that of a file at the root if it is unknown."""
    path = Unknown() if target is None else target.path
    if isinstance(path, Unknown):
        return ""
    path = path.replace("\\", "/")
    return next((file for file in hub.files if path.endswith(f"/{file}")), "")


def _folders(file: str) -> list[str]:
    return file.split("/")[:-1]
