"""Where the program is that the command names."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from mtpdoctor.facts import Unknown
from mtpdoctor.visible import visible

_MOST_FOLDERS = 256
_MOST_ENTRIES = 20_000
_MOST_NEAR = 5
_SHOWN_FOLDERS = 8


def find(named: str, environment: Mapping[str, str]) -> str | Unknown:
    """Return the path of *named*: as given if it has a folder in it, else searched on PATH.

    The file need not be executable; why it does not start is another question.
    """
    if not named.strip() or "\0" in named:
        return Unknown("no program is named")
    if os.path.dirname(named):  # noqa: PTH120  Path drops the "./" that tells a path from a name
        return _given(named, environment)
    path = environment.get("PATH", os.defpath)
    found = shutil.which(named, path=path)
    if found is not None:
        return os.path.abspath(found)  # noqa: PTH100  a link keeps its name
    folders = [folder for folder in path.split(os.pathsep) if folder][:_MOST_FOLDERS]
    return Unknown(
        f"no `{visible(named, 200)}` in {_folders(folders)}"
        + _hint(named, near(named, folders), "; there is ")
        + (
            f"; there is one in this folder: write {os.path.join('.', named)}"  # noqa: PTH118
            if os.path.isfile(named)  # noqa: PTH113  which takes any name
            else ""
        )
    )


def _given(named: str, environment: Mapping[str, str]) -> str | Unknown:
    path = Path(named)
    if named.startswith("~/") and "HOME" in environment:
        path = Path(environment["HOME"], named[2:])
    candidates = [path]
    if sys.platform == "win32" and not path.suffix:
        endings = environment.get("PATHEXT", ".EXE").split(os.pathsep)
        candidates = [*(path.with_name(path.name + ending) for ending in endings), path]
    try:
        for candidate in candidates:
            if candidate.is_file():
                return os.path.abspath(candidate)  # noqa: PTH100  a link keeps its name
        if path.is_dir():
            inside = near("llama-server", [str(path), str(path / "bin"), str(path / "build/bin")])
            return Unknown(f"{visible(named)} is a folder" + _hint("", inside, "; in it there is "))
    except (OSError, ValueError) as error:
        return Unknown(f"{visible(named)} cannot be looked at: {visible(str(error))}")
    folder = path.parent
    if not folder.is_dir():
        return Unknown(f"no {visible(named)}: there is no folder {visible(str(folder))}")
    return Unknown(
        f"no file {visible(named)}"
        + _hint(path.name, near(path.name, [str(folder)]), "; there is ")
    )


def near(named: str, folders: list[str]) -> tuple[str, ...]:
    """Return the names in *folders* that may be what was meant."""
    names = dict.fromkeys(
        name for folder in folders for name in _names(folder) if name.startswith("llama")
    )
    stem = named.lower().removesuffix(".exe")
    likely = [
        name for name in names if name.startswith("llama-server") or name in {"llama", "llama.exe"}
    ]
    close = difflib.get_close_matches(stem, names, n=_MOST_NEAR, cutoff=0.8)
    return tuple(visible(name, 100) for name in dict.fromkeys((*likely, *close)) if name != named)[
        :_MOST_NEAR
    ]


def _names(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                yield entry.name
    except OSError:
        return


def _folders(folders: list[str]) -> str:
    if not folders:
        return "PATH, which is empty"
    shown = ", ".join(visible(folder, 200) for folder in folders[:_SHOWN_FOLDERS])
    more = f" and {len(folders) - _SHOWN_FOLDERS} more" if len(folders) > _SHOWN_FOLDERS else ""
    return f"the folders of PATH ({shown}{more})"


def _hint(named: str, names: tuple[str, ...], says: str) -> str:
    """Say which names are near; `llama` is a llama-server when it is called with `serve`."""
    if not names:
        return ""
    told = (f"{name} (as `llama serve`)" if name == "llama" else name for name in names)
    return says + ", ".join(told) if named or names else ""
