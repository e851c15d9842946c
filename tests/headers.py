"""Headers of real models, as data: what public dumps of the published files show.

Keys and tensors that no dump showed are left out, or marked as worked out. Token lists hold as
many tokens as the real ones; their text is made up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from mtpdoctor.gguf import Array, Header, Tensor

F32, Q4_0, Q8_0 = 0, 2, 8
Tensors = Iterator[tuple[str, tuple[int, ...], int]]


@cache
def vocabulary(count: int) -> Array:
    """Return a list of *count* tokens; made once, since the real ones are long."""
    tokens = Header.of({"tokens": [f"<{number}>" for number in range(count)]}).metadata["tokens"]
    assert isinstance(tokens, Array)
    return tokens


@dataclass(frozen=True, kw_only=True)
class Gemma4:
    """The sizes of one Gemma 4 target and of the drafter that was published for it."""

    label: str
    blocks: int
    period: int
    """Every ``period``-th block has full attention, the others a sliding window."""
    width: int
    feed_forward: int
    heads: int
    kv_heads: int | tuple[int, int]
    """In sliding-window and in full layers; a scalar stands in the file as a scalar."""
    window: int
    shared_kv: int = 0
    per_layer: int = 0
    experts: int = 0
    context: int = 262144
    drafter_width: int = 1024
    drafter_feed_forward: int = 8192
    drafter_heads: int = 16
    drafter_label: str
    drafter_context: int = 262144


GEMMA4 = {
    # E2B's head_count and feed_forward_length were in no dump; 8 and 6144 are worked out.
    "gemma-4-E2B-it": Gemma4(
        label="4.6B",
        blocks=35,
        period=5,
        width=1536,
        feed_forward=6144,
        heads=8,
        kv_heads=1,
        window=512,
        shared_kv=20,
        per_layer=256,
        context=131072,
        drafter_width=256,
        drafter_feed_forward=2048,
        drafter_heads=4,
        drafter_label="77M",
        drafter_context=131072,
    ),
    "gemma-4-E4B-it": Gemma4(
        label="7.5B",
        blocks=42,
        period=6,
        width=2560,
        feed_forward=10240,
        heads=8,
        kv_heads=2,
        window=512,
        shared_kv=18,
        per_layer=256,
        context=131072,
        drafter_width=256,
        drafter_feed_forward=2048,
        drafter_heads=4,
        drafter_label="78M",
        drafter_context=131072,
    ),
    "gemma-4-12B-it": Gemma4(
        label="12B",
        blocks=48,
        period=6,
        width=3840,
        feed_forward=15360,
        heads=16,
        kv_heads=(8, 1),
        window=1024,
        drafter_label="423M",
    ),
    "gemma-4-26B-A4B-it": Gemma4(
        label="128x2.6B",
        blocks=30,
        period=6,
        width=2816,
        feed_forward=2112,
        heads=16,
        kv_heads=(8, 2),
        window=1024,
        experts=128,
        drafter_label="0.4B",
        drafter_context=131072,
    ),
    # The 31B's feed_forward_length was in no dump; the test copies of its drafter say 32 heads.
    "gemma-4-31B-it": Gemma4(
        label="31B",
        blocks=60,
        period=6,
        width=5376,
        feed_forward=21504,
        heads=32,
        kv_heads=(16, 4),
        window=1024,
        drafter_heads=32,
        drafter_label="470M",
    ),
}

_TOKENS = 262144
_TOKENIZER: Mapping[str, object] = {
    "tokenizer.ggml.model": "gemma4",
    "tokenizer.ggml.bos_token_id": 2,
    "tokenizer.ggml.unknown_token_id": 3,
    "tokenizer.ggml.padding_token_id": 0,
    "tokenizer.ggml.mask_token_id": 4,
    "tokenizer.ggml.merges": ["\u2581 t", "a n"],  # two stand for 514,906
    "tokenizer.ggml.add_space_prefix": False,
    "tokenizer.ggml.add_bos_token": True,
}


def _pattern(blocks: int, period: int) -> list[bool]:
    return [(block + 1) % period != 0 for block in range(blocks)]


def _kv_heads(size: Gemma4, pattern: list[bool]) -> int | list[int]:
    if isinstance(size.kv_heads, int):
        return size.kv_heads
    sliding, full = size.kv_heads
    return [sliding if is_sliding else full for is_sliding in pattern]


def _attention(arch: str, size: Gemma4, pattern: list[bool], heads: int) -> dict[str, object]:
    return {
        f"{arch}.attention.head_count": heads,
        f"{arch}.attention.head_count_kv": _kv_heads(size, pattern),
        f"{arch}.rope.freq_base": 1000000.0,
        f"{arch}.rope.freq_base_swa": 10000.0,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-06,
        f"{arch}.attention.key_length": 512,
        f"{arch}.attention.value_length": 512,
        f"{arch}.attention.sliding_window": size.window,
        f"{arch}.attention.sliding_window_pattern": pattern,
        f"{arch}.attention.key_length_swa": 256,
        f"{arch}.attention.value_length_swa": 256,
        f"{arch}.rope.dimension_count": 512,
        f"{arch}.rope.dimension_count_swa": 256,
    }


def gemma4(name: str) -> Header:
    """Return the header of the target *name*, as unsloth's files have it."""
    size = GEMMA4[name]
    pattern = _pattern(size.blocks, size.period)
    metadata: dict[str, object] = {
        "general.architecture": "gemma4",
        "general.type": "model",
        "general.size_label": size.label,
        "general.basename": name,
        "general.file_type": 2,
        "gemma4.block_count": size.blocks,
        "gemma4.context_length": size.context,
        "gemma4.embedding_length": size.width,
        "gemma4.feed_forward_length": size.feed_forward,
        **_attention("gemma4", size, pattern, size.heads),
        "gemma4.final_logit_softcapping": 30.0,
        "gemma4.attention.shared_kv_layers": size.shared_kv,
        "gemma4.embedding_length_per_layer_input": size.per_layer,
        **_TOKENIZER,
        "tokenizer.ggml.eos_token_id": 106 if size.shared_kv == 0 else 1,
        "tokenizer.ggml.tokens": vocabulary(_TOKENS),
    }
    if size.experts:
        metadata |= {"gemma4.expert_count": size.experts, "gemma4.expert_used_count": 8}
    return Header.of(metadata, _table(_gemma4_tensors(size, pattern)))


def assistant(name: str) -> Header:
    """Return the header of the drafter that was published for the target *name*."""
    size = GEMMA4[name]
    pattern = [True, True, True, False]
    arch = "gemma4-assistant"
    metadata: dict[str, object] = {
        "general.architecture": arch,
        "general.type": "model",
        "general.size_label": size.drafter_label,
        "general.file_type": 32,  # mostly BF16, says the file; its tensors are Q4_0
        f"{arch}.block_count": 4,
        f"{arch}.context_length": size.drafter_context,
        f"{arch}.embedding_length": size.drafter_width,
        f"{arch}.feed_forward_length": size.drafter_feed_forward,
        **_attention(arch, size, pattern, size.drafter_heads),
        f"{arch}.attention.shared_kv_layers": 4,
        f"{arch}.embedding_length_per_layer_input": 0,
        f"{arch}.embedding_length_out": size.width,
        f"{arch}.nextn_predict_layers": 4,
        **_TOKENIZER,
        "tokenizer.ggml.eos_token_id": 1,
        "tokenizer.ggml.tokens": vocabulary(_TOKENS),
    }
    return Header.of(metadata, _table(_assistant_tensors(size, pattern)))


def _gemma4_tensors(size: Gemma4, pattern: list[bool]) -> Tensors:
    width = size.width
    yield "token_embd.weight", (width, _TOKENS), Q4_0
    yield "output_norm.weight", (width,), F32
    yield "rope_freqs.weight", (256,), F32
    if size.per_layer:
        yield "per_layer_token_embd.weight", (size.per_layer * size.blocks, _TOKENS), Q4_0
        yield "per_layer_model_proj.weight", (width, size.per_layer * size.blocks), Q4_0
        yield "per_layer_proj_norm.weight", (size.per_layer,), F32
    kv_heads = _kv_heads(size, pattern)
    for block, sliding in enumerate(pattern):
        at, head = f"blk.{block}.", 256 if sliding else 512
        kv = (kv_heads if isinstance(kv_heads, int) else kv_heads[block]) * head
        yield f"{at}attn_norm.weight", (width,), F32
        yield f"{at}attn_q.weight", (width, size.heads * head), Q4_0
        yield f"{at}attn_q_norm.weight", (head,), F32
        yield f"{at}attn_k.weight", (width, kv), Q4_0
        yield f"{at}attn_k_norm.weight", (head,), F32
        if sliding or size.shared_kv:
            yield f"{at}attn_v.weight", (width, kv), Q4_0
        yield f"{at}attn_output.weight", (size.heads * head, width), Q4_0
        yield f"{at}post_attention_norm.weight", (width,), F32
        yield f"{at}ffn_norm.weight", (width,), F32
        yield f"{at}ffn_gate.weight", (width, size.feed_forward), Q4_0
        yield f"{at}ffn_up.weight", (width, size.feed_forward), Q4_0
        yield f"{at}ffn_down.weight", (size.feed_forward, width), Q4_0
        yield f"{at}post_ffw_norm.weight", (width,), F32
        yield f"{at}layer_output_scale.weight", (1,), F32
        if size.per_layer:
            yield f"{at}post_norm.weight", (width,), F32
            yield f"{at}inp_gate.weight", (width, size.per_layer), Q4_0
            yield f"{at}proj.weight", (size.per_layer, width), Q4_0
        if size.experts:
            yield f"{at}ffn_gate_up_exps.weight", (width, 1408, size.experts), Q4_0
            yield f"{at}ffn_down_exps.weight", (704, width, size.experts), Q4_0
            yield f"{at}ffn_down_exps.scale", (size.experts,), F32
            yield f"{at}ffn_gate_inp.weight", (width, size.experts), F32
            yield f"{at}ffn_gate_inp.scale", (width,), F32
            yield f"{at}post_ffw_norm_1.weight", (width,), F32
            yield f"{at}post_ffw_norm_2.weight", (width,), F32
            yield f"{at}pre_ffw_norm_2.weight", (width,), F32


def _assistant_tensors(size: Gemma4, pattern: list[bool]) -> Tensors:
    width, wide = size.drafter_width, size.drafter_feed_forward
    yield "rope_freqs.weight", (256,), F32
    yield "token_embd.weight", (width, _TOKENS), Q4_0
    for block, sliding in enumerate(pattern):
        at, head = f"blk.{block}.", 256 if sliding else 512
        yield f"{at}attn_norm.weight", (width,), F32
        yield f"{at}layer_output_scale.weight", (1,), F32
        yield f"{at}ffn_down.weight", (wide, width), Q4_0
        yield f"{at}ffn_gate.weight", (width, wide), Q4_0
        yield f"{at}ffn_up.weight", (width, wide), Q4_0
        yield f"{at}post_attention_norm.weight", (width,), F32
        yield f"{at}post_ffw_norm.weight", (width,), F32
        yield f"{at}ffn_norm.weight", (width,), F32
        yield f"{at}attn_output.weight", (size.drafter_heads * head, width), Q4_0
        yield f"{at}attn_q_norm.weight", (head,), F32
        yield f"{at}attn_q.weight", (width, size.drafter_heads * head), Q4_0
    yield "output_norm.weight", (width,), F32
    yield "nextn.post_projection.weight", (width, size.width), Q4_0
    yield "nextn.pre_projection.weight", (2 * size.width, width), Q4_0


def qwen(arch: str, *, blocks: int, width: int, head: bool, trunk: bool = True) -> Header:
    """Return a Qwen 3.6: *blocks* counts the one of its MTP head, which is the last.

    The recurrent sizes are those of the 27B's dump, and so is the number of its tensors; heads and
    feed-forward lengths are worked out. The experts of the larger one are not listed.
    """
    last = blocks - 1
    metadata: dict[str, object] = {
        "general.architecture": arch,
        f"{arch}.block_count": blocks if head else last,
        f"{arch}.context_length": 262144,
        f"{arch}.embedding_length": width,
        f"{arch}.feed_forward_length": _QWEN_WIDE,
        f"{arch}.attention.head_count": _QWEN_HEADS,
        f"{arch}.attention.head_count_kv": _QWEN_KV_HEADS,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-06,
        f"{arch}.attention.key_length": 256,
        f"{arch}.attention.value_length": 256,
        f"{arch}.ssm.conv_kernel": 4,
        f"{arch}.ssm.state_size": 128,
        f"{arch}.ssm.group_count": 16,
        f"{arch}.ssm.time_step_rank": 48,
        f"{arch}.ssm.inner_size": 6144,
        f"{arch}.full_attention_interval": 4,
        f"{arch}.rope.dimension_count": 64,
        f"{arch}.rope.dimension_sections": [11, 11, 10, 0],
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen35",
        "tokenizer.ggml.tokens": vocabulary(248320),
        "tokenizer.ggml.merges": ["\u0120 t", "a n"],  # two stand for all
    }
    tensors: list[tuple[str, tuple[int, ...], int]] = [
        ("token_embd.weight", (width, 248320), Q8_0),
        ("output_norm.weight", (width,), F32),
        ("output.weight", (width, 248320), Q8_0),
    ]
    if trunk:
        for block in range(last):
            tensors += _qwen_block(width, block, recurrent=(block + 1) % 4 != 0)
    if head:
        metadata[f"{arch}.nextn_predict_layers"] = 1
        at = f"blk.{last}.nextn."
        tensors += [
            *_qwen_block(width, last, recurrent=False),
            (f"{at}eh_proj.weight", (2 * width, width), Q8_0),
            (f"{at}enorm.weight", (width,), F32),
            (f"{at}hnorm.weight", (width,), F32),
            (f"{at}shared_head_norm.weight", (width,), F32),
        ]
    return Header.of(metadata, _table(iter(tensors)))


_QWEN_HEADS, _QWEN_KV_HEADS, _QWEN_WIDE = 24, 4, 17408


def _qwen_block(width: int, block: int, *, recurrent: bool) -> Tensors:
    at = f"blk.{block}."
    yield f"{at}attn_norm.weight", (width,), F32
    yield f"{at}post_attention_norm.weight", (width,), F32
    yield f"{at}ffn_gate.weight", (width, _QWEN_WIDE), Q8_0
    yield f"{at}ffn_up.weight", (width, _QWEN_WIDE), Q8_0
    yield f"{at}ffn_down.weight", (_QWEN_WIDE, width), Q8_0
    if recurrent:
        yield f"{at}attn_qkv.weight", (width, 10240), Q8_0
        yield f"{at}attn_gate.weight", (width, 6144), Q8_0
        yield f"{at}ssm_conv1d.weight", (4, 10240), F32
        yield f"{at}ssm_dt.bias", (48,), F32
        yield f"{at}ssm_a", (48,), F32
        yield f"{at}ssm_beta.weight", (width, 48), Q8_0
        yield f"{at}ssm_alpha.weight", (width, 48), Q8_0
        yield f"{at}ssm_norm.weight", (128,), F32
        yield f"{at}ssm_out.weight", (6144, width), Q8_0
    else:
        yield f"{at}attn_q.weight", (width, 2 * 256 * _QWEN_HEADS), Q8_0
        yield f"{at}attn_k.weight", (width, 256 * _QWEN_KV_HEADS), Q8_0
        yield f"{at}attn_v.weight", (width, 256 * _QWEN_KV_HEADS), Q8_0
        yield f"{at}attn_output.weight", (256 * _QWEN_HEADS, width), Q8_0
        yield f"{at}attn_q_norm.weight", (256,), F32
        yield f"{at}attn_k_norm.weight", (256,), F32


def _table(rows: Tensors) -> dict[str, Tensor]:
    return {name: Tensor(name=name, shape=shape, type=kind) for name, shape, kind in rows}


@cache
def real(name: str) -> Header:
    """Return the header of a published model; :exc:`KeyError` for a name that is not known."""
    match name:
        case "Qwen3.6-27B-MTP":
            return qwen("qwen35", blocks=65, width=5120, head=True)
        case "Qwen3.6-27B":
            return qwen("qwen35", blocks=65, width=5120, head=False)
        case "Qwen3.6-35B-A3B-MTP":
            return qwen("qwen35moe", blocks=41, width=2048, head=True)
        case "Qwen3.6-35B-A3B-MTP-head":
            return qwen("qwen35moe", blocks=41, width=2048, head=True, trunk=False)
        case _ if name.endswith("-assistant"):
            return assistant(name.removesuffix("-assistant"))
        case _:
            return gemma4(name)


PAIRS = tuple((name, f"{name}-assistant") for name in GEMMA4)
"""Every published Gemma 4 target with the drafter that was made for it."""
