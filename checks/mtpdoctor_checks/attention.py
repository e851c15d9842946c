"""What a Gemma 4 header says of its attention, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

from mtpdoctor import Model, Undetermined, known
from mtpdoctor.gguf import Array, Header
from mtpdoctor_checks.pair import integer, name

PATTERN = "attention.sliding_window_pattern"


def sliding_layers(header: Header) -> tuple[bool, ...] | None:
    """Return for each layer whether it is a sliding-window one; ``None`` if it is not stated.

    A single value counts for all layers, as builds before b10985 read it.
    """
    value, layers = header.get(PATTERN), integer(header, "block_count")
    if isinstance(value, Array):
        return tuple(bool(each) for each in value)
    if isinstance(value, int) and layers is not None:
        return (bool(value),) * layers
    return None


def per_layer(header: Header, key: str) -> tuple[int, ...] | None:
    """Return a number that stands once for all layers, or in an array with one for each."""
    value, layers = header.get(key), integer(header, "block_count")
    if isinstance(value, Array):
        return tuple(each for each in value if isinstance(each, int))
    if isinstance(value, int) and layers is not None:
        return (value,) * layers
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What the layers of one kind look like: those with a sliding window, or the full ones."""

    head: int
    """Elements of one head: ``key_length_swa`` or ``key_length``."""
    heads: int
    kv_heads: int

    @property
    def gqa(self) -> float:
        """How many query heads share one KV head."""
        return self.heads / self.kv_heads if self.kv_heads else 0.0


def kind(model: Model, *, sliding: bool) -> Kind | None:
    """Return what *model*'s layers of that kind look like; ``None`` if it has none.

    Where layers of one kind differ, the last one counts: it is the one whose KV cache a drafter
    shares. Raises :exc:`Undetermined` when the header does not say.
    """
    header = known(model.header)
    pattern = sliding_layers(header)
    if pattern is None:
        raise Undetermined(f"{name(model)} has no {PATTERN}")
    layers = [layer for layer, is_sliding in enumerate(pattern) if is_sliding is sliding]
    if not layers:
        return None
    head = integer(header, "attention.key_length_swa" if sliding else "attention.key_length")
    numbers = [per_layer(header, f"attention.{key}") for key in ("head_count", "head_count_kv")]
    if head is None or any(each is None or len(each) <= layers[-1] for each in numbers):
        raise Undetermined(f"{name(model)} does not state the heads of layer {layers[-1]}")
    heads, kv_heads = (each[layers[-1]] for each in numbers if each is not None)
    return Kind(head, heads, kv_heads)
