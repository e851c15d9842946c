"""Every case of the suite, in a fixed order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pairs
from differential import changes, commands, heads
from differential.case import Case, Change
from pairs import Sketch, Written

from mtpdoctor.demo.walk import Shape, drafter, target

SEED = 20_261_201
TWOS, SHAPES = 80, 80


@cache
def every() -> tuple[Case, ...]:
    """Return all of them, each name once."""
    cases = (
        Case(name="sound", family="files"),
        *_singles(),
        *_twos(),
        *_shapes(),
        *_damages(),
        *commands.every(),
        *heads.every(),
    )
    return tuple({case.name: case for case in reversed(cases)}.values())[::-1]


def _singles() -> Iterator[Case]:
    for atom in changes.every():
        yield Case(
            name=atom.name,
            family="files",
            changes=(atom,),
        )


def _twos() -> Iterator[Case]:
    """Yield changes in twos, at different places, drawn with a fixed seed."""
    draw, atoms = random.Random(SEED), changes.every()
    seen = set[tuple[str, str]]()
    while len(seen) < TWOS:
        one, other = sorted(draw.sample(range(len(atoms)), 2))
        first, second = atoms[one], atoms[other]
        if first.place == second.place or (first.name, second.name) in seen:
            continue
        if ".architecture-" in first.name + second.name:
            continue  # the keys have other names then
        seen.add((first.name, second.name))
        yield Case(
            name=f"{first.name} & {second.name}",
            family="files in twos",
            changes=(first, second),
        )


def _shapes() -> Iterator[Case]:
    """Yield sound pairs of other sizes, drawn with a fixed seed."""
    draw = random.Random(SEED)
    for number in range(SHAPES):
        kv_heads = draw.choice((1, 2, 4))
        full = draw.choice((64, 128))
        blocks = draw.randrange(2, 7)
        pattern = [draw.random() < 0.6 for _ in range(blocks - 1)]
        main = Shape(
            words=draw.choice((100, 120, 150)),
            embedding_length=draw.choice((64, 96, 128)),
            feed_forward_length=draw.choice((32, 64, 96)),
            head_count=kv_heads * draw.choice((1, 2, 4)),
            head_count_kv=kv_heads,
            key_length=full,
            key_length_swa=draw.choice((32, 64)),
            sliding_window_pattern=(True, *pattern[1:], False),
            context_length=draw.choice((4096, 16384, 131072)),
        )
        head = replace(
            main,
            embedding_length=draw.choice((32, 48, 64)),
            feed_forward_length=draw.choice((32, 64)),
            head_count=kv_heads * draw.choice((1, 2)),
            sliding_window_pattern=(True,) * draw.randrange(1, 4) + (False,),
        )
        if head.embedding_length == main.embedding_length:
            head = replace(head, embedding_length=48)
        yield Case(name=f"shape-{number}", family="sound sizes", changes=(_sized(main, head),))


def _sized(main: Shape, head: Shape) -> Change:
    def change(pair: Sketch) -> None:
        pair.target, pair.drafter = target(main), drafter(head, main)

    return change


def _damages() -> Iterator[Case]:
    for name, damage in pairs.DAMAGED.items():
        yield Case(name=name, family="damaged files", damage=damage)
    for side in changes.SIDES:
        for share in (0, 1, 10, 50, 90, 99):
            yield _damaged(f"{side}-cut-to-{share}", side, _cut(share))
        for name, at, new in (
            ("magic", 0, b"GGML"),
            ("version-1", 4, b"\1\0\0\0"),
            ("version-2", 4, b"\2\0\0\0"),
            ("version-4", 4, b"\4\0\0\0"),
            ("tensor-count", 8, b"\xff\xff"),
            ("key-count", 16, b"\xff\xff"),
            ("key-length", 24, b"\xff\xff\xff\xff\xff\xff\xff\x7f"),
        ):
            yield _damaged(f"{side}-{name}", side, _patched(at, new))
        yield _damaged(f"{side}-longer", side, lambda data: data + b"\0" * 100)
        yield _damaged(f"{side}-zip", side, lambda data: b"PK\3\4" + data)
        yield _damaged(
            f"{side}-text", side, lambda _: b"version https://git-lfs.github.com/spec/v1\n"
        )
        yield _damaged(f"{side}-last-byte", side, lambda data: data[:-1])
        yield Case(name=f"{side}-folder", family="damaged files", damage=_folder(side))


def _damaged(name: str, side: changes.Side, how: Callable[[bytes], bytes]) -> Case:
    def damage(main: Path, head: Path) -> Written:
        path = main if side == "target" else head
        path.write_bytes(how(path.read_bytes()))
        return Written(main, head)

    return Case(name=name, family="damaged files", damage=damage)


def _folder(side: changes.Side) -> pairs.Damage:
    def damage(main: Path, head: Path) -> Written:
        path = main if side == "target" else head
        path.unlink()
        path.mkdir()
        return Written(main, head)

    return damage


def _cut(percent: int) -> Callable[[bytes], bytes]:
    return lambda data: data[: len(data) * percent // 100]


def _patched(at: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + new + data[at + len(new) :]
