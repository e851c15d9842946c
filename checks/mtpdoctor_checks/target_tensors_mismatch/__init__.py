"""Whether the target holds the tensors that its own header promises, and no others."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Evidence, Finding, NotApplicable, Target, check, known
from mtpdoctor.visible import visible
from mtpdoctor_checks import qwen35, tensors
from mtpdoctor_checks.pair import UNREADABLE, name, replacement


@check(
    "target-tensors-mismatch",
    "the target's tensors are not those that its header promises",
    after=[
        *UNREADABLE,
        "roles-swapped",
        "no-mtp-head",
        "malformed-header",
        "attention-pattern-mismatch",
        "drafter-head-mismatch",
        "vocab-mismatch",
    ],
)
def target_tensors_mismatch(target: Target) -> Iterator[Finding]:
    header = known(target.header)
    if header.arch == "gemma4":
        odd = list(tensors.odd(header, tensors.gemma4(header), tensors.gemma4_extras(header)))
    elif header.arch == qwen35.ARCH:
        wanted = qwen35.needed(header, trunk=True)
        odd = list(tensors.odd(header, wanted, qwen35.extras(header)))
    else:
        raise NotApplicable(f"the tensors of a {visible(header.arch or 'file')} are not known here")
    if odd:
        more = f", and {len(odd) - 1} more like it" if len(odd) > 1 else ""
        yield Finding(
            says=f"in {name(target)} {odd[0]}{more}\nllama-server cannot load it.",
            about=odd[0].partition(" ")[0],
            evidence=tuple(Evidence(f"{name(target)}: {each}") for each in odd[:5]),
            fixes=replacement(target, target),
        )
