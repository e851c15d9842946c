"""Which tensors llama.cpp reads of a ``qwen35``, whose MTP head is its last block.

Source: ``src/models/qwen35.cpp``. Each was taken out of a small one, and a real server refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor.gguf import Array, Header
from mtpdoctor_checks.pair import integer
from mtpdoctor_checks.tensors import Shape, number

ARCH = "qwen35"
_INTERVAL = 4
"""Every so many blocks have attention where ``full_attention_interval`` does not say."""


def needed(header: Header, *, trunk: bool) -> Iterator[tuple[str, Shape]]:
    """Yield what has to be there: the *trunk* too, or the MTP head alone."""
    width = number(header, "embedding_length")
    blocks, heads = number(header, "block_count"), integer(header, "nextn_predict_layers") or 0
    tokens = _tokens(header)
    if tokens is not None:
        yield "token_embd.weight", (width, tokens)
    yield "output_norm.weight", (width,)
    if trunk:
        for block in range(blocks - heads):
            recurrent = (block + 1) % (integer(header, "full_attention_interval") or _INTERVAL)
            yield from _common(header, block)
            yield from (_recurrent if recurrent else _attention)(header, block)
    for block in range(blocks - heads, blocks):
        yield from _common(header, block)
        yield from _attention(header, block)
        yield f"blk.{block}.nextn.eh_proj.weight", (2 * width, width)
        yield f"blk.{block}.nextn.enorm.weight", (width,)
        yield f"blk.{block}.nextn.hnorm.weight", (width,)


def extras(header: Header) -> Iterator[tuple[str, Shape | None]]:
    """Yield what may be there besides."""
    width, tokens = number(header, "embedding_length"), _tokens(header)
    whole = (width, tokens) if tokens is not None else None
    blocks, heads = number(header, "block_count"), integer(header, "nextn_predict_layers") or 0
    yield "output.weight", whole
    for block in range(blocks - heads, blocks):
        yield f"blk.{block}.nextn.embed_tokens.weight", whole
        yield f"blk.{block}.nextn.shared_head_head.weight", whole
        yield f"blk.{block}.nextn.shared_head_norm.weight", (width,)


def _tokens(header: Header) -> int | None:
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    return len(tokens) if isinstance(tokens, Array) else None


def _common(header: Header, block: int) -> Iterator[tuple[str, Shape]]:
    width, wide = number(header, "embedding_length"), number(header, "feed_forward_length")
    at = f"blk.{block}."
    yield f"{at}attn_norm.weight", (width,)
    yield f"{at}post_attention_norm.weight", (width,)
    yield f"{at}ffn_gate.weight", (width, wide)
    yield f"{at}ffn_up.weight", (width, wide)
    yield f"{at}ffn_down.weight", (wide, width)


def _attention(header: Header, block: int) -> Iterator[tuple[str, Shape]]:
    width, heads = number(header, "embedding_length"), number(header, "attention.head_count")
    kv_heads = integer(header, "attention.head_count_kv") or heads
    key = integer(header, "attention.key_length") or width // heads
    value = integer(header, "attention.value_length")
    at = f"blk.{block}."
    yield f"{at}attn_q.weight", (width, 2 * key * heads)
    yield f"{at}attn_k.weight", (width, key * kv_heads)
    yield f"{at}attn_v.weight", (width, (width // heads if value is None else value) * kv_heads)
    yield f"{at}attn_output.weight", (key * heads, width)
    yield f"{at}attn_q_norm.weight", (key,)
    yield f"{at}attn_k_norm.weight", (key,)


def _recurrent(header: Header, block: int) -> Iterator[tuple[str, Shape]]:
    width, state = number(header, "embedding_length"), number(header, "ssm.state_size")
    rank, kernel = number(header, "ssm.time_step_rank"), number(header, "ssm.conv_kernel")
    values = state * rank
    mixed = 2 * state * number(header, "ssm.group_count") + values
    at = f"blk.{block}."
    yield f"{at}attn_qkv.weight", (width, mixed)
    yield f"{at}attn_gate.weight", (width, values)
    yield f"{at}ssm_conv1d.weight", (kernel, mixed)
    yield f"{at}ssm_dt.bias", (rank,)
    yield f"{at}ssm_a", (rank,)
    yield f"{at}ssm_beta.weight", (width, rank)
    yield f"{at}ssm_alpha.weight", (width, rank)
    yield f"{at}ssm_norm.weight", (state,)
    yield f"{at}ssm_out.weight", (values, width)
