"""Whether the files are GGUF files that llama.cpp gets past the header of."""

from __future__ import annotations

import sys
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
    Cause.EMPTY: "is empty",
    Cause.HTML: "is a web page, saved under the name of a model",
    Cause.JSON: "is a JSON text, mostly a server's error message saved as a model",
    Cause.TEXT: "is a text, no model",
    Cause.LFS_POINTER: "is a Git LFS pointer: the model itself was not fetched",
    Cause.SAFETENSORS: "is a safetensors file; llama.cpp needs a GGUF",
    Cause.PYTORCH: "is a PyTorch file; llama.cpp needs a GGUF",
    Cause.ZIP: "is a ZIP archive, no GGUF",
    Cause.COMPRESSED: "is compressed; llama.cpp needs the file inside",
    Cause.NOT_GGUF: "is no GGUF file",
    Cause.UNSUPPORTED_VERSION: "is a GGUF of a version that llama.cpp does not read",
    Cause.ABSURD: "is a damaged GGUF: its header holds an impossible number",
    Cause.MALFORMED: "is a damaged GGUF: its header makes no sense",
    Cause.DUPLICATE: "is a damaged GGUF: something is in it twice",
    Cause.OVERLAP: "is a damaged GGUF: two tensors claim the same bytes",
    Cause.MISPLACED: "is a damaged GGUF: its tensors do not lie where they should",
}


@check("not-a-gguf", "a model file is no GGUF, or a damaged one", after=["file-not-found"])
def not_a_gguf(target: Target | None, drafter: Drafter | None) -> Iterator[Finding]:
    models = files(target, drafter)
    for model in models:
        if model.trouble is not None:
            words = _CAUSES.get(Cause(model.trouble.cause))
            if words is not None:
                yield Finding(
                    says=f"{visible(model.named)} ({model.origin}) {words}",
                    about=visible(model.named),
                    evidence=(Evidence(model.trouble.says),),
                    fixes=(Advice(model.trouble.hint or "download the file again"),),
                )
        elif not isinstance(model.header, Unknown) and model.header.byte_order != sys.byteorder:
            yield _other_byte_order(model, model.header.byte_order)
    for model in models:
        if model.trouble is None:
            known(model.header)


def _other_byte_order(model: Model, order: str) -> Finding:
    return Finding(
        says=(
            f"{visible(model.named)} ({model.origin}) has {order}-endian numbers, "
            "this machine does not\n"
            "llama.cpp loads only files in the machine's own byte order."
        ),
        about=visible(model.named),
        evidence=(Evidence(f"byte order of the file: {order}, of this machine: {sys.byteorder}"),),
        fixes=(Advice(f"download the {sys.byteorder}-endian file"),),
    )
