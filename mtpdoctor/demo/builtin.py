"""The sizes of the built-in pair, and its files.

Drafting wins where a batch of five tokens costs the target less than 3.6 single ones. On a
processor that needs weights that no cache holds, so that a single token waits for memory: hence a
feed-forward of 4112, 110 MB in all. (Rows of a power of two would share cache lines.) Every
operation is also a point where threads wait for each other, and beside busy neighbours each such
wait may take milliseconds: hence few blocks, small heads and a narrow window.
"""

from __future__ import annotations

from pathlib import Path

from mtpdoctor.demo.acceptance import missed_words
from mtpdoctor.demo.blueprint import save
from mtpdoctor.demo.walk import Shape, drafter, target

TARGET = Shape(
    words=1000,
    embedding_length=528,
    feed_forward_length=4112,
    head_count=1,
    head_count_kv=1,
    key_length=32,
    key_length_swa=16,
    sliding_window_pattern=(True, True, True, False),
    sliding_window=32,
)
DRAFTER = Shape(
    words=1000,
    embedding_length=32,
    feed_forward_length=32,
    head_count=1,
    head_count_kv=1,
    key_length=32,
    key_length_swa=16,
    sliding_window_pattern=(True, False),
    sliding_window=32,
)


def write_target(path: Path) -> None:
    """Write the model that counts."""
    save(target(TARGET), path)


def write_drafter(path: Path, acceptance: float) -> None:
    """Write its drafter, which is right so often that ``acceptance`` of its tokens are accepted."""
    save(drafter(DRAFTER, TARGET, missed=missed_words(DRAFTER.words, acceptance)), path)
