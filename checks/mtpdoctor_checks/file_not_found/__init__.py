"""Whether the files that the command names are there, and may be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtpdoctor import (
    Advice,
    Drafter,
    Evidence,
    Finding,
    Model,
    Target,
    Unknown,
    check,
    known,
)
from mtpdoctor.gguf import Cause
from mtpdoctor.visible import visible
from mtpdoctor_checks.pair import files

_CAUSES = {
    Cause.MISSING: "is not there",
    Cause.MISSING_PART: "is one part of a split model, and another part is not there",
    Cause.NOT_A_FILE: "is no file",
    Cause.PERMISSION: "may not be read by this user",
    Cause.UNREADABLE: "cannot be read",
}
_GIVEN = re.compile(r"-\S+|LLAMA_ARG_\w+")
_REPO = re.compile(r"-hf|_HF", re.IGNORECASE)


@check("file-not-found", "a model file is not there, or may not be read")
def file_not_found(target: Target | None, drafter: Drafter | None) -> Iterator[Finding]:
    models = files(target, drafter)
    for model in models:
        finding = _empty(model) or _no_repository(model) or _trouble(model)
        if finding is not None:
            yield finding
    for model in models:
        known(model.path)


def _empty(model: Model) -> Finding | None:
    """Find that the value is empty; what stands for the name then is the flag itself."""
    if model.named not in {"", model.origin} or not _GIVEN.fullmatch(model.origin):
        return None
    what = "repository" if _is_repository(model.origin) else "path"
    return Finding(
        says=(
            f"the {what} after {model.origin} is empty\n"
            "A variable that is not set is the usual cause."
        ),
        about=model.origin,
        evidence=(Evidence(f"the command: {model.origin} ''"),),
        fixes=(Advice(f"give a {what} after {model.origin}"),),
    )


def _no_repository(model: Model) -> Finding | None:
    repo, path = model.named.partition(":")[0], model.path
    if not isinstance(path, Unknown) or not _is_repository(model.origin) or repo.count("/") == 1:
        return None
    return Finding(
        says=(
            f"{visible(model.named, 80)!r} ({model.origin}) is no repository\n"
            "llama-server takes user/model or user/model:QUANT, and stops here."
        ),
        about=model.origin,
        evidence=(
            Evidence("measured: invalid HF repo format, expected <user>/<model>[:quant]"),
            Evidence(path.reason),
        ),
        fixes=(Advice(f"give {model.origin} a repository of the form user/model"),),
    )


def _is_repository(origin: str) -> bool:
    return bool(_GIVEN.fullmatch(origin) and _REPO.search(origin))


def _trouble(model: Model) -> Finding | None:
    words = _CAUSES.get(Cause(model.trouble.cause)) if model.trouble is not None else None
    if model.trouble is None or words is None:
        return None
    named = visible(model.named)
    return Finding(
        says=f"{named} ({model.origin}) {words}\nCheck the path that it is given by.",
        about=named,
        evidence=(Evidence(model.trouble.says),),
        fixes=(Advice(model.trouble.hint or f"correct the path after {model.origin}"),),
    )
