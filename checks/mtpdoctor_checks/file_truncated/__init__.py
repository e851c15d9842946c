"""Whether the files are there to their last byte."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Drafter, Evidence, Finding, Target, check, known
from mtpdoctor.gguf import Cause
from mtpdoctor.visible import visible
from mtpdoctor_checks.pair import files


@check("file-truncated", "a model file ends too early", after=["file-not-found", "not-a-gguf"])
def file_truncated(target: Target | None, drafter: Drafter | None) -> Iterator[Finding]:
    models = files(target, drafter)
    for model in models:
        trouble = model.trouble
        if trouble is not None and trouble.cause in {Cause.TRUNCATED, Cause.OUT_OF_FILE}:
            yield Finding(
                says=(
                    f"{visible(model.named)} ({model.origin}) is not complete: "
                    "the file ends before its tensors do\nllama-server refuses to load it."
                ),
                about=visible(model.named),
                evidence=(Evidence(trouble.says),),
                fixes=(Advice(trouble.hint or "complete the download"),),
            )
    for model in models:
        if model.trouble is None:
            known(model.header)
