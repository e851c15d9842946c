"""Whether the files that the command names are there, and may be read."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Drafter, Evidence, Finding, Target, check, known
from mtpdoctor.gguf import Cause
from mtpdoctor_checks.pair import files

_CAUSES = {
    Cause.MISSING: "is not there",
    Cause.MISSING_PART: "is one part of a split model, and another part is not there",
    Cause.NOT_A_FILE: "is no file",
    Cause.PERMISSION: "may not be read by this user",
    Cause.UNREADABLE: "cannot be read",
}


@check("file-not-found", "a model file is not there, or may not be read")
def file_not_found(target: Target | None, drafter: Drafter | None) -> Iterator[Finding]:
    models = files(target, drafter)
    for model in models:
        if model.trouble is None:
            continue
        words = _CAUSES.get(Cause(model.trouble.cause))
        if words is not None:
            yield Finding(
                says=f"{model.named} ({model.origin}) {words}\nCheck the path that it is given by.",
                about=model.named,
                evidence=(Evidence(model.trouble.says),),
                fixes=(Advice(model.trouble.hint or f"correct the path after {model.origin}"),),
            )
    for model in models:
        known(model.path)
