"""A Gemma 4 pair that counts: a target whose next word is the next number, and its drafter.

Word ``i`` of ``M`` has Fourier features, ``cos`` and ``sin`` of ``2π f i / M`` for a set of
frequencies ``f``, so that "the word ``d`` later" is a rotation. The target's attention and
feed-forward outputs are zero: what leaves its last block is the embedding of the last token, and
row ``j`` of its ``output`` is the features of word ``j - 1``. So it counts forever. A token that is
no word has the embedding of one, and every text is followed by a number.

The drafter needs all that a real one needs. *Fast* features come from the target's embedding of
the last token, rotated by one word, and say exactly which word is next. *Slow* features come by
attention out of the target's KV cache: the target's keys are one constant vector, turned by RoPE
alone, and so is the drafter's query; their product is largest at the newest token, whose value
holds its slow features. Those say about where in the circle of words the count stands. They
outweigh the fast ones, hence a drafter that misreads the cache (other head sizes, another
RoPE) drafts words from elsewhere, and is refused. Sliding-window blocks read one slow frequency,
full blocks another, so that each kind alone is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtpdoctor.demo import vocabulary
from mtpdoctor.demo.blueprint import Blueprint, Field, Tensor

Matrix = NDArray[np.float32]

_SEED = 4
_BASE, _BASE_SWA = 1_000_000.0, 10_000.0
_AHEAD = 3
"""Words by which attention is turned on: it reads one to four tokens back, and one is wanted."""
_SLOW = 4.0
"""How much more a slow frequency weighs than all fast ones together."""
_LOGIT = 24.0
"""The logit of the right word: large enough that no rounding in a batch turns a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of one model, in llama.cpp's words."""

    words: int
    """Numbers that are one token each; what is counted through."""
    embedding_length: int
    feed_forward_length: int
    head_count: int
    head_count_kv: int
    key_length: int
    """Head size of the full layers, keys and values alike."""
    key_length_swa: int
    """Head size of the sliding-window layers."""
    sliding_window_pattern: tuple[bool, ...]
    """One entry a block: whether it is a sliding-window layer."""
    sliding_window: int = 512
    context_length: int = 16384

    @property
    def block_count(self) -> int:
        return len(self.sliding_window_pattern)

    def head(self, block: int) -> int:
        """Return the head size of ``block``."""
        return self.key_length_swa if self.sliding_window_pattern[block] else self.key_length


def target(shape: Shape) -> Blueprint:
    """Build the gemma4 model that counts.

    ``token_embd`` and ``output`` are ``(vocabulary, embedding_length)``; the last two columns of
    an embedding hold a constant and nothing.
    """
    width, kv = shape.embedding_length, shape.head_count_kv
    fast = _frequencies(shape.words, (width - 2) // 2 - 2)
    frequencies = np.concatenate([_slow_frequencies(shape.words), fast])
    features = _features(shape.words, frequencies)
    constant = 2 * len(frequencies)
    embedding = np.zeros((vocabulary.size(shape.words), width), np.float32)
    embedding[:, :constant] = features[_word_of_token(shape.words)]
    embedding[:, constant] = 1.0
    tensors: dict[str, Tensor] = {
        "token_embd.weight": embedding,
        "output.weight": _rows(shape.words, np.roll(features, 1, axis=0), width),
        "output_norm.weight": np.ones(width, np.float32),
        "rope_freqs.weight": np.ones(shape.key_length // 2, np.float32),
    }
    for block in range(shape.block_count):
        head = shape.head(block)
        key = np.zeros((kv, head, width), np.float32)
        key[:, :, constant] = _direction(head, swa=shape.sliding_window_pattern[block])
        value = np.zeros((kv, head, width), np.float32)
        for index in range(kv):  # the slow features stand first; no two heads say the same
            value[index, range(4), range(4)] = (-1.0) ** index
        tensors |= _block(shape, block) | {
            f"blk.{block}.attn_k.weight": key.reshape(kv * head, width),
            f"blk.{block}.attn_v.weight": value.reshape(kv * head, width),
            f"blk.{block}.attn_k_norm.weight": np.ones(head, np.float32),
        }
    return Blueprint(_metadata("gemma4", "Count", shape, 0), tensors)


def drafter(shape: Shape, of: Shape, *, missed: frozenset[int] = frozenset()) -> Blueprint:
    """Build the gemma4-assistant that drafts for ``target(of)``.

    It never drafts the words in ``missed``: their rows of ``token_embd``, its head, are zero. The
    columns of its hidden state: a constant, two slow frequencies, then as many fast ones as fit.
    """
    width, out = shape.embedding_length, of.embedding_length
    out_fast = _frequencies(of.words, (out - 2) // 2 - 2)
    fast = out_fast[: (width - 5) // 2]
    first = 5  # the column where the fast features begin
    # nextn.pre_projection (width, 2 * out): the embedding, turned by a word, and nothing of h
    project = np.zeros((width, 2 * out), np.float32)
    project[0, 2 * (len(out_fast) + 2)] = 1.0
    amplitude = (len(out_fast) + 2) ** 0.5 / len(fast) ** 0.5
    for index, turn in enumerate(_rotations(of.words, fast, 1)):
        row, column = first + 2 * index, 4 + 2 * index
        project[row : row + 2, column : column + 2] = amplitude * turn
    project /= out**0.5  # llama.cpp multiplies an embedding by the root of its length
    features = np.zeros((shape.words, width), np.float32)
    slow = _slow_frequencies(of.words)
    for index, frequency in enumerate(slow):
        column = 1 + 2 * index
        features[:, column : column + 2] = _SLOW * _features(shape.words, np.array([frequency]))
    features[:, first : first + 2 * len(fast)] = _features(shape.words, fast)
    features[sorted(missed)] = 0.0
    tensors: dict[str, Tensor] = {
        "rope_freqs.weight": np.ones(shape.key_length // 2, np.float32),
        "token_embd.weight": _rows(shape.words, features, width),
    }
    turns = _rotations(of.words, slow, _AHEAD)
    for block, swa in enumerate(shape.sliding_window_pattern):
        head, heads = shape.head(block), shape.head_count
        query = np.zeros((heads, head, width), np.float32)
        query[:, :, 0] = _direction(head, swa=swa)
        index = 0 if swa else 1  # which slow frequency this kind of block reads
        output = np.zeros((width, heads, head), np.float32)
        rows = slice(1 + 2 * index, 3 + 2 * index)
        for number in range(heads):
            group = number * shape.head_count_kv // heads
            weight = (-1.0) ** group * (1 + group)
            output[rows, number, 2 * index : 2 * index + 2] = weight * turns[index]
        share = shape.sliding_window_pattern.count(swa) * width**0.5
        tensors |= _block(shape, block) | {
            f"blk.{block}.attn_q.weight": query.reshape(heads * head, width),
            f"blk.{block}.attn_output.weight": output.reshape(width, heads * head),
            f"blk.{block}.post_attention_norm.weight": np.full(width, 1 / share, np.float32),
        }
    tensors |= {
        "output_norm.weight": np.ones(width, np.float32),
        "nextn.post_projection.weight": np.zeros((out, width), np.float32),
        "nextn.pre_projection.weight": project,
    }
    metadata = _metadata("gemma4-assistant", "Count Assistant", shape, shape.block_count)
    extra: dict[str, Field] = {
        "gemma4-assistant.embedding_length_out": (out, "u32"),
        "gemma4-assistant.nextn_predict_layers": (shape.block_count, "u32"),
    }
    return Blueprint(metadata | extra | vocabulary.metadata(shape.words), tensors)


def _block(shape: Shape, block: int) -> dict[str, Tensor]:
    """Return the tensors that both models have in a block, its outputs zero."""
    width, hidden = shape.embedding_length, shape.feed_forward_length
    head, heads = shape.head(block), shape.head_count
    tensors: dict[str, Tensor] = {
        "attn_norm": np.ones(width, np.float32),
        "attn_q": np.zeros((heads * head, width), np.float32),
        "attn_q_norm": np.full(head, 2.0, np.float32),  # sharpens attention
        "attn_output": np.zeros((width, heads * head), np.float32),
        "post_attention_norm": np.ones(width, np.float32),
        "ffn_norm": np.ones(width, np.float32),
        "ffn_gate": np.zeros((hidden, width), np.float32),
        "ffn_up": np.zeros((hidden, width), np.float32),
        "ffn_down": np.zeros((width, hidden), np.float32),
        "post_ffw_norm": np.ones(width, np.float32),
        "layer_output_scale": np.ones(1, np.float32),
    }
    return {f"blk.{block}.{name}.weight": tensor for name, tensor in tensors.items()}


def _metadata(arch: str, name: str, shape: Shape, shared: int) -> dict[str, Field]:
    values: dict[str, Field] = {
        "context_length": (shape.context_length, "u32"),
        "embedding_length": (shape.embedding_length, "u32"),
        "block_count": (shape.block_count, "u32"),
        "feed_forward_length": (shape.feed_forward_length, "u32"),
        "attention.head_count": (shape.head_count, "u32"),
        "attention.head_count_kv": (shape.head_count_kv, "u32"),
        "rope.freq_base": (_BASE, "f32"),
        "rope.freq_base_swa": (_BASE_SWA, "f32"),
        "attention.layer_norm_rms_epsilon": (1e-6, "f32"),
        "attention.key_length": (shape.key_length, "u32"),
        "attention.value_length": (shape.key_length, "u32"),
        "attention.sliding_window": (shape.sliding_window, "u32"),
        "attention.shared_kv_layers": (shared, "u32"),
        "embedding_length_per_layer_input": (0, "u32"),
        "attention.sliding_window_pattern": (shape.sliding_window_pattern, "bool"),
        "attention.key_length_swa": (shape.key_length_swa, "u32"),
        "attention.value_length_swa": (shape.key_length_swa, "u32"),
        "rope.dimension_count": (shape.key_length, "u32"),
        "rope.dimension_count_swa": (shape.key_length_swa, "u32"),
    }
    general: dict[str, Field] = {
        "general.architecture": (arch, "str"),
        "general.type": ("model", "str"),
        "general.name": (name, "str"),
        "general.file_type": (0, "u32"),
    }
    metadata = general | {f"{arch}.{key}": value for key, value in values.items()}
    return metadata | vocabulary.metadata(shape.words)


def _slow_frequencies(words: int) -> NDArray[np.int64]:
    """Return the two frequencies that say about where in the circle a word stands."""
    return np.array([2, 3]) * max(1, words // 100)


def _frequencies(words: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` distinct fast frequencies, the same for the same arguments."""
    fast = np.arange(_slow_frequencies(words).max() + 1, words // 2)
    order: NDArray[np.int64] = np.random.default_rng(_SEED).permutation(fast)
    return order[:count]


def _features(words: int, frequencies: NDArray[np.int64]) -> Matrix:
    """Return the features of each word, ``(words, 2 * frequencies)``; a row's length is 1."""
    angle = 2 * np.pi * np.outer(np.arange(words), frequencies) / words
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=-1) / len(frequencies) ** 0.5
    return np.asarray(pairs.reshape(words, -1), np.float32)


def _rotations(words: int, frequencies: NDArray[np.int64], ahead: int) -> Matrix:
    """Return for each frequency the matrix that turns a word into the one ``ahead``: (n, 2, 2)."""
    angle = 2 * np.pi * frequencies * ahead / words
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]], np.float32).transpose(2, 0, 1)


def _direction(head: int, *, swa: bool) -> Matrix:
    """Return the one direction of every key and query, ``(head,)``.

    It lies in the planes that RoPE turns neither so fast that a token further back looks as near
    as the newest, nor so slowly that all look the same.
    """
    angle = (_BASE_SWA if swa else _BASE) ** (-2 * np.arange(head // 2) / head)
    direction = np.zeros(head, np.float32)
    direction[: head // 2] = (angle > 0.02) & (angle < 0.4)
    return direction


def _word_of_token(words: int) -> NDArray[np.int64]:
    """Return the number that each token stands for."""
    return (np.arange(vocabulary.size(words)) - vocabulary.FIRST_WORD) % words


def _rows(words: int, features: Matrix, width: int) -> Matrix:
    """Return the head whose rows for words are ``features``, scaled; the others are zero."""
    head = np.zeros((vocabulary.size(words), width), np.float32)
    head[vocabulary.FIRST_WORD :, : features.shape[1]] = features * (_LOGIT / width**0.5)
    return head
