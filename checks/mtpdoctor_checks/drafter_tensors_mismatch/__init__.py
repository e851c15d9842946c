"""Whether the drafter holds the tensors that its own header promises, and no others."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Evidence, Finding, NotApplicable, Target, Undetermined, check, known
from mtpdoctor.gguf import Array, Header
from mtpdoctor_checks.attention import per_layer, sliding_layers
from mtpdoctor_checks.pair import ASSISTANT, NOT_A_PAIR, integer, name, replacement

Shape = tuple[int, ...]


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
    if header.arch != ASSISTANT:
        raise NotApplicable(f"not a {ASSISTANT} drafter")
    expected = dict(tensors(header))
    odd = [
        *(f"{each} is missing" for each in expected if each not in header.tensors),
        *(
            f"{each} has the shape {_shown(header.tensors[each].shape)}, not {_shown(shape)}"
            for each, shape in expected.items()
            if each in header.tensors and not same(header.tensors[each].shape, shape)
        ),
        *(
            f"{each} is one too many"
            for each in header.tensors
            if each not in expected and not each.startswith("masked_embd_")
        ),
    ]
    if odd:
        more = f", and {len(odd) - 1} more like it" if len(odd) > 1 else ""
        yield Finding(
            says=f"in {name(drafter)} {odd[0]}{more}\nllama-server refuses to load it.",
            about=odd[0].partition(" ")[0],
            evidence=tuple(Evidence(f"{name(drafter)}: {each}") for each in odd[:5]),
            fixes=replacement(drafter, target),
        )


def tensors(header: Header) -> Iterator[tuple[str, Shape]]:
    """Yield the tensors that llama.cpp reads of a ``gemma4-assistant``, ``ne[0]`` first.

    Source: ``src/models/gemma4-assistant.cpp``; each was taken out, and a real server refused.
    """
    keys = ("embedding_length", "embedding_length_out", "attention.key_length")
    width, out, key_length = (_number(header, key) for key in keys)
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    pattern = sliding_layers(header)
    heads, wide = (
        per_layer(header, key) for key in ("attention.head_count", "feed_forward_length")
    )
    if pattern is None or heads is None or wide is None:
        raise Undetermined("the header does not state the sizes of its layers")
    if min(len(heads), len(wide)) < len(pattern):
        raise Undetermined("the header states the sizes of too few layers")
    if isinstance(tokens, Array):
        yield "token_embd.weight", (width, len(tokens))
    yield "output_norm.weight", (width,)
    yield "nextn.pre_projection.weight", (2 * out, width)
    yield "nextn.post_projection.weight", (width, out)
    if not all(pattern):
        yield "rope_freqs.weight", (key_length // 2,)
    for layer, sliding in enumerate(pattern):
        head = _number(header, "attention.key_length_swa") if sliding else key_length
        yield from _block(layer, width, head, heads[layer] * head, wide[layer])


def _block(
    layer: int, width: int, head: int, all_heads: int, wide: int
) -> Iterator[tuple[str, Shape]]:
    shapes: dict[str, Shape] = {
        "attn_norm": (width,),
        "attn_q": (width, all_heads),
        "attn_q_norm": (head,),
        "attn_output": (all_heads, width),
        "post_attention_norm": (width,),
        "ffn_norm": (width,),
        "ffn_gate": (width, wide),
        "ffn_up": (width, wide),
        "ffn_down": (wide, width),
        "post_ffw_norm": (width,),
        "layer_output_scale": (1,),
    }
    yield from ((f"blk.{layer}.{each}.weight", shape) for each, shape in shapes.items())


def same(one: Shape, other: Shape) -> bool:
    """Whether two shapes are equal, dimensions of 1 at the end left aside."""
    length = max(len(one), len(other))
    return one + (1,) * (length - len(one)) == other + (1,) * (length - len(other))


def _number(header: Header, key: str) -> int:
    number = integer(header, key)
    if number is None:
        raise Undetermined(f"the header does not state {key}")
    return number


def _shown(shape: Shape) -> str:
    return " x ".join(map(str, shape))
