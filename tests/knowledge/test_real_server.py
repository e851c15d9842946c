"""A real llama-server, given something it cannot use, prints what the knowledge recognises."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mtpdoctor import knowledge
from mtpdoctor.demo import walk
from mtpdoctor.demo.blueprint import Blueprint, save
from mtpdoctor.knowledge import FlagNote, ValueNote
from mtpdoctor.smoke.diagnosis import Ending, diagnose

BOOK = knowledge.load()
SERVER = Path(sys.executable).with_name("llama-server-vulkan")
BUILD = "b10434"
NOTES: tuple[FlagNote | ValueNote, ...] = (*BOOK.flags, *BOOK.values)
pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(not SERVER.exists(), reason="the demo's llama-server is not installed"),
]

TARGET = walk.Shape(
    words=64,
    embedding_length=64,
    feed_forward_length=64,
    head_count=4,
    head_count_kv=2,
    key_length=32,
    key_length_swa=16,
    sliding_window_pattern=(True, True, True, False),
)
DRAFTER = replace(TARGET, embedding_length=32, feed_forward_length=32)
ARCH = "general.architecture"


def ended(*argv: str) -> tuple[int, list[str]]:
    """Run a server that ends by itself; return its exit status and all that it printed."""
    done = subprocess.run(
        [SERVER, *argv, "--host", "127.0.0.1", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"GGML_NO_BACKTRACE": "1"},
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace").splitlines()


def rename(blueprint: Blueprint, arch: str) -> None:
    old = blueprint.architecture
    blueprint.metadata = {
        key.replace(f"{old}.", f"{arch}."): value for key, value in blueprint.metadata.items()
    }
    blueprint.metadata[ARCH] = (arch, "str")


def other_width(blueprint: Blueprint) -> None:
    blueprint.put("embedding_length_out", 96, "u32")
    blueprint.tensors["nextn.pre_projection.weight"] = np.zeros((32, 192), np.float32)
    blueprint.tensors["nextn.post_projection.weight"] = np.zeros((96, 32), np.float32)


def masked(blueprint: Blueprint) -> None:
    rows = blueprint.tensors["token_embd.weight"].shape[0]
    blueprint.tensors["masked_embd_centroids.weight"] = np.zeros((8, 32), np.float32)
    blueprint.tensors["masked_embd_ordering"] = np.zeros((rows,), np.int32)


def spare_tensor(blueprint: Blueprint) -> None:
    blueprint.tensors["blk.0.spare.weight"] = np.zeros((8, 32), np.float32)


SPOILT: dict[str, Callable[[Blueprint], object]] = {
    "fork-drafter-architecture": lambda b: rename(b, "gemma4_assistant"),
    "unknown-architecture": lambda b: rename(b, "gemma9"),
    "drafter-width-multiplied": other_width,
    "drafter-carries-no-width": lambda b: b.put("embedding_length_out", 32, "u32"),
    "nextn-count-wrong": lambda b: b.put("nextn_predict_layers", 2, "u32"),
    "masked-embeddings": masked,
    "tensor-count": spare_tensor,
    "tensor-missing": lambda b: b.tensors.pop("blk.1.attn_q.weight"),
    "sliding-window-key-missing": lambda b: b.metadata.pop(
        "gemma4-assistant.attention.sliding_window"
    ),
    "value-type-wrong": lambda b: b.put("block_count", 4, "u64"),
    "sliding-window-pattern-length": lambda b: b.put(
        "attention.sliding_window_pattern", [True, True, False], "bool"
    ),
    "attention-tensor-shape": lambda b: b.put(
        "attention.sliding_window_pattern", [True] * 4, "bool"
    ),
    "vocabulary-unreadable": lambda b: b.metadata.pop("tokenizer.ggml.tokens"),
}


@pytest.mark.parametrize(("signature", "spoil"), SPOILT.items(), ids=SPOILT)
def test_a_spoilt_drafter_is_recognised_by_what_the_server_says(
    signature: str, spoil: Callable[[Blueprint], object], tmp_path: Path
) -> None:
    target, drafter = tmp_path / "target.gguf", tmp_path / "drafter.gguf"
    save(walk.target(TARGET), target)
    spoilt = walk.drafter(DRAFTER, TARGET)
    spoil(spoilt)
    save(spoilt, drafter)

    status, lines = ended(
        *("-m", str(target), "-md", str(drafter), "--spec-type", "draft-mtp", "-c", "512")
    )

    assert status != 0
    assert diagnose(lines, ending=Ending(), knowledge=BOOK).signature == signature


@pytest.mark.parametrize("note", BOOK.flags, ids=lambda note: note.id)
def test_a_flag_that_is_gone_or_foreign_is_refused_under_each_of_its_names(note: FlagNote) -> None:
    for name in note.names:
        status, lines = ended(name, "1")
        crash = diagnose(lines, ending=Ending(), knowledge=BOOK)

        assert status == 1
        assert crash.signature in {"removed-argument", "unknown-argument"}
        assert name in crash.cause


@pytest.mark.parametrize("note", BOOK.values, ids=lambda note: note.id)
def test_a_value_that_is_gone_or_foreign_is_refused(note: ValueNote) -> None:
    status, lines = ended(note.flag, note.value)

    assert status == 1
    assert diagnose(lines, ending=Ending(), knowledge=BOOK).signature == "unknown-speculative-type"


def test_what_takes_their_place_is_listed_by_the_server() -> None:
    _, lines = ended("--help")
    words = set(" ".join(lines).replace(",", " ").split())

    wanted = {note.successor for note in NOTES if note.successor}

    assert wanted <= words


@pytest.mark.parametrize(
    "quoted",
    [
        source.says.removeprefix(f"{BUILD}: ")
        for note in NOTES
        for source in note.source
        if source.kind == "run"
    ],
)
def test_the_words_that_a_run_is_quoted_with_are_the_servers(quoted: str) -> None:
    match quoted.split('"'):
        case [_, flag, rest]:
            argv = [flag, rest.rsplit(": ", 1)[1] if "unknown speculative" in rest else "1"]
        case _:
            argv = [quoted.rsplit(": ", 1)[1], "1"]

    _, lines = ended(*argv)

    assert quoted in lines
