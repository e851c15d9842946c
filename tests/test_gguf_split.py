"""A model in many files is one model."""

from __future__ import annotations

from pathlib import Path

import gguf_bytes as g
import pytest

from mtpdoctor.gguf import Cause, GGUFError, read


def parts(folder: Path, count: int = 3, total: int | None = None) -> list[Path]:
    """Write a model in ``count`` parts, the first of which has metadata only."""
    paths = []
    for number in range(count):
        pairs: list[g.Pair] = [
            ("split.no", g.U16, number),
            ("split.count", g.U16, count),
            ("split.tensors.count", g.I32, 2 * (count - 1) if total is None else total),
        ]
        if number == 0:
            pairs.insert(0, ("general.architecture", g.STR, "gemma4"))
        tensors: list[g.Entry] = [
            (f"blk.{number}.{name}", (8,), 0, 32) for name in ("a", "b") if number
        ]
        path = folder / f"model-Q4-{number + 1:05}-of-{count:05}.gguf"
        path.write_bytes(g.image(pairs, tensors).raw)
        paths.append(path)
    return paths


def refusal(path: Path) -> GGUFError:
    with pytest.raises(GGUFError) as caught:
        read(path)
    return caught.value


@pytest.mark.parametrize("given", [0, 1, 2])
def test_any_part_opens_the_whole(tmp_path: Path, given: int) -> None:
    paths = parts(tmp_path)
    header = read(paths[given])

    assert header.path == str(paths[given])
    assert header.parts == tuple(map(str, paths))
    assert header.arch == "gemma4"
    assert list(header.tensors) == ["blk.1.a", "blk.1.b", "blk.2.a", "blk.2.b"]
    assert [tensor.part for tensor in header.tensors.values()] == [1, 1, 2, 2]


def test_a_relative_path_stays_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [path.name for path in parts(tmp_path)]
    monkeypatch.chdir(tmp_path)

    assert read(names[0]).parts == tuple(names)
    assert read("./" + names[1]).parts == tuple("./" + name for name in names)


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[1].unlink()
    error = refusal(paths[0])

    assert error.cause is Cause.MISSING_PART
    assert error.says == (
        f"{paths[0]}: 1 of the model's 3 parts are missing beside it: {paths[1].name}"
    )
    assert "download all parts" in error.hint


def test_of_many_missing_parts_three_are_named(tmp_path: Path) -> None:
    paths = parts(tmp_path, count=9)
    for path in paths[2:]:
        path.unlink()

    assert "-00003-of-00009.gguf, " in refusal(paths[0]).says
    assert refusal(paths[0]).says.endswith("-00005-of-00009.gguf and 4 more")


def test_a_renamed_part_cannot_find_the_others(tmp_path: Path) -> None:
    path = parts(tmp_path)[0].rename(tmp_path / "model.gguf")

    assert refusal(path).cause is Cause.MISSING_PART
    assert "NAME-00001-of-00003.gguf" in refusal(path).says


def test_a_part_with_anothers_name(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[2].write_bytes(paths[1].read_bytes())
    error = refusal(paths[0])

    assert error.cause is Cause.MISSING_PART
    assert error.path == str(paths[2])
    assert "this should be part 3 of 3" in error.says


def test_a_truncated_part_is_the_one_that_is_named(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    paths[2].write_bytes(paths[2].read_bytes()[:-1])
    error = refusal(paths[0])

    assert (error.cause, error.path) == (Cause.TRUNCATED, str(paths[2]))


def test_tensors_that_do_not_add_up(tmp_path: Path) -> None:
    error = refusal(parts(tmp_path, total=5)[0])

    assert error.cause is Cause.MISSING_PART
    assert "parts have 4 tensors, and split.tensors.count is 5" in error.says


def test_a_tensor_in_two_parts(tmp_path: Path) -> None:
    paths = parts(tmp_path)
    pairs: list[g.Pair] = [("split.no", g.U16, 2), ("split.count", g.U16, 3)]
    paths[2].write_bytes(g.image(pairs, [("blk.1.a", (8,), 0, 32)]).raw)
    error = refusal(paths[0])

    assert error.cause is Cause.DUPLICATE
    assert "'blk.1.a' is in an earlier part" in error.says


def test_llama_cpp_takes_the_counts_in_one_type_only(tmp_path: Path) -> None:
    path = tmp_path / "model-00001-of-00002.gguf"
    path.write_bytes(g.image([("split.count", g.U32, 2)]).raw)

    assert refusal(path).cause is Cause.MALFORMED
    assert "split.count is of type u32, and must be u16" in refusal(path).says


def test_one_part_of_one_is_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "any.gguf"
    path.write_bytes(g.image([("split.count", g.U16, 1)]).raw)

    assert read(path).parts == (str(path),)
