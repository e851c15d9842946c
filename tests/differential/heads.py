"""A target with the MTP head inside (Qwen 3.5): sound, stripped, halved, and misused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pairs
from differential import changes, qwen35
from differential.case import Case, Words
from differential.changes import Edit
from pairs import Written

from mtpdoctor.demo.blueprint import Blueprint, save

SEED, TWOS = 35, 20
_EH = "blk.2.nextn.eh_proj.weight"


def every() -> Iterator[Case]:
    for name, edit in _EDITS.items():
        yield _case(name, edit)
    atoms = [atom for atom in _atoms() if atom.name.partition(".")[2] not in _EDITS]
    for atom in atoms:
        yield _case(atom.name.removeprefix("target."), atom.edit)
    draw = random.Random(SEED)
    for _ in range(TWOS):
        one, other = draw.sample(atoms, 2)
        if one.place != other.place:
            names = [each.name.removeprefix("target.") for each in (one, other)]
            yield _case(" & ".join(names), one.edit, other.edit)
    for layers in (2, 3):
        yield Case(
            name=f"qwen35 {layers} heads",
            family="head inside",
            built_in=lambda layers=layers: qwen35.with_head(layers),  # type: ignore[misc]
        )
    for name, words in _WORDS.items():
        yield _case(name, words=words)
    for name, damage in _FILES.items():
        yield _case(name, damage=damage)


def _case(
    name: str,
    *edits: Edit,
    words: Words = lambda words: words,
    damage: pairs.Damage | None = None,
) -> Case:
    def built() -> Blueprint:
        blueprint = qwen35.with_head()
        for edit in edits:
            edit(blueprint)
        return blueprint

    return Case(
        name=f"qwen35 {name}", family="head inside", built_in=built, words=words, damage=damage
    )


def _atoms() -> Iterator[changes.Atom]:
    sound = qwen35.with_head()
    yield from changes.keys("target", sound)
    yield from changes.tensors("target", sound)
    for name in sound.tensors:  # the head's block looks like the others; each is taken out
        if name.startswith("blk.2."):
            yield changes.missing("target", name)
    yield from changes.weights("target", sound)


def _set(**values: int) -> Edit:
    def edit(blueprint: Blueprint) -> None:
        for key, value in values.items():
            blueprint.put(key, value, "u32")

    return edit


def _without_key(blueprint: Blueprint) -> None:
    del blueprint.metadata["qwen35.nextn_predict_layers"]


def _without_head(blueprint: Blueprint) -> None:
    blueprint.tensors = {k: v for k, v in blueprint.tensors.items() if not k.startswith("blk.2.")}


def _without_nextn(blueprint: Blueprint) -> None:
    blueprint.tensors = {k: v for k, v in blueprint.tensors.items() if ".nextn." not in k}


def _plain(blueprint: Blueprint) -> None:
    _without_head(blueprint)
    _without_key(blueprint)
    blueprint.put("block_count", 2, "u32")


def _short(blueprint: Blueprint) -> None:
    _without_head(blueprint)
    blueprint.put("block_count", 2, "u32")


def _key_gone(blueprint: Blueprint) -> None:
    _without_key(blueprint)
    blueprint.put("block_count", 2, "u32")


def _own_embeddings(blueprint: Blueprint) -> None:
    blueprint.tensors["blk.2.nextn.embed_tokens.weight"] = blueprint.tensors["token_embd.weight"]
    blueprint.tensors["blk.2.nextn.shared_head_head.weight"] = blueprint.tensors["output.weight"]


_EDITS: dict[str, Edit] = {
    "sound": lambda _: None,
    "own embeddings": _own_embeddings,
    "no key": _without_key,
    "nextn 0": _set(nextn_predict_layers=0),
    "nextn 2": _set(nextn_predict_layers=2),
    "nextn 3": _set(nextn_predict_layers=3),
    "stripped, key kept": _without_head,
    "nextn tensors stripped, key kept": _without_nextn,
    "never had a head": _plain,
    "stripped, key kept, blocks right": _short,
    "key stripped, tensors kept": _key_gone,
    "blocks one more": _set(block_count=4),
    "blocks one less": _set(block_count=2),
}


def _replaced(old: str, *new: str) -> Words:
    return lambda words: tuple(n for w in words for n in (new if w == old else (w,)))


def _no_type(words: tuple[str, ...]) -> tuple[str, ...]:
    at = words.index("--spec-type")
    return (*words[:at], *words[at + 2 :])


def _itself(words: tuple[str, ...]) -> tuple[str, ...]:
    return (*words, "--model-draft", words[1])


_WORDS: dict[str, Words] = {
    "no --spec-type": _no_type,
    "--spec-type draft-mtp,ngram-simple": _replaced("draft-mtp", "draft-mtp,ngram-simple"),
    "--spec-type draft-simple": _replaced("draft-mtp", "draft-simple"),
    "itself as the drafter": _itself,
    "itself as the drafter, no --spec-type": lambda words: _no_type(_itself(words)),
    "-np 4": lambda words: (*words, "-np", "4"),
    "-np 2 --no-kv-unified": lambda words: (*words, "-np", "2", "--no-kv-unified"),
    "-ctk q8_0 -ctv q8_0": lambda words: (*words, "-ctk", "q8_0", "-ctv", "q8_0"),
    "-ctv q8_0 -fa off": lambda words: (*words, "-ctv", "q8_0", "-fa", "off"),
    "-ctkd q8_0 -ctvd q8_0": lambda words: (*words, "-ctkd", "q8_0", "-ctvd", "q8_0"),
    "-fa off": lambda words: (*words, "-fa", "off"),
    "-c 512": lambda words: (*words, "-c", "512"),
    "n-max 0": lambda words: (*words, "--spec-draft-n-max", "0"),
    "n-max 1": lambda words: (*words, "--spec-draft-n-max", "1"),
    "n-max 16": lambda words: (*words, "--spec-draft-n-max", "16"),
    "n-min 5": lambda words: (*words, "--spec-draft-n-min", "5"),
    "p-min 1.0": lambda words: (*words, "--spec-draft-p-min", "1.0"),
    "p-min 0.9": lambda words: (*words, "--spec-draft-p-min", "0.9"),
    "--context-shift": lambda words: (*words, "--context-shift"),
    "-devd none": lambda words: (*words, "-devd", "none"),
}


def _head_file(main: Path, _: Path) -> Written:
    head = main.with_name("head.gguf")
    save(qwen35.with_head(trunk=False), head)
    return Written(main, head)


def _head_file_beside_plain(main: Path, head: Path) -> Written:
    plain = qwen35.with_head()
    _plain(plain)
    save(plain, main)
    return _head_file(main, head)


def _head_alone(main: Path, _: Path) -> Written:
    save(qwen35.with_head(trunk=False), main)
    return Written(main, None)


def _gemma_drafter(main: Path, _: Path) -> Written:
    other = main.with_name("assistant.gguf")
    save(pairs.sound().drafter, other)
    return Written(main, other)


def _plain_itself(main: Path, _: Path) -> Written:
    plain = qwen35.with_head()
    _plain(plain)
    save(plain, main)
    return Written(main, main)


_FILES: dict[str, pairs.Damage] = {
    "head in a file of its own": _head_file,
    "plain, head in a file of its own": _head_file_beside_plain,
    "head alone as the target": _head_alone,
    "assistant as the drafter": _gemma_drafter,
    "plain with itself as the drafter": _plain_itself,
}
