"""Proves the header reader on damaged files: 200,000 of them, each damaged where it matters.

    python tests/prove/mutated_headers.py [--count 200000]

A handful of good files is damaged at known structural places: counts, lengths, types, shapes and
offsets are overwritten, whole entries doubled, taken out or spliced in from another file, the end
cut off. Of each the reader must say something: a header, or a GGUFError. No other exception, no
more than ``MEMORY`` of Python's memory and ``SECONDS`` of processor time for any; at least 30 % must
get as far as the tensor table, or the test would be one of the first few bytes only. Headers that
do read are used: every value is decoded.

The damage is a function of seed and count alone. Prints a table and writes it to docs/proofs/.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import random
import signal
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import gguf_bytes as g  # noqa: E402

from mtpdoctor.gguf import Array, GGUFError, Header, Tensor, read, walk  # noqa: E402
from mtpdoctor.gguf.source import Source  # noqa: E402

MEMORY = 1 << 20
"""Bytes of Python's memory that reading one damaged file of some KB may take."""
SECONDS = 1
"""Seconds of processor time after which a read hangs; a good one takes under a millisecond."""
BLOCKED = 60
"""Seconds on the clock after which a read is taken to wait for something. A busy machine leaves a
process without a processor for seconds, so the clock is no measure of the reader."""
SHARE = 0.3
CHUNK = 2000
INTERESTING = [0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1 << 16]
INTERESTING += [1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 61]
INTERESTING += [(1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1]


@dataclass
class Tally:
    """What became of the damaged files."""

    outcomes: Counter[str] = field(default_factory=Counter)
    reached_tensors: int = 0
    peak: int = 0
    slowest: float = 0.0

    def add(self, other: Tally) -> None:
        self.outcomes += other.outcomes
        self.reached_tensors += other.reached_tensors
        self.peak = max(self.peak, other.peak)
        self.slowest = max(self.slowest, other.slowest)


class Hang(BaseException):
    """Not an Exception, so that nothing between here and there can swallow it."""


def seeds() -> list[g.Image]:
    """Return the good files, little and big, flat and nested, with one tensor and with many."""
    nested: g.Pair = ("n", g.ARR, (g.ARR, [(g.U16, [1, 2]), (g.STR, ["a", ""]), (g.ARR, [])]))
    words: g.Pair = ("w", g.ARR, (g.STR, [f"{i}" for i in range(600)]))
    many: list[g.Entry] = [(f"blk.{i}.ffn_up.weight", (32, 2), 2, 36) for i in range(12)]
    mixed: list[g.Entry] = [("a", (5,), 0, 20), ("q", (256,), 12, 144), ("s", (), 0, 4)]
    arch: g.Pair = ("general.architecture", g.STR, "gemma4-assistant")
    align: g.Pair = ("general.alignment", g.U32, 64)
    return [
        g.small(),
        g.small(">"),
        g.small(version=2),
        g.image([arch, words], many),
        g.image([arch, nested], mixed),
        g.image([arch, align], many, alignment=64),
        g.image([arch], many, pad_last=True),
        g.image([arch, ("split.no", g.U16, 0), ("split.count", g.U16, 2)], mixed),
    ]


def mutate(rng: random.Random, image: g.Image) -> bytes:
    """Return the file with one to three wounds, now and then with none."""
    raw = bytearray(image.raw)
    order: Literal["little", "big"] = "little" if image.mark == "<" else "big"
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 2, 3])):
        # Half of the wounds are behind the metadata: a reader stops at the first that it sees.
        behind = [s for s in image.spots if s.kind in _BEHIND]
        spot = rng.choice(behind if rng.random() < 0.5 else image.spots)
        how = rng.random()
        if spot.size and how < 0.75:
            old = int.from_bytes(raw[spot.at : spot.at + spot.size], order)
            new = _number(rng, old) % (1 << 8 * spot.size)
            raw[spot.at : spot.at + spot.size] = new.to_bytes(spot.size, order)
        elif how < 0.85 and raw:
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        elif how < 0.9:
            del raw[rng.randrange(len(raw) + 1) :]
        else:
            _splice(rng, image, raw, spot.kind)
    return bytes(raw)


_BEHIND = {"tensor", "name", "dimensions", "shape", "tensor type", "offset", "end"}


def _number(rng: random.Random, old: int) -> int:
    match rng.randrange(4):
        case 0:
            return rng.choice(INTERESTING)
        case 1:
            return old + rng.choice([-32, -8, -1, 1, 2, 8, 32])
        case 2:
            return old ^ (1 << rng.randrange(64))
        case _:
            return rng.choice([old * 2, old // 2, old << 32, rng.getrandbits(64)])


def _splice(rng: random.Random, image: g.Image, raw: bytearray, kind: str) -> None:
    """Double, drop or move an entry of the metadata or of the tensor table."""
    wanted = "tensor" if kind in _BEHIND else "pair"
    starts = [s.at for s in image.spots if s.kind in {"pair", "tensor", "end"}]
    entries = [
        (start, end)
        for start, end in pairwise(starts)
        if any(s.at == start and s.kind == wanted for s in image.spots)
    ]
    start, end = rng.choice(entries)
    piece = raw[start:end]
    match rng.randrange(3):
        case 0:
            raw[start:start] = piece
        case 1:
            del raw[start:end]
        case _:
            other_start, other_end = rng.choice(entries)
            raw[other_start:other_end] = piece


def use(header: Header) -> None:
    """Decode all there is in a header."""
    pending = list(header.metadata.values())
    while pending:
        value = pending.pop()
        if isinstance(value, Array):
            assert value.same_as(value)
            assert len(list(value)) == len(value)
            pending += [element for element in value[:50] if isinstance(element, Array)]
    for tensor in header.tensors.values():
        assert tensor.nbytes is None or tensor.nbytes >= 0
        assert tensor.type_name


_TIMERS = {signal.ITIMER_PROF: SECONDS, signal.ITIMER_REAL: BLOCKED}


def _alarm(_number: int, _frame: FrameType | None) -> None:
    raise Hang


def run(seed: int, count: int) -> Tally:
    """Read ``count`` damaged files and tally what became of them; raise what must not happen."""
    rng = random.Random(seed)
    images = seeds()
    tally = Tally()
    table = walk._tensors

    def counted(source: Source, count: int, pos: int, part: int) -> tuple[dict[str, Tensor], int]:
        tally.reached_tensors += count > 0
        return table(source, count, pos, part)

    before = {n: signal.signal(n, _alarm) for n in (signal.SIGPROF, signal.SIGALRM)}
    tracemalloc.start()
    walk._tensors = counted
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model-00001-of-00002.gguf"
            for number in range(count):
                raw = mutate(rng, rng.choice(images))
                path.unlink(missing_ok=True)  # overwriting makes ext4 wait for the disk
                path.write_bytes(raw)
                try:
                    _one(path, tally)
                except BaseException as error:
                    error.add_note(f"case {number} of run(seed={seed})")
                    raise
    finally:
        walk._tensors = table
        tracemalloc.stop()
        for timer, (number, handler) in zip(_TIMERS, before.items(), strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
    return tally


def _one(path: Path, tally: Tally) -> None:
    for timer, seconds in _TIMERS.items():
        signal.setitimer(timer, seconds)
    started = time.process_time()
    tracemalloc.reset_peak()
    held = tracemalloc.get_traced_memory()[0]
    header = error = None
    try:
        header = read(path)
    except GGUFError as caught:
        error = caught
    if header:
        use(header)
    if error:
        assert error.says.startswith(str(path)), error.says
        assert error.hint
    peak = tracemalloc.get_traced_memory()[1] - held
    tally.slowest = max(tally.slowest, time.process_time() - started)
    tally.peak = max(tally.peak, peak)
    tally.outcomes[error.cause if error else "reads"] += 1
    assert peak < MEMORY, f"{peak:,} bytes of memory"


def report(tally: Tally, count: int, seed: int, seconds: float) -> str:
    """Return the result as the page of docs/proofs/."""
    share = tally.reached_tensors / count
    command = f"python tests/prove/mutated_headers.py --count {count} --seed {seed}"
    lines = [
        "# Damaged GGUF headers",
        "",
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}: `{command}`, Python {platform.python_version()},",
        f"{os.cpu_count()} cores, {seconds:.0f} s. No exception but `GGUFError`, no hang.",
        "",
        "| | |",
        "|---|---:|",
        f"| damaged headers | {count:,} |",
        f"| reached the tensor table (at least {SHARE:.0%} wanted) | {share:.1%} |",
        f"| most memory for one (bound {MEMORY:,}) | {tally.peak:,} bytes |",
        f"| most processor time for one (bound {SECONDS} s) | {tally.slowest * 1000:.0f} ms |",
        "",
        "| outcome | files |",
        "|---|---:|",
        *(f"| {outcome} | {number:,} |" for outcome, number in tally.outcomes.most_common()),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "docs/proofs/mutated_headers.md")
    options = parser.parse_args()
    started = time.monotonic()
    counts = [min(CHUNK, options.count - done) for done in range(0, options.count, CHUNK)]
    tally = Tally()
    with ProcessPoolExecutor(max_workers=2) as pool:
        runs = [pool.submit(run, options.seed * 1_000_000 + i, n) for i, n in enumerate(counts)]
        for each in runs:
            tally.add(each.result())
    text = report(tally, options.count, options.seed, time.monotonic() - started)
    print(text)
    assert sum(tally.outcomes.values()) == options.count
    assert tally.reached_tensors >= SHARE * options.count, "too few reached the tensor table"
    options.output.write_text(text)


if __name__ == "__main__":
    main()
