"""The same patient told otherwise: nothing in here may change a verdict."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from patients.ward import Patient, admit, stated

from mtpdoctor.facts import Drafter, Facts, Launch, Option, Target, Unknown
from mtpdoctor.gguf import Header

_FOLDERS = ("/models", "/data/ai models/gguf", "C:/llm", "../w", "/mnt/nas/x.y")
_FILES = ("-m", "--model", "-md", "--spec-draft-model", "--model-draft", "--mmproj")
_MARKED = re.compile(r"mtp-|MTP|assistant|mmproj", re.IGNORECASE)
_QUANTIZED = (2, 3, 8, 12, 14)  # Q4_0, Q4_1, Q8_0, Q4_K, Q6_K
_PLAIN = frozenset({0, 1, 30})
_RENAMED: dict[str, object] = {
    "general.name": "Something else",
    "general.size_label": "9.9B",
    "general.file_type": 7,
    "general.quantized_by": "someone",
    "tokenizer.chat_template": "{{ messages }}",
}


def perturbed(patient: Patient, random: Random) -> Facts:
    """Return the facts of *patient* with other names, spellings, order and quantization."""
    table = stated(patient)
    launch = admit(stated(patient)).get(Launch)
    if launch is not None:
        words, environment = _command(launch, random)
        table["command"] = shlex.join(words)
        table["environment"] = environment
    facts = admit(table)
    if not patient.steady:
        return facts
    for kind in (Target, Drafter):
        model = facts.get(kind)
        if model is not None and not isinstance(model.header, Unknown):
            facts = facts.with_(replace(model, header=_quantized(model.header, random)))
    return facts


def _command(launch: Launch, random: Random) -> tuple[list[str], dict[str, str]]:
    units, environment = [], dict(launch.environment)
    used = [option.flag for option in launch.options if option.flag is not None]
    for option, rest in _units(launch):
        once = option.flag is not None and used.count(option.flag) == 1
        words = _respelled(option, launch, random)
        if once and not rest and _fits_environment(option) and random.random() < 0.25:
            assert option.flag is not None
            environment[option.flag.env[0]] = words[1]
        else:
            units.append((once and not rest, [*words, *rest]))
    free = [words for movable, words in units if movable]
    random.shuffle(free)
    mixed = [free.pop() if movable else words for movable, words in units]
    return [
        *launch.words[: launch.start],
        *(word for words in mixed for word in words),
    ], environment


def _units(launch: Launch) -> Iterator[tuple[Option, list[str]]]:
    """Yield each option of the command with the stray words behind it."""
    placed = [option for option in launch.options if option.at >= 0]
    ends = [*(option.at for option in placed[1:]), len(launch.words)]
    for option, end in zip(placed, ends, strict=True):
        yield option, list(launch.words[option.at + option.width : end])


def _fits_environment(option: Option) -> bool:
    flag = option.flag
    return (
        flag is not None
        and bool(flag.env)
        and flag.arity == 1
        and not flag.removed
        and not flag.appends
        and len(option.values) == 1
        and not option.joined
        and "--model" not in flag.names
        and "--spec-draft-model" not in flag.names
    )


def _respelled(option: Option, launch: Launch, random: Random) -> list[str]:
    flag = option.flag
    words = list(launch.words[option.at : option.at + option.width])
    if flag is None or option.negated or option.joined or flag.removed:
        return words
    if option.spelled in flag.names:
        words[0] = random.choice([name for name in flag.names if launch.table.accepts(name)])
    if option.spelled in _FILES and len(words) > 1:
        words[1] = _elsewhere(words[1], random)
    return words


def _elsewhere(path: str, random: Random) -> str:
    """Return another path; what marks a file as a drafter or a projector stays in its name."""
    if "blobs/" in path:
        return path
    *_, last = re.split(r"[/\\]", path)
    marked = _MARKED.search(path) is not None
    name = last if marked else f"{random.choice('abxyz')}{random.randrange(1000)}.gguf"
    folder = path.removesuffix(last) if marked and not _MARKED.search(last) else ""
    return f"{random.choice(_FOLDERS)}/{folder.strip('/')}/{name}".replace("//", "/")


def _quantized(header: Header, random: Random) -> Header:
    kind = random.choice(_QUANTIZED)
    tensors = {
        name: replace(tensor, type=tensor.type if tensor.type in _PLAIN else kind)
        for name, tensor in header.tensors.items()
    }
    metadata: dict[str, Any] = {**header.metadata, **_RENAMED}
    return Header.of(metadata, tensors)
