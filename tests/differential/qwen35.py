"""A Qwen 3.5 that counts, with its MTP head inside: the last block drafts the next number.

Like the Gemma 4 of the demo, its attention and feed-forward outputs are zero, so that what leaves
the trunk is the embedding of the last token. The head's ``eh_proj`` hands the token's embedding
on and nothing of the hidden state; the output turns it into the next number. Its sound acceptance
is 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mtpdoctor.demo import vocabulary
from mtpdoctor.demo.blueprint import Blueprint, Field, Tensor

ARCH = "qwen35"
WORDS, WIDTH, WIDE = 100, 64, 64
HEADS, KV_HEADS, HEAD = 2, 1, 32
STATE, GROUPS, RANK, KERNEL = 16, 1, 2, 4
TRUNK = 2
"""Blocks that compute: block 0 is recurrent, block 1 has attention."""

Matrix = NDArray[np.float32]


def with_head(layers: int = 1, *, trunk: bool = True, head: bool = True) -> Blueprint:
    """Return the model; ``layers`` MTP blocks stand behind the trunk."""
    features = _features()
    embedding = np.zeros((vocabulary.size(WORDS), WIDTH), np.float32)
    embedding[:, : features.shape[1]] = features[
        (np.arange(len(embedding)) - vocabulary.FIRST_WORD) % WORDS
    ]
    output = np.zeros_like(embedding)
    output[vocabulary.FIRST_WORD :, : features.shape[1]] = 3 * np.roll(features, 1, axis=0)
    tensors: dict[str, Tensor] = {
        "token_embd.weight": embedding,
        "output_norm.weight": _ones(WIDTH),
        "output.weight": output,
    }
    if trunk:
        tensors |= _recurrent(0) | _attention(1)
    if head:
        for block in range(TRUNK, TRUNK + layers):
            tensors |= _attention(block) | _nextn(block)
    return Blueprint(_metadata(TRUNK + layers, layers), tensors)


def _features() -> Matrix:
    frequencies = np.random.default_rng(4).permutation(np.arange(1, WORDS // 2))[: WIDTH // 2]
    angle = 2 * np.pi * np.outer(np.arange(WORDS), frequencies) / WORDS
    both = np.concatenate([np.cos(angle), np.sin(angle)], axis=1) / len(frequencies) ** 0.5
    return np.asarray(both, np.float32)


def _ones(*shape: int) -> Matrix:
    return np.ones(shape, np.float32)


def _zeros(*shape: int) -> Matrix:
    return np.zeros(shape, np.float32)


def _common(block: int) -> dict[str, Tensor]:
    at = f"blk.{block}."
    return {
        f"{at}attn_norm.weight": _ones(WIDTH),
        f"{at}post_attention_norm.weight": _ones(WIDTH),
        f"{at}ffn_gate.weight": _zeros(WIDE, WIDTH),
        f"{at}ffn_up.weight": _zeros(WIDE, WIDTH),
        f"{at}ffn_down.weight": _zeros(WIDTH, WIDE),
    }


def _attention(block: int) -> dict[str, Tensor]:
    at = f"blk.{block}."
    return _common(block) | {
        f"{at}attn_q.weight": _zeros(2 * HEADS * HEAD, WIDTH),
        f"{at}attn_k.weight": _zeros(KV_HEADS * HEAD, WIDTH),
        f"{at}attn_v.weight": _zeros(KV_HEADS * HEAD, WIDTH),
        f"{at}attn_output.weight": _zeros(WIDTH, HEADS * HEAD),
        f"{at}attn_q_norm.weight": _ones(HEAD),
        f"{at}attn_k_norm.weight": _ones(HEAD),
    }


def _recurrent(block: int) -> dict[str, Tensor]:
    at, values = f"blk.{block}.", STATE * RANK
    both = 2 * STATE * GROUPS + values
    return _common(block) | {
        f"{at}attn_qkv.weight": _zeros(both, WIDTH),
        f"{at}attn_gate.weight": _zeros(values, WIDTH),
        f"{at}ssm_conv1d.weight": _zeros(both, KERNEL),
        f"{at}ssm_dt.bias": _zeros(RANK),
        f"{at}ssm_a": -_ones(RANK),
        f"{at}ssm_beta.weight": _zeros(RANK, WIDTH),
        f"{at}ssm_alpha.weight": _zeros(RANK, WIDTH),
        f"{at}ssm_norm.weight": _ones(STATE),
        f"{at}ssm_out.weight": _zeros(WIDTH, values),
    }


def _nextn(block: int) -> dict[str, Tensor]:
    at = f"blk.{block}.nextn."
    return {
        f"{at}eh_proj.weight": np.concatenate(
            [np.eye(WIDTH, dtype=np.float32), _zeros(WIDTH, WIDTH)], axis=1
        ),
        f"{at}enorm.weight": _ones(WIDTH),
        f"{at}hnorm.weight": _ones(WIDTH),
        f"{at}shared_head_norm.weight": _ones(WIDTH),
    }


def _metadata(blocks: int, heads: int) -> dict[str, Field]:
    values: dict[str, Field] = {
        "context_length": (16384, "u32"),
        "embedding_length": (WIDTH, "u32"),
        "block_count": (blocks, "u32"),
        "feed_forward_length": (WIDE, "u32"),
        "attention.head_count": (HEADS, "u32"),
        "attention.head_count_kv": (KV_HEADS, "u32"),
        "attention.key_length": (HEAD, "u32"),
        "attention.value_length": (HEAD, "u32"),
        "attention.layer_norm_rms_epsilon": (1e-6, "f32"),
        "rope.freq_base": (1e7, "f32"),
        "rope.dimension_count": (16, "u32"),
        "rope.dimension_sections": ([3, 3, 2, 0], "i32"),
        "ssm.conv_kernel": (KERNEL, "u32"),
        "ssm.inner_size": (STATE * RANK, "u32"),
        "ssm.state_size": (STATE, "u32"),
        "ssm.time_step_rank": (RANK, "u32"),
        "ssm.group_count": (GROUPS, "u32"),
        "full_attention_interval": (2, "u32"),
        "nextn_predict_layers": (heads, "u32"),
    }
    general: dict[str, Field] = {
        "general.architecture": (ARCH, "str"),
        "general.type": ("model", "str"),
        "general.name": ("Count", "str"),
        "general.file_type": (0, "u32"),
    }
    metadata = general | {f"{ARCH}.{key}": value for key, value in values.items()}
    return metadata | vocabulary.metadata(WORDS)
