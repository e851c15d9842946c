"""Commands on the sound pair: flags added, repeated, renamed, taken out, and put into variables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pairs
from differential.case import Case, Words
from pairs import Written

SEED = 11

FLAGS: dict[str, tuple[str, ...]] = {
    # the pair's drafts are good for about eight tokens; deeper ones are another question
    "--spec-draft-n-max": ("1", "2", "6", "8", "0", "-1", "4.5", "abc", "0x4"),
    "--spec-draft-n-min": ("0", "1", "3", "4", "5", "16", "-1"),
    "--spec-draft-p-min": ("0", "0.5", "0.99", "1.0", "1.5", "-1", "abc"),
    "--spec-draft-p-split": ("0", "0.1", "0.5", "1.0"),
    "-np": ("1", "2", "4", "-1", "0", "abc"),
    "-c": ("0", "256", "512", "2048", "2k", "32768", "abc"),
    "-fa": ("on", "off", "auto", "1", "0", "yes", "ON"),
    "-ctk": ("f16", "bf16", "f32", "q8_0", "q4_0", "q5_1", "iq4_nl", "q4_k", "fp16"),
    "-ctv": ("f16", "bf16", "f32", "q8_0", "q4_0", "q5_1", "iq4_nl"),
    "-ctkd": ("f16", "q8_0", "q4_0", "bogus"),
    "-ctvd": ("f16", "q8_0", "q4_0"),
    "-devd": ("none", "CUDA0", "Vulkan0", "CPU"),
    "-dev": ("none", "CUDA0"),
    "-sm": ("none", "layer", "row", "tensor", "layers"),
    "-ngl": ("0", "99", "auto", "all", "-1", "many"),
    "-ngld": ("0", "99", "auto", "all"),
    "-fit": ("on", "off", "maybe"),
    "-b": ("32", "64", "512"),
    "-ub": ("16", "64", "512"),
    "-t": ("1", "2"),
    "-td": ("1",),
    "--spec-type": (
        "none",
        "draft-mtp",
        "ngram-simple",
        "ngram-mod",
        "ngram-map-k",
        "ngram-cache",
        "draft-simple",
        "draft-eagle3",
        "mtp",
        "DRAFT-MTP",
    ),
    "--seed": ("1",),
    "--temp": ("0", "0.8"),
    "--cache-ram": ("0", "-1"),
    "--alias": ("count",),
    "--reasoning-budget": ("0",),
    "--swa-full": ("",),
    "--no-kv-unified": ("",),
    "--kv-unified": ("",),
    "--no-warmup": ("",),
    "--context-shift": ("",),
    "--no-context-shift": ("",),
    "--no-mmap": ("",),
    "--metrics": ("",),
    "--slots": ("",),
    "--no-slots": ("",),
    "--jinja": ("",),
    "--no-spec-draft-backend-sampling": ("",),
    "--no-cont-batching": ("",),
    "--no-repack": ("",),
    "--no-op-offload": ("",),
    "--embeddings": ("",),
    "--verbose": ("",),
    "--spec-default": ("",),
    "--no-perf": ("",),
    "--offline": ("",),
    # removed, renamed, or never llama.cpp's own
    "--draft-max": ("4",),
    "--draft": ("4",),
    "--draft-min": ("1",),
    "--draft-p-min": ("0.5",),
    "-cd": ("512",),
    "--ctx-size-draft": ("512",),
    "--spec-draft-replace": ("a",),
    "--mtp": ("",),
    "--mtp-head": ("x.gguf",),
    "--draft-block-size": ("4",),
    "--defrag-thold": ("0.1",),
    "--bogus": ("", "1"),
    "--spec-draft-n": ("4",),
}

JOINED = ("--spec-type=draft-mtp", "--spec-draft-n-max=4", "-c=512", "--model=x.gguf")

ENVIRONMENT: tuple[dict[str, str], ...] = (
    {"LLAMA_ARG_CTX_SIZE": "512"},
    {"LLAMA_ARG_CTX_SIZE": "abc"},
    {"LLAMA_ARG_N_PARALLEL": "2"},
    {"LLAMA_ARG_FLASH_ATTN": "off"},
    {"LLAMA_ARG_FLASH_ATTN": "yes"},
    {"LLAMA_ARG_FLASH_ATTN": "off", "LLAMA_ARG_CACHE_TYPE_V": "q8_0"},
    {"LLAMA_ARG_CACHE_TYPE_K": "q8_0"},
    {"LLAMA_ARG_CACHE_TYPE_K": "q9_0"},
    {"LLAMA_ARG_SPLIT_MODE": "layers"},
    {"LLAMA_ARG_DEVICE": "CUDA0"},
    {"LLAMA_ARG_DEVICE": "none"},
    {"LLAMA_ARG_SPEC_TYPE": "draft-mtp"},
    {"LLAMA_ARG_SPEC_TYPE": "ngram-simple"},
    {"LLAMA_ARG_SPEC_TYPE": "mtp"},
    {"LLAMA_ARG_SPEC_DRAFT_N_MAX": "0"},
    {"LLAMA_ARG_SPEC_DRAFT_N_MIN": "9"},
    {"LLAMA_ARG_SPEC_DRAFT_P_MIN": "1.0"},
    {"LLAMA_ARG_SPEC_DRAFT_MODEL": "none.gguf"},
    {"LLAMA_ARG_MODEL": "none.gguf"},
    {"LLAMA_ARG_NO_MMAP": "1"},
    {"LLAMA_ARG_MMAP": "0"},
    {"LLAMA_ARG_JINJA": "false"},
    {"LLAMA_ARG_SWA_FULL": "1"},
    {"LLAMA_ARG_KV_UNIFIED": "0"},
    {"LLAMA_ARG_DRAFT_MAX": "4"},
    {"LLAMA_ARG_CTX_SIZE_DRAFT": "256"},
    {"LLAMA_ARG_NO_SUCH": "1"},
)


def every() -> Iterator[Case]:
    """Yield all commands, and 60 in twos drawn with a fixed seed."""
    singles = [(flag, value) for flag, values in FLAGS.items() for value in values]
    for single in singles:
        yield _added(single)
    draw = random.Random(SEED)
    seen = set[frozenset[str]]()
    while len(seen) < 60:
        one, other = draw.sample(singles, 2)
        both = frozenset((*one, *other))
        if one[0] != other[0] and both not in seen:
            seen.add(both)
            yield _added(one, other)
    for word in JOINED:
        yield _added((word, ""))
    for variables in ENVIRONMENT:
        name = " ".join(f"{key}={value}" for key, value in variables.items())
        yield _case(name, lambda words: words, variables)
    yield from _instead()
    yield from _mixed()


def _case(
    name: str,
    words: Words,
    environment: dict[str, str] | None = None,
    damage: pairs.Damage | None = None,
) -> Case:
    return Case(
        name=name,
        family="commands",
        words=words,
        environment=environment or {},
        damage=damage,
    )


def _added(*flags: tuple[str, str]) -> Case:
    more = tuple(word for flag in flags for word in flag if word)
    return _case(" ".join(more), lambda words: (*words, *more))


def _instead() -> Iterator[Case]:
    """Yield commands in which a variable or another spelling stands for a flag."""

    def without(*flags: str) -> Words:
        def change(words: tuple[str, ...]) -> tuple[str, ...]:
            kept: list[str] = []
            at = 0
            while at < len(words):
                if words[at] in flags:
                    at += 2
                    continue
                kept.append(words[at])
                at += 1
            return tuple(kept)

        return change

    def spelled(old: str, *new: str) -> Words:
        return lambda words: tuple(n for w in words for n in (new if w == old else (w,)))

    yield _case("no --spec-type", without("--spec-type"))
    yield _case("no --spec-draft-n-max", without("--spec-draft-n-max"))
    yield _case("no -np", without("-np"))
    yield _case("no --model-draft", without("--model-draft"))
    yield _case("no --model-draft, no --spec-type", without("--model-draft", "--spec-type"))
    for name in ("-md", "--spec-draft-model"):
        yield _case(f"{name} for --model-draft", spelled("--model-draft", name))
    for name in ("--model", "--parallel"):
        old = "-m" if name == "--model" else "-np"
        yield _case(f"{name} for {old}", spelled(old, name))
    yield _case(
        "LLAMA_ARG_SPEC_TYPE for --spec-type",
        without("--spec-type"),
        {"LLAMA_ARG_SPEC_TYPE": "draft-mtp"},
    )
    yield _case(
        "LLAMA_ARG_SPEC_DRAFT_TYPE for --spec-type",
        without("--spec-type"),
        {"LLAMA_ARG_SPEC_DRAFT_TYPE": "draft-mtp"},
    )
    for kinds in (
        "draft-mtp,ngram-simple",
        "ngram-simple,draft-mtp",
        "ngram-mod,draft-mtp",
        "none,draft-mtp",
        "draft-mtp,draft-simple",
        "draft-mtp,none",
        "draft-mtp,",
        "draft-simple",
        "draft-eagle3",
        "ngram-simple",
        "none",
    ):
        yield _case(f"--spec-type {kinds} alone", spelled("draft-mtp", kinds))
    yield _case("--spec-type without a value", lambda words: (*words, "--spec-type"))
    yield _case("-m without a value", lambda words: (*words, "-m"))
    yield _case("a stray word", lambda words: (*words, "stray"))
    yield _case("-hfd from an empty cache", _from_hub)
    yield _case("-hf from an empty cache", lambda w: ("-hf", "org/none", "--offline", *w[2:]))


def _from_hub(words: tuple[str, ...]) -> tuple[str, ...]:
    at = words.index("--model-draft")
    return (*words[:at], "-hfd", "org/none", "--offline", *words[at + 2 :])


def _mixed() -> Iterator[Case]:
    """Yield commands that name the files otherwise."""

    def again(words: tuple[str, ...]) -> tuple[str, ...]:
        return (*words, "--model-draft", words[words.index("--model-draft") + 1])

    def other_last(words: tuple[str, ...]) -> tuple[str, ...]:
        return (*words, "--model-draft", words[words.index("-m") + 1])

    def other_first(words: tuple[str, ...]) -> tuple[str, ...]:
        return ("--model-draft", words[words.index("-m") + 1], *words)

    def linked(main: Path, head: Path) -> Written:
        link = head.with_name("link.gguf")
        link.symlink_to(head)
        return Written(main, link)

    def renamed(main: Path, head: Path) -> Written:
        return Written(main, head.rename(head.with_name("no ending")))

    def spaced(main: Path, head: Path) -> Written:
        return Written(main.rename(main.with_name("the target (1).gguf")), head)

    yield _case("--model-draft twice", again)
    yield _case("--model-draft twice, the target last", other_last)
    yield _case("--model-draft twice, the target first", other_first)
    yield _case("a link", lambda words: words, damage=linked)
    yield _case("no .gguf", lambda words: words, damage=renamed)
    yield _case("a name with spaces", lambda words: words, damage=spaced)
    yield _case("-fa -ctv q8_0", lambda words: (*words, "-fa", "off", "-ctv", "q8_0"))
    yield _case("-fa swallows", lambda words: (*words, "-fa", "--no-warmup"))
    yield _case("-np 12 split", lambda words: (*words, "-np", "12", "--no-kv-unified"))
    yield _case(
        "n-min over n-max", lambda w: (*w, "--spec-draft-n-max", "2", "--spec-draft-n-min", "3")
    )
