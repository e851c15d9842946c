"""Whether the drafter holds the tensors that its own header promises, and no others."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Evidence, Finding, NotApplicable, Target, check, known
from mtpdoctor.visible import visible
from mtpdoctor_checks import qwen35, tensors
from mtpdoctor_checks.pair import ASSISTANT, NOT_A_PAIR, name, replacement


@check(
    "drafter-tensors-mismatch",
    "the drafter's tensors are not those that its header promises",
    after=[
        *NOT_A_PAIR,
        "malformed-header",
        "drafter-width-mismatch",
        "drafter-head-mismatch",
        "attention-pattern-mismatch",
        "vocab-mismatch",
        "ordered-embeddings-drafter",
    ],
)
def drafter_tensors_mismatch(target: Target | None, drafter: Drafter) -> Iterator[Finding]:
    header = known(drafter.header)
    if header.arch == ASSISTANT:
        masked = ((each, None) for each in header.tensors if each.startswith("masked_embd_"))
        odd = list(tensors.odd(header, tensors.assistant(header), masked))
    elif header.arch == qwen35.ARCH:
        wanted = qwen35.needed(header, trunk="blk.0.attn_norm.weight" in header.tensors)
        odd = list(tensors.odd(header, wanted, qwen35.extras(header)))
    else:
        raise NotApplicable(f"the tensors of a {visible(header.arch or 'file')} are not known here")
    if odd:
        more = f", and {len(odd) - 1} more like it" if len(odd) > 1 else ""
        yield Finding(
            says=f"in {name(drafter)} {odd[0]}{more}\nllama-server refuses to load it.",
            about=odd[0].partition(" ")[0],
            evidence=tuple(Evidence(f"{name(drafter)}: {each}") for each in odd[:5]),
            fixes=replacement(drafter, target),
        )
