"""llama.cpp's own gguf_init_from_file and ours agree on what is a GGUF file."""

from __future__ import annotations

import random
from pathlib import Path

import gguf_bytes as g
import pytest
from prove.mutated_headers import mutate, seeds

from mtpdoctor.gguf import Array, Cause, GGUFError, Header, read
from mtpdoctor.gguf.types import GGML_TYPES, ValueType

pytestmark = pytest.mark.skipif(g.ggml() is None, reason="without the wheel of the demo")


def ours(path: Path) -> Header | GGUFError:
    try:
        return read(path)
    except GGUFError as error:
        return error


def only_ours_reads(header: Header) -> bool:
    """Say whether this is one of the three things that llama.cpp refuses and we hand on."""
    return (
        header.byte_order == "big"
        or any(tensor.type not in GGML_TYPES for tensor in header.tensors.values())
        or any(
            isinstance(value, Array) and value.type is ValueType.ARRAY
            for value in header.metadata.values()
        )
    )


def test_what_ggml_reads_we_read_and_the_other_way_round(tmp_path: Path) -> None:
    """2,000 damaged headers, of which each reader refuses the same.

    gguf_init_from_file does not look whether the data is there; llama_model_loader does, later.
    """
    path = tmp_path / "model.gguf"
    rng = random.Random(7)
    images = seeds()
    agreed = {True: 0, False: 0}
    for number in range(2000):
        raw = mutate(rng, rng.choice(images))
        path.unlink(missing_ok=True)
        path.write_bytes(raw)
        theirs = g.ggml_reads(path)
        mine = ours(path)
        if isinstance(mine, Header):
            agrees = theirs or only_ours_reads(mine)
        else:
            agrees = not theirs or mine.cause in {Cause.TRUNCATED, Cause.MISSING_PART}
        assert agrees, (number, mine, g.logged, raw)
        agreed[theirs] += 1

    assert min(agreed.values()) > 200


def test_the_last_byte_of_data_is_wanted_and_the_padding_behind_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    tensors: list[g.Entry] = [("a", (5,), 0, 20), ("b", (5,), 0, 20)]
    raw = bytes(g.image([], tensors).raw)
    path.write_bytes(raw)

    assert g.ggml_reads(path)
    assert isinstance(ours(path), Header)

    path.write_bytes(raw[:-1])
    error = ours(path)

    assert isinstance(error, GGUFError)
    assert "1 byte is missing" in error.says
