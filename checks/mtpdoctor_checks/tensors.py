"""Which tensors llama.cpp reads of a file, and in which shapes; ``ne[0]`` stands first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mtpdoctor import Undetermined
from mtpdoctor.gguf import Array, Header
from mtpdoctor_checks.attention import per_layer, sliding_layers
from mtpdoctor_checks.pair import integer

Shape = tuple[int, ...]

_SCALES = (".scale", ".input_scale")
"""Ends of the names of what goes along with a weight in some quantizations."""

_EXPERTS = frozenset(
    {
        "ffn_gate_inp",
        "ffn_gate_exps",
        "ffn_up_exps",
        "ffn_gate_up_exps",
        "ffn_down_exps",
        "pre_ffw_norm_2",
        "post_ffw_norm_1",
        "post_ffw_norm_2",
    }
)
"""What a block with experts has besides; their shapes are not looked at."""


def assistant(header: Header) -> Iterator[tuple[str, Shape]]:
    """Yield the tensors that llama.cpp reads of a ``gemma4-assistant``; it needs all of them.

    Source: ``src/models/gemma4-assistant.cpp``; each was taken out, and a real server refused.
    """
    keys = ("embedding_length", "embedding_length_out", "attention.key_length")
    width, out, key_length = (number(header, key) for key in keys)
    pattern, heads, wide = _layers(header)
    if (tokens := _tokens(header)) is not None:
        yield "token_embd.weight", (width, tokens)
    yield "output_norm.weight", (width,)
    yield "nextn.pre_projection.weight", (2 * out, width)
    yield "nextn.post_projection.weight", (width, out)
    if not all(pattern):
        yield "rope_freqs.weight", (key_length // 2,)
    for layer, sliding in enumerate(pattern):
        head = number(header, "attention.key_length_swa") if sliding else key_length
        yield f"blk.{layer}.layer_output_scale.weight", (1,)
        yield from _block(layer, width, head, heads[layer] * head, wide[layer])


def gemma4(header: Header) -> Iterator[tuple[str, Shape]]:
    """Yield the tensors that llama.cpp needs of a ``gemma4``. Source: ``src/models/gemma4.cpp``."""
    width, key_length = (number(header, k) for k in ("embedding_length", "attention.key_length"))
    pattern, heads, wide = _layers(header)
    kv_heads = per_layer(header, "attention.head_count_kv") or ()
    if len(kv_heads) < len(pattern):
        raise Undetermined("the header does not state the KV heads of its layers")
    tokens = _tokens(header)
    if tokens is not None:
        yield "token_embd.weight", (width, tokens)
    yield "output_norm.weight", (width,)
    if not all(pattern):
        yield "rope_freqs.weight", (key_length // 2,)
    extra = number(header, "embedding_length_per_layer_input")
    if extra:
        if tokens is not None:
            yield "per_layer_token_embd.weight", (extra * len(pattern), tokens)
        yield "per_layer_model_proj.weight", (width, extra * len(pattern))
        yield "per_layer_proj_norm.weight", (extra,)
    own_kv = len(pattern) - (integer(header, "attention.shared_kv_layers") or 0)
    for layer, sliding in enumerate(pattern):
        head = number(header, "attention.key_length_swa") if sliding else key_length
        yield from _block(layer, width, head, heads[layer] * head, wide[layer])
        if layer < own_kv:
            yield f"blk.{layer}.attn_k.weight", (width, kv_heads[layer] * head)
            yield f"blk.{layer}.attn_k_norm.weight", (head,)
        if extra:
            yield f"blk.{layer}.inp_gate.weight", (width, extra)
            yield f"blk.{layer}.proj.weight", (extra, width)
            yield f"blk.{layer}.post_norm.weight", (width,)


def gemma4_extras(header: Header) -> Iterator[tuple[str, Shape | None]]:
    """Yield the tensors that a ``gemma4`` may have besides; ``None`` for any shape."""
    width, key_length = (number(header, k) for k in ("embedding_length", "attention.key_length"))
    pattern, _, _ = _layers(header)
    kv_heads = per_layer(header, "attention.head_count_kv") or ()
    tokens = _tokens(header)
    yield "output.weight", (width, tokens) if tokens is not None else None
    for layer, sliding in enumerate(pattern):
        head = number(header, "attention.key_length_swa") if sliding else key_length
        yield f"blk.{layer}.layer_output_scale.weight", (1,)
        yield f"blk.{layer}.attn_k.weight", (width, kv_heads[layer] * head)
        yield f"blk.{layer}.attn_v.weight", (width, kv_heads[layer] * head)
        yield f"blk.{layer}.attn_k_norm.weight", (head,)
        yield from ((f"blk.{layer}.{each}.weight", None) for each in _EXPERTS)


def odd(
    header: Header,
    needed: Iterable[tuple[str, Shape]],
    extras: Iterable[tuple[str, Shape | None]] = (),
) -> Iterator[str]:
    """Yield in words what is not as llama.cpp wants it, missing tensors first."""
    wanted: dict[str, Shape | None] = dict(extras)
    listed = dict(needed)
    yield from (f"{each} is missing" for each in listed if each not in header.tensors)
    wanted |= listed
    for name, tensor in header.tensors.items():
        shape = wanted.get(name)
        if name not in wanted:
            if not name.endswith(_SCALES):
                yield f"{name} is one too many"
        elif shape is not None and not same(tensor.shape, shape):
            yield f"{name} has the shape {_shown(tensor.shape)}, not {_shown(shape)}"
        elif shape is not None and len(shape) == 1 and tensor.type_name != "F32":
            yield f"{name} is in {tensor.type_name}, and llama.cpp computes with it in F32 alone"


def same(one: Shape, other: Shape) -> bool:
    """Whether two shapes are equal, dimensions of 1 at the end left aside."""
    length = max(len(one), len(other))
    return one + (1,) * (length - len(one)) == other + (1,) * (length - len(other))


def number(header: Header, key: str) -> int:
    """Return a whole number of the header; raises :exc:`Undetermined` where there is none."""
    found = integer(header, key)
    if found is None:
        raise Undetermined(f"the header does not state {key}")
    return found


def _layers(header: Header) -> tuple[tuple[bool, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the pattern, the query heads and the feed-forward lengths, each by layer."""
    pattern = sliding_layers(header)
    heads, wide = (
        per_layer(header, key) for key in ("attention.head_count", "feed_forward_length")
    )
    if pattern is None or heads is None or wide is None:
        raise Undetermined("the header does not state the sizes of its layers")
    if min(len(heads), len(wide)) < len(pattern):
        raise Undetermined("the header states the sizes of too few layers")
    return pattern, heads, wide


def _tokens(header: Header) -> int | None:
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    return len(tokens) if isinstance(tokens, Array) else None


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
    }
    yield from ((f"blk.{layer}.{each}.weight", shape) for each, shape in shapes.items())


def _shown(shape: Shape) -> str:
    return " x ".join(map(str, shape))
