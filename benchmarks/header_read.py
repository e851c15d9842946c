"""How fast and how small is a header read? Ours and gguf.GGUFReader on a header of Gemma 4's size.

    python benchmarks/header_read.py

Each reader runs in fresh processes: the time is the best of its runs, memory is the peak resident
set less that of an interpreter that only started, imports of the reader included.
"""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TOKENS = 262_144
MERGES = 514_906

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9
F32_TENSOR, Q4_0 = 0, 2
ALIGNMENT = 32

TARGET_BLOCKS = 42
WIDTH = 2560

Tensors = list[tuple[str, tuple[int, ...], int]]


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def _pair(key: str, type_: int, value: Any) -> bytes:
    head = _text(key) + struct.pack("<I", type_)
    if type_ == STR:
        return head + _text(value)
    return head + struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[type_], value)


def _array(key: str, type_: int, values: Sequence[Any]) -> bytes:
    head = _text(key) + struct.pack("<IIQ", ARR, type_, len(values))
    if type_ == STR:
        return head + b"".join(map(_text, values))
    return head + struct.pack(f"<{len(values)}{ {I32: 'i', F32: 'f', BOOL: '?'}[type_] }", *values)


def _words(count: int, seed: int) -> list[str]:
    """Distinct strings with lengths as those of a vocabulary: 1 to 16 letters, 7 on average."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyzäöü▁"
    return [
        "".join(rng.choices(letters, k=min(15, int(rng.expovariate(1 / 2))))) + format(i, "x")
        for i in range(count)
    ]


def _vocabulary() -> Iterator[bytes]:
    yield _pair("tokenizer.ggml.model", STR, "gemma4")
    yield _array("tokenizer.ggml.tokens", STR, _words(TOKENS, 1))
    yield _array("tokenizer.ggml.scores", F32, [-float(i) for i in range(TOKENS)])
    yield _array("tokenizer.ggml.token_type", I32, [3] * 8 + [1] * (TOKENS - 8))
    halves = _words(2 * MERGES, 2)
    yield _array("tokenizer.ggml.merges", STR, [f"{a} {b}" for a, b in _couples(halves)])
    ids = {"bos": 2, "eos": 1, "unknown": 3, "padding": 0, "mask": 4}
    for name, number in ids.items():
        yield _pair(f"tokenizer.ggml.{name}_token_id", U32, number)
    yield _pair("tokenizer.ggml.add_space_prefix", BOOL, False)
    yield _pair("tokenizer.ggml.add_bos_token", BOOL, True)
    yield _pair("tokenizer.chat_template", STR, "{%- set x = 1 -%}\n" * 1045)


def _couples(halves: list[str]) -> Iterator[tuple[str, str]]:
    return zip((h[:9] for h in halves[::2]), (h[:9] for h in halves[1::2]), strict=True)


def _target() -> tuple[dict[str, Any], list[bool], Tensors]:
    """Metadata, sliding-window pattern and tensors of unsloth's E4B target (720 tensors)."""
    pattern = [i % 6 != 5 for i in range(TARGET_BLOCKS)]
    values = {
        "block_count": TARGET_BLOCKS,
        "context_length": 131072,
        "embedding_length": WIDTH,
        "feed_forward_length": 10240,
        "attention.head_count": 8,
        "attention.head_count_kv": 2,
        "attention.shared_kv_layers": 18,
        "embedding_length_per_layer_input": 256,
        "final_logit_softcapping": 30.0,
    }
    tensors: Tensors = [
        ("output_norm.weight", (WIDTH,), F32_TENSOR),
        ("per_layer_model_proj.weight", (WIDTH, 10752), Q4_0),
        ("per_layer_proj_norm.weight", (256,), F32_TENSOR),
        ("per_layer_token_embd.weight", (10752, TOKENS), Q4_0),
        ("rope_freqs.weight", (256,), F32_TENSOR),
        ("token_embd.weight", (WIDTH, TOKENS), Q4_0),
    ]
    for i, sliding in enumerate(pattern):
        head = 256 if sliding else 512
        norms = ["attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm", "post_norm"]
        tensors += [(f"blk.{i}.{name}.weight", (WIDTH,), F32_TENSOR) for name in norms]
        tensors += [
            (f"blk.{i}.{name}.weight", shape, kind)
            for name, shape, kind in [
                ("attn_k", (WIDTH, 2 * head), Q4_0),
                ("attn_v", (WIDTH, 2 * head), Q4_0),
                ("attn_q", (WIDTH, 8 * head), Q4_0),
                ("attn_output", (8 * head, WIDTH), Q4_0),
                ("attn_k_norm", (head,), F32_TENSOR),
                ("attn_q_norm", (head,), F32_TENSOR),
                ("ffn_gate", (WIDTH, 10240), Q4_0),
                ("ffn_up", (WIDTH, 10240), Q4_0),
                ("ffn_down", (10240, WIDTH), Q4_0),
                ("inp_gate", (WIDTH, 256), Q4_0),
                ("proj", (256, WIDTH), Q4_0),
                ("layer_output_scale", (1,), F32_TENSOR),
            ]
        ]
    return values, pattern, tensors


def _drafter() -> tuple[dict[str, Any], list[bool], Tensors]:
    """Metadata, sliding-window pattern and tensors of the E4B head (49 tensors)."""
    pattern = [True, True, True, False]
    values = {
        "block_count": 4,
        "context_length": 131072,
        "embedding_length": 256,
        "feed_forward_length": 2048,
        "attention.head_count": 4,
        "attention.head_count_kv": 2,
        "attention.shared_kv_layers": 4,
        "embedding_length_per_layer_input": 0,
        "embedding_length_out": WIDTH,
        "nextn_predict_layers": 4,
    }
    tensors: Tensors = [
        ("rope_freqs.weight", (256,), F32_TENSOR),
        ("token_embd.weight", (256, TOKENS), Q4_0),
    ]
    for i, sliding in enumerate(pattern):
        head = 256 if sliding else 512
        tensors += [
            (f"blk.{i}.{name}.weight", shape, kind)
            for name, shape, kind in [
                ("attn_norm", (256,), F32_TENSOR),
                ("layer_output_scale", (1,), F32_TENSOR),
                ("ffn_down", (2048, 256), Q4_0),
                ("ffn_gate", (256, 2048), Q4_0),
                ("ffn_up", (256, 2048), Q4_0),
                ("post_attention_norm", (256,), F32_TENSOR),
                ("post_ffw_norm", (256,), F32_TENSOR),
                ("ffn_norm", (256,), F32_TENSOR),
                ("attn_output", (4 * head, 256), Q4_0),
                ("attn_q_norm", (head,), F32_TENSOR),
                ("attn_q", (256, 4 * head), Q4_0),
            ]
        ]
    tensors += [
        ("output_norm.weight", (256,), F32_TENSOR),
        ("nextn.post_projection.weight", (256, WIDTH), Q4_0),
        ("nextn.pre_projection.weight", (2 * WIDTH, 256), Q4_0),
    ]
    return values, pattern, tensors


def write_header_of_gemma4_size(path: Path, arch: str = "gemma4") -> None:
    """Write a complete-looking E4B GGUF: ``gemma4``, the target, or ``gemma4-assistant``.

    The header is real in size (about 20 MB); the weights are a hole in a sparse file, so that a
    target of 4 GB takes 20 MB of disk. Both have the same vocabulary. Takes about 4 s.
    """
    values, pattern, tensors = _target() if arch == "gemma4" else _drafter()
    common = {
        "rope.freq_base": 1e6,
        "rope.freq_base_swa": 1e4,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "attention.key_length": 512,
        "attention.value_length": 512,
        "attention.sliding_window": 512,
        "attention.key_length_swa": 256,
        "attention.value_length_swa": 256,
        "rope.dimension_count": 512,
        "rope.dimension_count_swa": 256,
    }
    pairs = [
        _pair("general.architecture", STR, arch),
        _pair("general.type", STR, "model"),
        _pair("general.file_type", U32, 2),
        _pair("general.quantization_version", U32, 2),
        *(
            _pair(f"{arch}.{key}", F32 if isinstance(value, float) else U32, value)
            for key, value in (values | common).items()
        ),
        _array(f"{arch}.attention.sliding_window_pattern", BOOL, pattern),
        *_vocabulary(),
    ]
    table, offset, end = [], 0, 0
    for name, shape, kind in tensors:
        table.append(
            _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
        )
        elements = 1
        for n in shape:
            elements *= n
        end = offset + (elements * 4 if kind == F32_TENSOR else elements // 32 * 18)
        offset = -(-end // ALIGNMENT) * ALIGNMENT
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    header = head + b"".join(pairs) + b"".join(table)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(-(-len(header) // ALIGNMENT) * ALIGNMENT + end)


# VmHWM, and not ru_maxrss: that one survives exec, so a child starts with its parent's peak.
_MEASURE = """
import json, sys, time
before = time.perf_counter()
{imports}
started = time.perf_counter()
{work}
ended = time.perf_counter()
status = open("/proc/self/status").read()
peak = int(status.split("VmHWM:")[1].split()[0])
print(json.dumps([ended - started, started - before, peak / 1024]))
"""

READERS = {
    "mtpdoctor.gguf.read": (
        "from mtpdoctor.gguf import read",
        "assert len(read(sys.argv[1]).tensors) == int(sys.argv[2])",
    ),
    "gguf.GGUFReader": (
        "from gguf import GGUFReader",
        "assert len(GGUFReader(sys.argv[1]).tensors) == int(sys.argv[2])",
    ),
}


def _measure(imports: str, work: str, path: Path, tensors: int, runs: int) -> tuple[float, ...]:
    """Return seconds of the work, seconds of its imports, and peak MiB: the best of the runs."""
    code = _MEASURE.format(imports=imports, work=work)
    results = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", code, str(path), str(tensors)],
                check=True,
                capture_output=True,
                text=True,
                cwd=Path(__file__).parents[1],
            ).stdout
        )
        for _ in range(runs)
    ]
    return tuple(min(column) for column in zip(*results, strict=True))


def main() -> list[dict[str, Any]]:
    """Measure both readers and return a row each, then the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gemma-4-E4B.gguf"
        write_header_of_gemma4_size(path)
        *_, idle = _measure("", "", path, 720, runs=3)
        rows: list[dict[str, Any]] = []
        for name, (imports, work) in READERS.items():
            runs = 7 if name.startswith("mtpdoctor") else 1
            seconds, importing, peak = _measure(imports, work, path, 720, runs)
            rows.append(
                {"reader": name, "seconds": seconds, "import": importing, "MiB": peak - idle}
            )
    ours, theirs = rows
    ratios = {key: theirs[key] / ours[key] for key in ("seconds", "import", "MiB")}
    return [*rows, {"reader": "ratio", **ratios}]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| reader | read, s | import, s | memory, MiB |", "|---|---:|---:|---:|"]
    lines += [
        f"| {row['reader']} | {row['seconds']:.3f} | {row['import']:.3f} | {row['MiB']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(main()))
