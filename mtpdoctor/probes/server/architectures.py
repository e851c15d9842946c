"""Which model architectures a libllama knows, read from its string literals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from mtpdoctor.facts import Architectures, Unknown
from mtpdoctor.probes.server import literals

# The names in llama.cpp's own table (LLM_ARCH_NAMES, b10434) and those that came after it.
_TABLE = """
    afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bert bitnet
    bloom chameleon chatglm codeshell cogvlm cohere2 cohere2moe command-r dbrx deci deepseek
    deepseek2 deepseek2-ocr deepseek32 deepseek4 dflash dots1 dots3note dream eagle3 ernie4_5
    ernie4_5-moe eurobert exaone exaone-moe exaone4 falcon falcon-h1 gemma gemma-embedding
    gemma2 gemma3 gemma3n gemma4 gemma4-assistant glm-dsa glm4 glm4moe glm5-next gpt-oss gpt2
    gptj gptneox granite granitehybrid granitemoe graniteswitch grok grovemoe hunyuan-dense
    hunyuan-moe hunyuan_vl hy_v3 internlm2 jais jais2 jamba jina-bert-v2 jina-bert-v3 laguna
    lfm2 lfm2moe llada llada-moe llama llama4 mamba mamba2 mimo2 minicpm minicpm3 minimax-m2
    minimax-m3 mistral3 mistral4 modern-bert mpt muse-glimmer nemotron nemotron_h nemotron_h_moe
    neo-bert nomic-bert nomic-bert-moe olmo olmo2 olmoe openelm orion paddleocr pangu-embedded
    phi2 phi3 phimoe plamo plamo2 plamo3 plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen35 qwen35moe
    qwen3moe qwen3next qwen3vl qwen3vlmoe qwen4exp refact rnd1 rwkv6 rwkv6qwen2 rwkv7 seed_oss
    smallthinker smollm3 stablelm starcoder starcoder2 step35 t5 t5encoder talkie
    wavtokenizer-dec xverse
"""
NAMES = frozenset(_TABLE.split())
LOOK_ALIKES = frozenset({"gemma4_assistant", "gemma4_mtp"})
"""Spellings of forks, which llama.cpp refuses."""

CONTROLS = ("llama", "gemma3", "qwen3moe", "falcon", "starcoder2")
"""Names that every libllama of interest holds, none of them the end of a longer literal."""
_ENOUGH_CONTROLS = 3

_WINDOW = 1 << 16
_MOST_SEARCHED = 1 << 29
"""Bytes in all that are searched for what does not stand with the others."""

# A symbol's name ends in it too (28llama_model_gemma4_assistant), but is no literal that a linker
# could have merged it into.
_SYMBOL = re.compile(rb"\0(?:_Z[^\0]*|\d+[A-Za-z_][A-Za-z0-9_]*|N\d+[A-Za-z_][^\0]*)")


def scan(path: str, names: Iterable[str] = ()) -> Architectures | Unknown:
    """Look in the file at *path* for every known name, and for *names*."""
    text = literals.read(path)
    if isinstance(text, Unknown):
        return text
    found = look(text, first=frozenset(names) | LOOK_ALIKES)
    if not found.names:
        return Unknown(f"no architecture names stand in {Path(path).name}")
    return found


def look(text: bytes, first: frozenset[str] = LOOK_ALIKES) -> Architectures:
    """Tell which names stand in *text* as whole NUL-terminated strings, *first* before the others.

    Linkers merge a literal into a longer one that ends with it: ``bert`` is then only the end of
    ``nomic-bert``. Such a name is neither present nor absent. Nor is anything absent where the
    controls do not stand as expected.
    """
    at = max(text.find(b"\0" + control.encode() + b"\0") for control in CONTROLS)
    if at < 0:
        return Architectures(names=frozenset())
    window = text[max(0, at - _WINDOW) : at + _WINDOW]
    present, absent = set(), set()
    left = _MOST_SEARCHED
    for name in (*sorted(first), *sorted(NAMES - first)):
        ending = name.encode() + b"\0"
        if b"\0" + ending in window:
            present.add(name)
        elif (left := left - len(text)) > 0:
            stands = _stands(text, ending)
            if stands:
                present.add(name)
            elif stands is False:
                absent.add(name)
    if sum(control in present for control in CONTROLS) < _ENOUGH_CONTROLS:
        absent.clear()
    return Architectures(names=frozenset(present), absent=frozenset(absent))


def _stands(text: bytes, ending: bytes) -> bool | None:
    """Whether a literal is *ending*; ``None`` where it may be the end of a longer one."""
    merged = False
    at = text.find(ending)
    while at > 0:
        if text[at - 1] == 0:
            return True
        start = text.rfind(b"\0", max(0, at - 4096), at)
        merged |= start < 0 or _SYMBOL.fullmatch(text, start, at + len(ending) - 1) is None
        at = text.find(ending, at + 1)
    return None if merged else False
