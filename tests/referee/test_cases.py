"""Each broken case is told by its own id, and the real server is asked beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pairs
import pytest
from doctor_command import SERVER, Answer, doctor
from real_server import Kind, behaviour

pytestmark = pytest.mark.server


@dataclass(frozen=True)
class Case:
    """A way to be wrong."""

    variant: str
    id: str
    server: Kind
    """What the server itself does."""
    says: str = ""
    """What stands in its log."""
    message: str = ""
    """What stands in our message."""
    words: Callable[[tuple[str, ...]], tuple[str, ...]] = field(default=lambda words: words)
    """What is done to the arguments."""

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.id}"


def replaced(old: str, *new: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    return lambda words: tuple(n for w in words for n in (new if w == old else (w,)))


def added(*more: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    return lambda words: (*words, *more)


def without_spec_type(words: tuple[str, ...]) -> tuple[str, ...]:
    at = words.index("--spec-type")
    return words[:at] + words[at + 2 :]


CASES = (
    Case("width-wrong", "drafter-width-mismatch", "crashed", "ggml_can_mul_mat(a, b)"),
    Case("width-own", "drafter-width-mismatch", "refused", "embedding_length_out to carry"),
    Case("heads-larger", "drafter-head-mismatch", "crashed", "view_src == NULL"),
    Case("heads-smaller", "drafter-head-mismatch", "ruined"),
    Case("kv-heads-fewer", "drafter-head-mismatch", "ruined"),
    Case("arch-underscore", "drafter-arch-unknown", "refused", "'gemma4_assistant'"),
    Case("swapped", "roles-swapped", "refused", "requires ctx_other"),
    Case("no-drafter", "no-mtp-head", "refused", "failed to create MTP context"),
    Case("own-drafter", "no-mtp-head", "refused", "failed to create MTP context"),
    Case("vocab-larger", "vocab-mismatch", "crashed", "i01 >= 0 && i01 < ne01"),
    Case("vocab-smaller", "vocab-mismatch", "ruined"),
    Case("target-without-swa", "attention-pattern-mismatch", "crashed", "is_swa_any()"),
    Case("drafter-without-swa", "attention-pattern-mismatch", "crashed", "is_swa_any()"),
    Case("pattern-contradicts", "attention-pattern-mismatch", "refused"),
    Case("ordered-embeddings", "ordered-embeddings-drafter", "refused", "_M_range_check"),
    Case("drafter-missing", "file-not-found", "refused", "No such file or directory"),
    Case("drafter-html", "not-a-gguf", "refused", "invalid magic characters"),
    Case("drafter-byte-short", "file-truncated", "refused", "not within the file bounds"),
    Case(
        "sound",
        "removed-flag",
        "refused",
        "the argument has been removed",
        words=replaced("--spec-draft-n-max", "--draft-max"),
    ),
    Case("sound", "unknown-flag", "refused", "invalid argument", words=added("--bogus-flag")),
    Case("sound", "spec-type-missing", "plain", words=without_spec_type),
    Case(
        "sound",
        "quantized-v-without-flash-attention",
        "refused",
        "requires flash_attn",
        words=added("-ctv", "q8_0", "-fa", "off"),
    ),
)


def examined(case: Case, folder: Path, *options: str) -> tuple[Answer, tuple[str, ...]]:
    pair = pairs.write(folder, case.variant)
    words = (SERVER, *case.words(pair.arguments))
    return doctor("--json", *options, "--", *words, cwd=folder), words


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_case_is_told_by_its_id_alone_and_the_server_confirms_it(
    case: Case, tmp_path: Path
) -> None:
    answer, words = examined(case, tmp_path)

    real = behaviour(words)
    assert real.kind == case.server
    assert case.says in real.log
    assert set(answer.errors()) == {case.id}
    assert answer.code == 1


FIXABLE = ("removed-flag", "unknown-flag", "spec-type-missing", "quantized-v")


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.id.startswith(FIXABLE)], ids=lambda case: case.id
)
def test_a_flag_fix_is_proved_by_the_run(case: Case, tmp_path: Path) -> None:
    answer, _ = examined(case, tmp_path, "--smoke")

    report = answer.report
    assert answer.code == 1
    assert set(answer.errors()) == {case.id}
    assert report["command"]["proved"]
    assert behaviour(report["command"]["corrected"]).kind == "drafting"


def test_the_sound_pair_passes_and_the_server_drafts(tmp_path: Path) -> None:
    pair = pairs.write(tmp_path)
    words = (SERVER, *pair.arguments)

    answer = doctor("--json", "--", *words, cwd=tmp_path)

    assert behaviour(words).kind == "drafting"
    assert (answer.code, answer.report["verdict"], answer.errors()) == (0, "pass", [])


@pytest.mark.parametrize("variant", pairs.SOUND)
def test_differences_that_matching_files_show_are_no_findings(variant: str, tmp_path: Path) -> None:
    pair = pairs.write(tmp_path, variant)
    words = (SERVER, *pair.arguments)

    answer = doctor("--json", "--", *words, cwd=tmp_path)

    assert behaviour(words).kind == "drafting"
    assert answer.errors() == []
