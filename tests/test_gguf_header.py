"""A header as the checks see it: from a file or made by hand, with the same answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gguf
import gguf_bytes as g
import pytest

from mtpdoctor.gguf import Array, Header, Tensor, ValueType, read
from mtpdoctor.gguf.array import STRIDE
from mtpdoctor.gguf.types import GGML_TYPES


@pytest.mark.parametrize("mark", "<>")
@pytest.mark.parametrize("version", [2, 3])
def test_everything_in_a_small_model_is_read(tmp_path: Path, mark: str, version: int) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(g.small(mark, version).raw)
    header = read(path)
    values = dict(header.metadata)

    assert (header.path, header.parts) == (str(path), (str(path),))
    assert (header.version, header.alignment) == (version, 32)
    assert header.byte_order == ("little" if mark == "<" else "big")
    assert header.arch == "gemma4"
    assert header.get("block_count") == 4
    assert header.get("nothing") is None
    assert [values[f"a.{t}"] for t in ("u8", "i8", "u16", "i16", "i32", "u64", "i64")] == [
        *(200, -3, 60000, -300, -70000, 1 << 40, -(1 << 40))
    ]
    assert (values["a.f32"], values["a.f64"], values["a.bool"]) == (0.5, 0.1, True)
    assert values["gemma4.attention.sliding_window_pattern"] == [True, True, False]
    assert values["tokenizer.ggml.scores"] == [0.0, -1.0, 2.5, 8.0]
    assert values["a.empty"] == []
    assert header.types["a.u16"] is ValueType.UINT16
    assert header.types["a.empty"] is ValueType.ARRAY
    assert [(t.shape, t.type_name, t.nbytes) for t in header.tensors.values()] == [
        ((32, 4), "Q4_0", 72),
        ((5,), "F32", 20),
        ((4, 2, 2, 2), "F16", 64),
        ((1,), "F32", 4),
    ]


def test_bytes_that_are_no_utf8_are_shown_and_never_raise(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(g.image([("k", g.STR, b"a\xffb"), ("l", g.ARR, (g.STR, [b"\xe2\x82"]))]).raw)
    header = read(path)

    assert header.metadata["k"] == r"a\xffb"
    assert header.metadata["l"] == [r"\xe2\x82"]


def test_another_alignment_moves_the_data(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    tensors: list[g.Entry] = [("a", (1,), 0, 4), ("b", (1,), 0, 4)]
    path.write_bytes(g.image([("general.alignment", g.U32, 256)], tensors, alignment=256).raw)
    header = read(path)

    assert header.alignment == 256
    assert [tensor.offset for tensor in header.tensors.values()] == [256, 512]


def long_array(folder: Path, mark: str = "<") -> Array:
    path = folder / "long.gguf"
    words = [f"{i}" * (i % 5) for i in range(3 * STRIDE + 7)]
    path.write_bytes(g.image([("words", g.ARR, (g.STR, words))], mark=mark).raw)
    array = read(path).metadata["words"]
    assert isinstance(array, Array)
    return array


def test_an_array_answers_like_a_tuple(tmp_path: Path) -> None:
    array = long_array(tmp_path)
    words = tuple(f"{i}" * (i % 5) for i in range(3 * STRIDE + 7))

    assert len(array) == len(words)
    assert tuple(array) == words
    assert all(array[i] == words[i] for i in range(-len(words), len(words)))
    assert array[STRIDE - 2 : STRIDE + 2] == words[STRIDE - 2 : STRIDE + 2]
    assert array[::-97] == words[::-97]
    assert array[5:2] == ()
    assert array[:10_000] == words
    assert "3333" not in array
    assert "333" in array
    assert repr(array) == "<Array of 775 str>"
    for index in (len(words), -len(words) - 1):
        with pytest.raises(IndexError, match="of an array of 775"):
            array[index]


def test_arrays_are_compared_by_content(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "hand").mkdir()
    mine, swapped = long_array(tmp_path), long_array(tmp_path / "big", mark=">")
    words = list(mine)
    hand = Header.of({"words": words}).metadata["words"]
    other = Header.of({"words": [*words[:-1], "x"]}).metadata["words"]

    assert mine.same_as(swapped)
    assert mine == hand == words
    assert mine != other
    assert mine != words[:-1]
    assert mine != "words"


def test_equal_numbers_of_two_types_are_equal() -> None:
    a, b = Header.of({"a": [8, 8, 1]}), Header.of({"a": [8, 8, 1]}, types={"a": ValueType.UINT64})
    first, second = a.metadata["a"], b.metadata["a"]
    assert isinstance(first, Array)
    assert isinstance(second, Array)

    assert (first.type, second.type) == (ValueType.INT32, ValueType.UINT64)
    assert first == second


def test_arrays_in_arrays(tmp_path: Path) -> None:
    rows = [(g.U32, [i, i + 1]) for i in range(STRIDE + 3)]
    path = tmp_path / "model.gguf"
    path.write_bytes(g.image([("k", g.ARR, (g.ARR, [*rows, (g.STR, ["x"])]))]).raw)
    array = read(path).metadata["k"]
    assert isinstance(array, Array)

    assert array[STRIDE + 1] == [STRIDE + 1, STRIDE + 2]
    assert array[-1] == ["x"]
    assert [list(row) for row in array[:2] if isinstance(row, Array)] == [[0, 1], [1, 2]]


def test_a_header_by_hand_is_what_its_file_would_give(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    pairs: list[g.Pair] = [
        ("general.architecture", g.STR, "gemma4"),
        ("gemma4.block_count", g.U32, 4),
        ("gemma4.rope.freq_base", g.F32, 0.1),
        ("gemma4.pattern", g.ARR, (g.BOOL, [True, False])),
        ("gemma4.attention.head_count_kv", g.ARR, (g.I32, [8, 1])),
        ("tokenizer.ggml.tokens", g.ARR, (g.STR, ["a", "ü"])),
    ]
    path.write_bytes(g.image(pairs, [("a", (5,), 0, 20), ("b", (3, 2), 0, 24)]).raw)
    header = read(path)
    hand = Header.of(
        {
            "general.architecture": "gemma4",
            "gemma4.block_count": 4,
            "gemma4.rope.freq_base": 0.1,
            "gemma4.pattern": [True, False],
            "gemma4.attention.head_count_kv": (8, 1),
            "tokenizer.ggml.tokens": ["a", "ü"],
        },
        {"a": (5,), "b": [3, 2]},
    )

    assert hand.metadata == header.metadata
    assert hand.types == header.types
    assert {k: (t.shape, t.type) for k, t in hand.tensors.items()} == {
        k: (t.shape, t.type) for k, t in header.tensors.items()
    }
    assert hand.arch == header.arch


def test_types_by_hand_are_inferred_or_given() -> None:
    header = Header.of(
        {"b": True, "u": 1, "i": -1, "q": 1 << 40, "n": -(1 << 40), "f": 1.0, "s": "", "w": 3},
        types={"w": ValueType.UINT16},
    )

    assert [header.types[key].short for key in header.metadata] == (
        ["bool", "u32", "i32", "u64", "i64", "f32", "str", "u16"]
    )
    assert str(header.types["w"]) == "u16"


def test_a_tensor_by_hand_may_be_whole() -> None:
    tensor = Tensor(name="t", shape=(64, 2), type=2)
    header = Header.of(tensors={"t": tensor, "u": ()})

    assert header.tensors["t"] is tensor
    assert header.tensors["t"].nbytes == 72
    assert header.tensors["u"].elements == 1
    assert header.arch is None


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (1 << 32, ValueType.UINT32),
        (-1, ValueType.UINT8),
        (1e300, ValueType.FLOAT32),
        ("x", ValueType.INT32),
        (1, ValueType.STRING),
        ({}, None),
        ([1, "x"], None),
        (None, None),
    ],
)
def test_by_hand_a_value_must_fit_its_type(value: object, type_: ValueType | None) -> None:
    with pytest.raises(ValueError, match=r"is no|no GGUF type"):
        Header.of({"k": value}, types={"k": type_} if type_ is not None else None)


def test_by_hand_a_type_needs_its_value() -> None:
    with pytest.raises(ValueError, match="keys that are not there: k"):
        Header.of({}, types={"k": ValueType.UINT32})


def test_the_table_of_types_is_the_gguf_packages() -> None:
    theirs = {int(k): (k.name, *size) for k, size in gguf.GGML_QUANT_SIZES.items()}
    # gguf.constants has 40 for Q8_1, and ggml's block_q8_1 36; no file holds that type.
    theirs[8 + 1] = ("Q8_1", 32, 36)

    assert {k: tuple(v) for k, v in GGML_TYPES.items() if k in theirs} == theirs


def test_the_table_of_types_is_ggmls() -> None:
    library = g.ggml()
    if library is None:
        pytest.skip("without the wheel of the demo")
    theirs = {
        number: (
            library.ggml_type_name(number).decode().upper(),
            library.ggml_blck_size(number),
            library.ggml_type_size(number),
        )
        for number in range(43)
        if library.ggml_blck_size(number)
    }

    assert {k: tuple(v) for k, v in GGML_TYPES.items() if k < 43} == theirs


def test_numpy_is_not_imported() -> None:
    code = "import sys, mtpdoctor.gguf; sys.exit('numpy' in sys.modules or 'gguf' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
