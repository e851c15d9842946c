"""A blueprint is written as it says, complete or not at all."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pairs
import pytest

from mtpdoctor.demo.blueprint import save


def test_a_written_file_holds_the_blueprint(tmp_path: Path) -> None:
    blueprint = pairs.sound().drafter
    save(blueprint, tmp_path / "drafter.gguf")
    reader = gguf.GGUFReader(tmp_path / "drafter.gguf")

    for key, (value, _) in blueprint.metadata.items():
        written = reader.fields[key].contents()
        expected = list(value) if isinstance(value, list | tuple) else value
        assert (
            written == pytest.approx(expected) if isinstance(value, float) else written == expected
        )
    assert {tensor.name for tensor in reader.tensors} == set(blueprint.tensors)
    for tensor in reader.tensors:
        assert np.array_equal(tensor.data, blueprint.tensors[tensor.name])


def test_a_copy_can_be_spoilt_without_the_original() -> None:
    original = pairs.sound().target
    copy = original.copy()
    copy.put("embedding_length", 1, "u32")
    del copy.tensors["output.weight"]
    copy.quantize("Q8_0")

    assert original.metadata["gemma4.embedding_length"][0] == pairs.TARGET.embedding_length
    assert "output.weight" in original.tensors
    assert not original.types


def test_matrices_are_quantized_and_vectors_are_not(tmp_path: Path) -> None:
    blueprint = pairs.sound().target
    blueprint.quantize("Q8_0")
    save(blueprint, tmp_path / "target.gguf")
    kinds = {
        tensor.name: tensor.tensor_type
        for tensor in gguf.GGUFReader(tmp_path / "target.gguf").tensors
    }

    assert kinds["blk.0.attn_q.weight"] == gguf.GGMLQuantizationType.Q8_0
    assert kinds["blk.0.attn_norm.weight"] == gguf.GGMLQuantizationType.F32


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path: Path) -> None:
    blueprint = pairs.sound().target
    blueprint.metadata["general.name"] = (-1, "u32")
    path = tmp_path / "target.gguf"

    with pytest.raises(Exception, match=r"format|range"):
        save(blueprint, path)
    assert not list(tmp_path.iterdir())
