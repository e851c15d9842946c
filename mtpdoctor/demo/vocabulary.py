"""A gemma4 tokenizer that knows the numbers: every one below a limit is one token.

Gemma 4 writes a space as ``▁``, splits at line ends alone, merges characters, and falls back to
bytes. So text becomes single characters, and `` 41`` becomes one token by the merges ``▁ 4``
and ``▁4 1``.
"""

from __future__ import annotations

from mtpdoctor.demo.blueprint import Field

_CONTROL = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|turn>", "<turn|>")
_BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_CHARACTERS = ("\n", "▁", *(chr(code) for code in range(0x21, 0x7F)))
_NORMAL, _UNKNOWN_TYPE, _CONTROL_TYPE, _BYTE_TYPE = 1, 2, 3, 6

FIRST_WORD = len(_CONTROL) + len(_BYTES) + len(_CHARACTERS)
"""The id of the token of number 0."""

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|turn>' + message['role'] + '\\n' + message['content'] + '<turn|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|turn>model\\n' }}{% endif %}"
)


def size(words: int) -> int:
    """Return the number of tokens of a vocabulary with the numbers below ``words``."""
    return FIRST_WORD + words


def metadata(words: int) -> dict[str, Field]:
    """Return the ``tokenizer.*`` keys for the numbers 0 up to and without ``words``."""
    numbers = [f"▁{number}" for number in range(words)]
    tokens = [*_CONTROL, *_BYTES, *_CHARACTERS, *numbers]
    kinds = (
        [_CONTROL_TYPE] * len(_CONTROL)
        + [_BYTE_TYPE] * len(_BYTES)
        + [_NORMAL] * (len(_CHARACTERS) + words)
    )
    kinds[tokens.index("<unk>")] = _UNKNOWN_TYPE
    return {
        "tokenizer.ggml.model": ("gemma4", "str"),
        "tokenizer.ggml.tokens": (tokens, "str"),
        "tokenizer.ggml.scores": ([0.0] * len(tokens), "f32"),
        "tokenizer.ggml.token_type": (kinds, "i32"),
        "tokenizer.ggml.merges": ([f"{number[:-1]} {number[-1]}" for number in numbers], "str"),
        "tokenizer.ggml.bos_token_id": (tokens.index("<bos>"), "u32"),
        "tokenizer.ggml.eos_token_id": (tokens.index("<turn|>"), "u32"),
        "tokenizer.ggml.unknown_token_id": (tokens.index("<unk>"), "u32"),
        "tokenizer.ggml.padding_token_id": (tokens.index("<pad>"), "u32"),
        "tokenizer.ggml.mask_token_id": (tokens.index("<mask>"), "u32"),
        "tokenizer.ggml.add_space_prefix": (False, "bool"),
        "tokenizer.ggml.add_bos_token": (True, "bool"),
        "tokenizer.chat_template": (CHAT_TEMPLATE, "str"),
    }
