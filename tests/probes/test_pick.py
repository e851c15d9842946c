from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.probes import pick

GEMMA = (
    "MTP/gemma-4-E4B-it-Q8_0-MTP.gguf",
    "UD/gemma-4-E4B-it-UD-Q4_K_XL.gguf",
    "gemma-4-E4B-it-BF16.gguf",
    "gemma-4-E4B-it-Q4_K_M.gguf",
    "gemma-4-E4B-it-Q8_0.gguf",
    "mmproj-F16.gguf",
    "mtp-gemma-4-E4B-it.gguf",
)
NAMES = st.text(alphabet="abMTPmtp-_.0489/QK", max_size=24)


@pytest.mark.parametrize(
    ("named", "repo", "tag"),
    [
        ("org/name", "org/name", ""),
        ("org/name:Q4_K_M", "org/name", "Q4_K_M"),
        ("org/name:", "org/name", ""),
        ("org/name:a:b", "org/name", "b"),
    ],
)
def test_the_tag_follows_the_last_colon(named: str, repo: str, tag: str) -> None:
    assert pick.split(named) == (repo, tag)


@pytest.mark.parametrize(
    ("tag", "file"),
    [
        ("Q4_K_M", "gemma-4-E4B-it-Q4_K_M.gguf"),
        ("q4_k_m", "gemma-4-E4B-it-Q4_K_M.gguf"),
        ("", "gemma-4-E4B-it-Q4_K_M.gguf"),
        ("BF16", "gemma-4-E4B-it-BF16.gguf"),
        ("UD-Q4_K_XL", "UD/gemma-4-E4B-it-UD-Q4_K_XL.gguf"),
        ("Q6_K", None),
        ("Q4_K", None),
    ],
)
def test_the_tag_decides_which_model_is_loaded(tag: str, file: str | None) -> None:
    assert pick.model(GEMMA, tag) == file


def test_a_drafter_named_like_a_model_is_taken_for_the_model() -> None:
    """The trap of https://github.com/ggml-org/llama.cpp/issues/25461, which is to be diagnosed."""
    assert pick.model(GEMMA, "Q8_0") == "MTP/gemma-4-E4B-it-Q8_0-MTP.gguf"


def test_without_a_preferred_quantization_the_first_model_is_loaded() -> None:
    files = ("imatrix.gguf", "mmproj.gguf", "mtp-a.gguf", "b-Q5_K.gguf", "c-Q6_K.gguf")

    assert pick.model(files, "") == "b-Q5_K.gguf"


def test_a_split_model_is_loaded_from_its_first_part() -> None:
    files = ("a-Q4_K_M-00002-of-00002.gguf", "a-Q4_K_M-00001-of-00002.gguf")

    assert pick.model(files, "") == "a-Q4_K_M-00001-of-00002.gguf"


def test_a_drafter_at_the_root_serves_every_model() -> None:
    assert pick.drafter(GEMMA, "UD/gemma-4-E4B-it-UD-Q4_K_XL.gguf", "") == "mtp-gemma-4-E4B-it.gguf"


@pytest.mark.parametrize("file", ["MTP/mtp-a.gguf", "MTP-a.gguf", "mtp-a.bin", "mtp_a.gguf"])
def test_a_drafter_elsewhere_or_of_another_name_is_not_found(file: str) -> None:
    assert pick.drafter([file], "a-Q4_K_M.gguf", "") is None


@pytest.mark.parametrize(
    ("files", "target", "tag", "found"),
    [
        (("d/mtp-a-Q8_0.gguf", "mtp-a-Q4_0.gguf"), "d/a-Q4_0.gguf", "Q4_0", "d/mtp-a-Q8_0.gguf"),
        (("mtp-a-Q4_0.gguf", "mtp-a-Q4_K_M.gguf"), "a-Q4_K_M.gguf", "Q4_K_M", "mtp-a-Q4_K_M.gguf"),
        (("mtp-a-BF16.gguf", "mtp-a-Q8_0.gguf"), "a-Q4_K_M.gguf", "Q4_K_M", "mtp-a-Q8_0.gguf"),
        (("mtp-a-BF16.gguf", "mtp-a-Q8_0.gguf"), "a-F16.gguf", "", "mtp-a-BF16.gguf"),
    ],
)
def test_the_deepest_then_the_very_tag_then_the_nearest_bits_win(
    files: tuple[str, ...], target: str, tag: str, found: str
) -> None:
    assert pick.drafter(files, target, tag) == found


@given(files=st.lists(NAMES.map(lambda name: name + ".gguf")), tag=NAMES)
def test_whatever_is_picked_is_one_of_the_files(files: list[str], tag: str) -> None:
    model = pick.model(files, tag)
    found = pick.drafter(files, model or "", tag)

    assert model is None or model in files
    assert found is None or (found in files and "mtp-" in found)
