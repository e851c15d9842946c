"""What the checks say of a pair, key by key and tensor by tensor, is what the real server does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pairs
import pytest
from differential import qwen35
from doctor_command import SERVER
from pairs import Sketch
from real_server import behaviour

from mtpdoctor.demo.blueprint import Kind, save
from mtpdoctor.doctor import Finished, diagnose
from mtpdoctor.findings import Severity
from mtpdoctor.request import Request

pytestmark = pytest.mark.server

Change = Callable[[Sketch], None]
KEYS = (
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.layer_norm_rms_epsilon",
    "attention.key_length",
    "attention.value_length",
    "attention.key_length_swa",
    "attention.value_length_swa",
    "attention.sliding_window",
    "attention.sliding_window_pattern",
    "attention.shared_kv_layers",
    "rope.freq_base",
    "rope.freq_base_swa",
    "rope.dimension_count",
    "rope.dimension_count_swa",
    "nextn_predict_layers",
    "embedding_length_out",
    "embedding_length_per_layer_input",
    "block_count",
)
TYPES: tuple[tuple[str, float, Kind], ...] = (
    ("context_length", 16384, "u64"),
    ("attention.head_count", 4, "i32"),
    ("attention.head_count_kv", 2, "u64"),
    ("attention.key_length", 64, "i32"),
    ("attention.shared_kv_layers", 4, "i32"),
    ("attention.layer_norm_rms_epsilon", 1e-6, "f64"),
    ("rope.freq_base", 1_000_000.0, "f64"),
    ("rope.dimension_count", 64, "i32"),
    ("nextn_predict_layers", 4, "i32"),
    ("nextn_predict_layers", 2, "u32"),
    ("embedding_length_per_layer_input", 0, "i32"),
)
TENSORS = (
    "token_embd.weight",
    "rope_freqs.weight",
    "output_norm.weight",
    "nextn.pre_projection.weight",
    "blk.0.attn_q_norm.weight",
    "blk.3.layer_output_scale.weight",
)
FLAGS = (
    ("--spec-draft-n-min", "4"),
    ("--spec-draft-n-min", "5"),
    ("--spec-draft-p-min", "0.99"),
    ("--spec-draft-p-min", "1.0"),
    ("--spec-draft-n-max", "0"),
    ("--spec-draft-n-max", "0", "-np", "1"),
    ("-devd", "none"),
    ("-devd", "NONE"),
    ("-devd", "CUDA0", "-sm", "layer"),
    ("-ctk", "f16", "-ctv", "bf16", "-fa", "off"),
    ("-ctv", "q8_0", "-fa", "off"),
    ("-ctvd", "q8_0", "-fa", "off"),
    ("-ctkd", "q8_0", "-fa", "off"),
    ("-ctvd", "q8_0"),
    ("--spec-draft-n-min", "8x"),
    ("--spec-draft-n-min", "3x"),
    ("--spec-draft-p-min", "1,5"),
    ("--spec-draft-p-min", "0x1"),
    ("--spec-draft-p-min", "nan"),
    ("--spec-draft-n-max", "0x", "-np", "1x"),
    ("-sm", "layers"),
)


def agree(folder: Path, change: Change, flags: Sequence[str] = ()) -> None:
    """Demand that an error is found if and only if the server does not draft as it should."""
    pair = pairs.sound()
    change(pair)
    save(pair.target, folder / "target.gguf")
    save(pair.drafter, folder / "drafter.gguf")
    files = ("-m", str(folder / "target.gguf"), "-md", str(folder / "drafter.gguf"))
    words = (SERVER, *files, *pairs.DRAFT_FLAGS, *flags)
    *_, last = diagnose(Request(words=words, environment=dict(os.environ)))
    assert isinstance(last, Finished)
    errors = {
        result.check
        for result in last.report.results
        for finding in result.findings
        if finding.severity is Severity.ERROR
    }
    real = behaviour(words)

    assert bool(errors) == (real.kind != "drafting"), (errors, real)
    assert len(errors) <= 1


@pytest.mark.parametrize("key", KEYS)
def test_a_drafter_without_a_key(key: str, tmp_path: Path) -> None:
    def change(pair: Sketch) -> None:
        del pair.drafter.metadata[f"gemma4-assistant.{key}"]

    agree(tmp_path, change)


@pytest.mark.parametrize("key", ["attention.sliding_window", "rope.freq_base_swa", "block_count"])
def test_a_target_without_a_key(key: str, tmp_path: Path) -> None:
    def change(pair: Sketch) -> None:
        del pair.target.metadata[f"gemma4.{key}"]

    agree(tmp_path, change)


@pytest.mark.parametrize(("key", "value", "kind"), TYPES)
def test_a_drafter_with_a_value_of_another_type(
    key: str, value: float, kind: Kind, tmp_path: Path
) -> None:
    agree(tmp_path, lambda pair: pair.drafter.put(key, value, kind))


@pytest.mark.parametrize("kind", ["i32", "u32"])
def test_a_pattern_in_whole_numbers(kind: Kind, tmp_path: Path) -> None:
    key = "attention.sliding_window_pattern"

    agree(tmp_path, lambda pair: pair.drafter.put(key, [1, 1, 1, 0], kind))


@pytest.mark.parametrize("name", TENSORS)
def test_a_drafter_without_a_tensor(name: str, tmp_path: Path) -> None:
    def change(pair: Sketch) -> None:
        del pair.drafter.tensors[name]

    agree(tmp_path, change)


def test_a_drafter_with_a_tensor_too_many(tmp_path: Path) -> None:
    def change(pair: Sketch) -> None:
        pair.drafter.tensors["blk.0.attn_k.weight"] = np.zeros((64, 32), np.float32)

    agree(tmp_path, change)


def test_a_target_of_another_family(tmp_path: Path) -> None:
    def change(pair: Sketch) -> None:
        pair.target = qwen35.with_head(0, head=False)

    agree(tmp_path, change)


@pytest.mark.parametrize("width", [64, 96, 128])
def test_a_head_in_a_file_of_its_own(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(pair: Sketch) -> None:
        pair.target = qwen35.with_head(0, head=False)
        monkeypatch.setattr(qwen35, "WIDTH", width)
        pair.drafter = qwen35.with_head(trunk=False)

    agree(tmp_path, change)


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
def test_a_flag_too_many(flags: tuple[str, ...], tmp_path: Path) -> None:
    agree(tmp_path, lambda _: None, flags)
