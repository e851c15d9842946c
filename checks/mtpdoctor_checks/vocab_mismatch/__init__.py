"""Whether both files mean the same tokens by the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Evidence, Finding, Target, Undetermined, check
from mtpdoctor.gguf import Array, Header
from mtpdoctor_checks.pair import NOT_A_PAIR, gemma4_pair, its_drafter, name

_TOKENS = "tokenizer.ggml.tokens"
_FEW = 0.1
"""Share of tokens that may be spelled otherwise: publishers rename unused ones."""


@check(
    "vocab-mismatch",
    "the drafter has another vocabulary than the target",
    after=[*NOT_A_PAIR, "malformed-header", "drafter-width-mismatch"],
)
def vocab_mismatch(target: Target, drafter: Drafter) -> Iterator[Finding]:
    ours, theirs = gemma4_pair(target, drafter)
    wanted, mine = _size(ours), _size(theirs)
    if wanted is None or mine is None:
        silent = name(target) if wanted is None else name(drafter)
        raise Undetermined(f"{silent} has no token embeddings to count")
    if mine != wanted:
        differ = f"{name(drafter)} knows {mine:,} tokens, {name(target)} knows {wanted:,}"
        seen = f"tokens: {wanted} in {name(target)}, {mine} in {name(drafter)}"
    else:
        odd = _unlike(ours, theirs)
        if odd <= _FEW * wanted:
            return
        differ = f"{odd:,} of the {wanted:,} tokens are others in {name(drafter)}"
        seen = f"{_TOKENS}: {odd} of {wanted} differ"
    yield Finding(
        says=(
            f"{differ}\nDrafted numbers mean other tokens to the target: no draft is accepted, "
            "or the server crashes at the first request."
        ),
        about=_TOKENS,
        evidence=(Evidence(seen),),
        fixes=its_drafter(target),
    )


def _size(header: Header) -> int | None:
    """Return how many rows the token embeddings have, else how many tokens are listed."""
    embeddings = header.tensors.get("token_embd.weight")
    if embeddings is not None and len(embeddings.shape) > 1:
        return embeddings.shape[1]
    tokens = header.metadata.get(_TOKENS)
    return len(tokens) if isinstance(tokens, Array) else None


def _unlike(ours: Header, theirs: Header) -> int:
    """Return how many tokens are spelled otherwise; 0 where a file lists none."""
    mine, others = ours.metadata.get(_TOKENS), theirs.metadata.get(_TOKENS)
    if not isinstance(mine, Array) or not isinstance(others, Array) or mine.same_as(others):
        return 0
    common = sum(a != b for a, b in zip(mine, others, strict=False))
    return common + abs(len(mine) - len(others))
