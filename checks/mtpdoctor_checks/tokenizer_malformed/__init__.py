"""Whether the files hold a tokenizer that llama.cpp loads."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    Model,
    Server,
    Target,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor.gguf import Array, Header, ValueType
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import ASSISTANT, UNREADABLE, files, name, replacement, shown

_PREFIX = "tokenizer.ggml."
_MODEL = f"{_PREFIX}model"
_WITHOUT = frozenset({"none", "no_vocab"})
_KINDS = _WITHOUT | {
    "llama",
    "bert",
    "gpt2",
    "t5",
    "rwkv",
    "plamo2",
    "gemma4",
    "hybriddna",
    "whitespace",
}
"""Values of ``tokenizer.ggml.model`` that llama.cpp has code for."""
_TRIED = frozenset({"gemma4", "llama", "gpt2"})
"""Those with which a Gemma 4 was seen to draft; with ``bert`` the server aborts."""
_MERGING = frozenset({"gpt2", "gemma4"})
_AT_LEAST = ("scores", "token_type")
"""Arrays that hold one value for each token, where they are there."""


@check(
    "tokenizer-malformed",
    "a file's tokenizer is not one that llama.cpp loads",
    after=[*UNREADABLE, "roles-swapped", "no-mtp-head", "drafter-arch-unknown"],
)
def tokenizer_malformed(
    launch: Launch | None,
    server: Server | None,
    target: Target | None,
    drafter: Drafter | None,
    knowledge: Knowledge,
) -> Iterator[Finding]:
    models = files(target, drafter)
    for model in models:
        header = known(model.header)
        wrong = next(_wrong(header, model), None)
        if wrong is not None:
            key, what, outcome = wrong
            yield Finding(
                says=f"{name(model)} {what}\nllama-server {outcome}.",
                about=key,
                evidence=(Evidence(f"{name(model)}: {key} {_seen(header, key)}"),),
                fixes=replacement(model, target),
            )
    for model in models:
        header = known(model.header)
        kind = header.metadata.get(_MODEL)
        if kind is not None and kind not in _KINDS:
            yield from _unknown_kind(model, kind, server, knowledge, target)
        elif header.arch in {"gemma4", ASSISTANT} and kind not in _TRIED:
            raise Undetermined(f"{name(model)} is a Gemma 4 with a tokenizer of the kind {kind}")
    if launch is not None and launch.enabled("--jinja") is False:
        _any_template(server, knowledge)


def _any_template(server: Server | None, knowledge: Knowledge) -> None:
    """Give up where a build may know the chat templates that it has code for, and no others."""
    feature = knowledge.named("any-template-without-jinja")
    takes = Unknown("no server") if server is None else capability.has(server, feature, knowledge)
    if takes is not True:
        why = takes.reason if isinstance(takes, Unknown) else "this build is one of them"
        raise Undetermined(
            f"without --jinja some builds refuse chat templates that they have no code for: {why}"
        )


def _unknown_kind(
    model: Model,
    kind: object,
    server: Server | None,
    knowledge: Knowledge,
    target: Target | None,
) -> Iterator[Finding]:
    """Find a kind that no llama.cpp up to the horizon has; later ones may."""
    says = f"{name(model)} has a tokenizer of the kind {shown(kind)}, which llama.cpp does not know"
    build = Unknown("no server") if server is None else capability.build(server)
    if isinstance(build, Unknown):
        raise Undetermined(f"{says}: {build.reason}")
    if build.last > knowledge.horizon:
        raise Undetermined(knowledge.past_horizon(build))
    yield Finding(
        says=f"{says}\nllama-server refuses to load it.",
        about=_MODEL,
        evidence=(Evidence(f"{name(model)}: {_MODEL} = {shown(kind)}"),),
        fixes=replacement(model, target),
    )


def _wrong(header: Header, model: Model) -> Iterator[tuple[str, str, str]]:
    """Yield key, what is wrong with it, and what the server does."""
    refuses = "refuses to load it"
    for key, wanted in _types(header):
        found = header.types[key]
        if found is not wanted:
            yield key, f"has {key} as {found}, and llama.cpp reads it as {wanted} alone", refuses
    kind = header.metadata.get(_MODEL)
    if kind is None:
        yield _MODEL, "does not say which kind of tokenizer it has", refuses
        return
    if kind in _WITHOUT:
        return
    tokens, merges = (header.metadata.get(f"{_PREFIX}{key}") for key in ("tokens", "merges"))
    if not isinstance(tokens, Array):
        yield f"{_PREFIX}tokens", "lists no tokens", refuses
        return
    kimi = header.metadata.get(f"{_PREFIX}pre") == "kimi-k2"
    if kind in _MERGING and not isinstance(merges, Array) and not kimi:
        yield f"{_PREFIX}merges", "has no merges, which its tokenizer needs", refuses
    for each in _AT_LEAST:
        values = header.metadata.get(f"{_PREFIX}{each}")
        if isinstance(values, Array) and len(values) < len(tokens):
            what = f"has {len(values):,} {each} for {len(tokens):,} tokens"
            yield f"{_PREFIX}{each}", what, refuses
    if kind == "gemma4" and isinstance(model, Target):
        first = header.metadata.get(f"{_PREFIX}bos_token_id")
        if not isinstance(first, int) or not 0 <= first < len(tokens):
            what = "does not say which token begins a text"
            yield f"{_PREFIX}bos_token_id", what, "aborts when it reads the first prompt"


def _types(header: Header) -> Iterator[tuple[str, ValueType]]:
    """Yield the keys that are read as single values, each with the type that is wanted."""
    for key in header.types:
        short = key.removeprefix(_PREFIX)
        if short == key:
            continue
        if short.endswith("_token_id"):
            yield key, ValueType.UINT32
        elif short in {"add_bos_token", "add_eos_token", "add_sep_token", "add_space_prefix"}:
            yield key, ValueType.BOOL
        elif short in {"model", "pre"}:
            yield key, ValueType.STRING


def _seen(header: Header, key: str) -> str:
    value = header.metadata.get(key)
    return "is not there" if value is None else f"{header.types[key]} = {shown(value)}"
