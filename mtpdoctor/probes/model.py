"""The two files that a command names, found as llama-server finds them, and their headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from mtpdoctor import gguf
from mtpdoctor.facts import Drafter, HubRepo, Launch, Model, Option, Target, Trouble, Unknown
from mtpdoctor.probes import hub, pick

M = TypeVar("M", bound=Model)

_MODEL = ("-m", "--model")
_URL = ("-mu", "--model-url")
_DOCKER = ("-dr", "--docker-repo")
_REPO = ("-hf", "-hfr", "--hf-repo")
_FILE = ("-hff", "--hf-file")
_DRAFT = ("-md", "--model-draft", "--spec-draft-model")
_DRAFT_REPO = ("-hfd", "-hfrd", "--hf-repo-draft", "--spec-draft-hf")
_TYPE = ("--spec-type",)
_OFFLINE = ("--offline",)
_NAMING = (_MODEL, _URL, _DOCKER, _REPO, _FILE, _DRAFT, _DRAFT_REPO, _TYPE, _OFFLINE)
# Flags that stand for a whole model: --gpt-oss-20b-default, --fim-qwen-7b-spec.
_PRESET = re.compile(r"--[a-z0-9.-]+-(?:default|spec)")

_PRESETS = "preset.ini"
"""At the root of a repository: the server starts as a router for what it lists."""
FOUND = "found beside the target of -hf"
"""The origin of a drafter that nothing in the command names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What one command loads."""

    target: Target | None = None
    """``None`` when the command names no model."""
    drafter: Drafter | None = None
    """``None`` when there is none in a file of its own, as far as the local cache can tell."""
    hub: HubRepo | None = None
    """The repository of ``-hf``; its revision says why where nothing of it is cached."""
    seconds: float = 0.0


def probe(launch: Launch, environment: Mapping[str, str]) -> Models:
    """Find and read both files. Never raises, never touches the network.

    *environment* is the whole one of the server: it says where its cache is.
    """
    started = perf_counter()
    search = _Search(launch, environment)
    repo = search.repo()
    target = search.target(repo)
    drafter = search.drafter(repo, target)
    return Models(target=target, drafter=drafter, hub=repo, seconds=perf_counter() - started)


def names(launch: Launch) -> tuple[object, ...]:
    """Return what decides which files are loaded; equal for commands that load the same."""
    uses = tuple(tuple((use.values, use.negated) for use in _uses(launch, n)) for n in _NAMING)
    return (*uses, _preset(launch))


@dataclass(frozen=True, slots=True)
class _Search:
    """One command, and the environment that says where its cache is."""

    launch: Launch
    environment: Mapping[str, str]

    def repo(self) -> HubRepo | None:
        option = self._last(_REPO)
        if option is None:
            return None
        named, _ = pick.split(_value(option))
        cached = hub.cached(named, self.environment)
        return HubRepo(repo=named, revision=cached) if isinstance(cached, Unknown) else cached

    def target(self, repo: HubRepo | None) -> Target | None:
        """Read the model that is served: ``-hf`` outranks ``-mu`` and ``-dr``, and those ``-m``."""
        option = self._last(_REPO)
        if repo is not None and option is not None:
            file = _pick(repo, option, _value(self._last(_FILE)))
            return self._from_repo(Target, option, repo, file)
        for option in (self._last(_URL), self._last(_DOCKER)):
            if option is not None:
                return _lost(Target, option, Unknown("the server downloads it by itself"))
        if option := self._last(_MODEL):
            return _read(Target, _value(option), _origin(option), _value(option))
        if option := _preset(self.launch):
            return _lost(Target, option, Unknown("the server alone knows which model that is"))
        return None

    def drafter(self, repo: HubRepo | None, target: Target | None) -> Drafter | None:
        """Read the drafter: ``-hfd``, ``-md``, or the one found beside the target of ``-hf``."""
        given = self._last(_DRAFT)
        if option := self._last(_DRAFT_REPO):
            return self._from_draft_repo(option, _value(given), target)
        if given:
            return _read(Drafter, _value(given), _origin(given), _value(given))
        option = self._last(_REPO)
        # Asked for another kind of drafting, or for none, the server does not look for one.
        if repo is None or option is None or "draft-mtp" not in self._types():
            return None
        main = _pick(repo, option, _value(self._last(_FILE)))
        found = _beside(repo, option, main)
        return self._from_repo(Drafter, option, repo, found, FOUND) if found else None

    def _from_draft_repo(self, option: Option, chosen: str, target: Target | None) -> Drafter:
        named, _ = pick.split(_value(option))
        cached = hub.cached(named, self.environment)
        if isinstance(cached, Unknown):
            return _lost(Drafter, option, cached)
        main = _pick(cached, option, chosen)
        types = self._types()
        # Asked for MTP, or for nothing in particular, it prefers the repository's own drafter.
        wants = not chosen and (not types or "draft-mtp" in types)
        beside = _beside(cached, option, main) if wants else None
        drafter = self._from_repo(Drafter, option, cached, beside or main)
        if wants and beside is None and target is not None and drafter.path == target.path:
            # The hub may well have the drafter that the cache has not.
            says = f"the local cache has no {pick.DRAFTER}*.gguf of {named}"
            return _lost(Drafter, option, Unknown(says))
        return drafter

    def _from_repo(
        self, kind: type[M], option: Option, repo: HubRepo, file: str | None, origin: str = ""
    ) -> M:
        offline = self.launch.has("--offline")
        why: str | Unknown = ""
        if isinstance(repo.revision, Unknown):
            why = repo.revision
        elif _PRESETS in repo.files:
            why = f"{repo.repo} holds a preset, not one model"
        elif file is None:
            why = f"no model in the local cache of {repo.repo} is the one that is asked for"
            why += "" if offline else "; only a smoke run may download it"
        elif file in repo.unfinished and not offline:
            why = f"{file} of {repo.repo} has not been downloaded completely"
        else:
            named = f"{repo.repo}/{file}" if origin else _value(option)
            place = hub.path(repo, file, self.environment)
            return _read(kind, named, origin or _origin(option), place)
        return _lost(kind, option, why if isinstance(why, Unknown) else Unknown(why), origin)

    def _types(self) -> frozenset[str]:
        """Return the kinds of drafting that are asked for; repeated flags add up."""
        values = ",".join(value for use in _uses(self.launch, _TYPE) for value in use.values)
        return frozenset(part.strip() for part in values.split(",")) - {"none", ""}

    def _last(self, spellings: tuple[str, ...]) -> Option | None:
        """Return the use that counts: the last one that has a value."""
        uses = _uses(self.launch, spellings)
        return next((use for use in reversed(uses) if use.values), None)


def _listed(repo: HubRepo) -> tuple[str, ...]:
    """Return the files that the server would see, those without their data included."""
    return tuple(sorted({*repo.files, *repo.unfinished}))


def _pick(repo: HubRepo, option: Option, chosen: str) -> str | None:
    """Return the model of *repo*: the file that is *chosen* by name, or by the tag.

    Later builds also take the name in another case; then the cache alone does not decide.
    """
    files = _listed(repo)
    if chosen:
        return chosen if chosen in files else None
    return pick.model(files, _tag(option))


def _beside(repo: HubRepo, option: Option, main: str | None) -> str | None:
    """Return the drafter that the server finds for *main*; with a preset it does not look."""
    if _PRESETS in repo.files:
        return None
    return pick.drafter(_listed(repo), main or "", _tag(option))


def _read(kind: type[M], named: str, origin: str, path: str) -> M:
    """Read the header of the file at *path*, which is taken as it stands."""
    try:
        header = gguf.read(path)
    except gguf.GGUFError as error:
        missing = error.cause is gguf.Cause.MISSING
        trouble = Trouble(
            cause=error.cause,
            says=error.says,
            hint=_home() if missing and path.startswith("~") else error.hint,
            offset=error.offset,
        )
        return kind(
            named=named, origin=origin, path=path, trouble=trouble, header=Unknown(error.says)
        )
    return kind(named=named, origin=origin, path=path, header=header)


def _home() -> str:
    return (
        "llama-server takes ~ for a folder of that name; the shell makes it your home"
        " folder only where it is not quoted: write the whole path"
    )


def _lost(kind: type[M], option: Option, why: Unknown, origin: str = "") -> M:
    named = _value(option) or option.spelled
    return kind(named=named, origin=origin or _origin(option), path=why, header=why)


def _uses(launch: Launch, spellings: tuple[str, ...]) -> list[Option]:
    return [
        option
        for option in launch.options
        if option.spelled in spellings
        or (option.flag is not None and not set(spellings).isdisjoint(option.flag.names))
    ]


def _preset(launch: Launch) -> Option | None:
    listed = (option for option in launch.options if option.flag is not None)
    return next((option for option in listed if _PRESET.fullmatch(option.spelled)), None)


def _tag(option: Option) -> str:
    return pick.split(_value(option))[1]


def _value(option: Option | None) -> str:
    return "" if option is None else option.value or ""


def _origin(option: Option) -> str:
    return option.env or option.spelled
