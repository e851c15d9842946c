"""The local Hugging Face cache, read by its layout; the network is never touched.

    models--ORG--NAME/refs/main                    the commit of the newest snapshot
    models--ORG--NAME/snapshots/COMMIT/FILE        a link to ../../blobs/…, or the file itself
    models--ORG--NAME/blobs/…                      *.incomplete, *.downloadInProgress: unfinished

huggingface_hub and llama-server (since before it knew MTP) fill the same one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mtpdoctor.facts import HubRepo, Unknown
from mtpdoctor.visible import visible

_REPO = re.compile(r"\w+(?:[.-]\w+)*/\w+(?:[.-]\w+)*", re.ASCII)
_COMMIT = re.compile(r"[0-9A-Fa-f]{40}")
_LONGEST_REPO = 256
_MOST_FILES = 10_000
_UNFINISHED = (".incomplete", ".downloadInProgress")
# In llama-server's order; huggingface_hub has the same without the first.
_PLACES = (
    ("LLAMA_CACHE", ""),
    ("HF_HUB_CACHE", ""),
    ("HUGGINGFACE_HUB_CACHE", ""),
    ("HF_HOME", "hub"),
    ("XDG_CACHE_HOME", "huggingface/hub"),
    ("USERPROFILE" if os.name == "nt" else "HOME", ".cache/huggingface/hub"),
)


def folder(environment: Mapping[str, str]) -> Path:
    """Return where a llama-server with this *environment* keeps what it downloads."""
    for variable, below in _PLACES:
        if value := environment.get(variable):
            return Path(value) / below
    return Path(os.path.expanduser("~")) / ".cache/huggingface/hub"  # noqa: PTH111  never raises


def cached(repo: str, environment: Mapping[str, str]) -> HubRepo | Unknown:
    """Return what the cache holds of *repo* (``org/name``), or why nothing. Never raises."""
    if not is_repo(repo):
        return Unknown(f"{visible(repo, 80)!r} is no repository of the form user/model")
    place = _place(repo, environment)
    try:
        commit = _commit(place)
        if commit is None:
            return Unknown(_absent(repo, environment))
        snapshot = place / "snapshots" / commit
        names = sorted(_files(snapshot))
        files = [name for name in names if (snapshot / name).is_file()]
        unfinished = [name for name in names if name not in set(files)]
        unfinished += sorted(_blobs(place))
    except OSError as error:
        return Unknown(f"the local cache at {place} cannot be read: {error.strerror}")
    return HubRepo(
        repo=repo,
        revision=commit,
        files=tuple(name for name in files if name.endswith(".gguf") or name == "preset.ini"),
        unfinished=tuple(unfinished),
    )


def is_repo(repo: str) -> bool:
    """Whether *repo* is ``org/name`` as llama-server takes it; then it is safe in a path."""
    return len(repo) <= _LONGEST_REPO and _REPO.fullmatch(repo) is not None


def path(repo: HubRepo, file: str, environment: Mapping[str, str]) -> str:
    """Return where *file* of a cached *repo* lies."""
    assert not isinstance(repo.revision, Unknown)
    return str(_place(repo.repo, environment) / "snapshots" / repo.revision / file)


def _place(repo: str, environment: Mapping[str, str]) -> Path:
    return folder(environment) / f"models--{repo.replace('/', '--')}"


def _commit(place: Path) -> str | None:
    """Return the commit of ``refs/main``, or of the first other branch that has a snapshot."""
    refs = place / "refs"
    if not refs.is_dir():
        return None
    for ref in sorted(refs.iterdir(), key=lambda ref: (ref.name != "main", ref.name)):
        if not ref.is_file():
            continue
        with ref.open("rb") as file:
            commit = file.read(64).decode("ascii", "replace").strip()
        if _COMMIT.fullmatch(commit):
            return commit if (place / "snapshots" / commit).is_dir() else None
    return None


def _files(snapshot: Path) -> Iterator[str]:
    """Yield files and links of the snapshot, relative to it; links to folders are not entered."""
    count = 0
    for base, _, names in os.walk(snapshot):
        for name in names:
            count += 1
            if count > _MOST_FILES:
                return
            yield (Path(base) / name).relative_to(snapshot).as_posix()


def _blobs(place: Path) -> Iterator[str]:
    blobs = place / "blobs"
    for count, blob in enumerate(blobs.iterdir() if blobs.is_dir() else ()):
        if count > _MOST_FILES:
            return
        if blob.name.endswith(_UNFINISHED):
            yield f"blobs/{blob.name}"


def _absent(repo: str, environment: Mapping[str, str]) -> str:
    place = folder(environment)
    says = f"{repo} is not in the local cache at {place}"
    old = _older(repo, environment)
    if old is not None:
        says += f"; an older build left {old}, which builds that know MTP do not look for"
    return f"{says}; only a smoke run may download it"


def _older(repo: str, environment: Mapping[str, str]) -> Path | None:
    """Return a file that an old build kept in llama.cpp's own cache: ``org_name_FILE.gguf``."""
    for variable, below in (
        ("LLAMA_CACHE", ""),
        ("XDG_CACHE_HOME", "llama.cpp"),
        ("HOME", ".cache/llama.cpp"),
    ):
        if value := environment.get(variable):
            start = repo.replace("/", "_") + "_"
            try:
                names = sorted(os.listdir(Path(value) / below))  # noqa: PTH208  names will do
            except OSError:
                return None
            found = (name for name in names if name.startswith(start) and name.endswith(".gguf"))
            return next((Path(value) / below / name for name in found), None)
    return None
