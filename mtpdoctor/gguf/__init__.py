"""Reads what a GGUF file says about itself: fast, bounded, and with the standard library alone.

    header = read("gemma-4-E4B-it-Q4_0.gguf")
    header.arch                                   # 'gemma4'
    header.get("embedding_length")                # 2560
    header.metadata["tokenizer.ggml.tokens"][2]   # '<bos>', decoded when asked for
    header.tensors["token_embd.weight"].shape     # (2560, 262144)

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. What is refused follows
llama.cpp's own reader, so that a file that reads here is one that llama-server gets past.
"""

from mtpdoctor.gguf.array import Array, Value
from mtpdoctor.gguf.header import Header
from mtpdoctor.gguf.refusals import Cause, GGUFError
from mtpdoctor.gguf.split import read
from mtpdoctor.gguf.types import Tensor, ValueType

__all__ = ["Array", "Cause", "GGUFError", "Header", "Tensor", "Value", "ValueType", "read"]
