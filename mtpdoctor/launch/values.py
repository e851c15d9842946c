"""Values that a server refuses at once although no row of its help says so.

Measured on b10434, flag by flag; only what builds have had since they have the flag is claimed.
"""

from __future__ import annotations

import re

from mtpdoctor.facts import Flag
from mtpdoctor.launch.meaning import real_number, whole_number

_INT = (-(2**31), 2**31 - 1)
_LARGEST, _SMALLEST = 3.4028235677973366e38, 1.1754943508222875e-38
"""Of a ``float`` with all its digits; ``std::stof`` refuses what is larger, or nearer to 0."""
_WHOLE = """
--threads --threads-batch --prio --cpu-strict-batch --prio-batch --poll-batch --ctx-size
--n-predict --batch-size --ubatch-size --keep --yarn-orig-ctx --n-cpu-moe --n-gpu-layers --main-gpu
--fit-ctx --log-verbosity --top-k --repeat-last-n --dry-allowed-length --dry-penalty-last-n
--mirostat --threads-draft --threads-batch-draft --prio-draft --prio-batch-draft --poll-draft
--poll-batch-draft --cpu-strict-draft --cpu-strict-batch-draft --n-cpu-moe-draft --spec-draft-n-max
--spec-draft-n-min --n-gpu-layers-draft --spec-ngram-mod-n-min --spec-ngram-mod-n-max
--spec-ngram-mod-n-match --spec-ngram-simple-size-n --spec-ngram-simple-size-m
--spec-ngram-simple-min-hits --spec-ngram-map-k-size-n --spec-ngram-map-k-size-m
--spec-ngram-map-k-min-hits --spec-ngram-map-k4v-size-n --spec-ngram-map-k4v-size-m
--spec-ngram-map-k4v-min-hits --ctx-checkpoints --checkpoint-min-step --cache-ram --parallel
--image-min-tokens --image-max-tokens --embd-normalize --port --timeout --threads-http
--mtmd-batch-max-tokens --sse-ping-interval --models-max --cache-reuse --reasoning-budget
--sleep-idle-seconds
"""
"""Flags that are read with ``std::stoi``."""
_REAL = """
--rope-scale --rope-freq-base --rope-freq-scale --yarn-ext-factor --yarn-attn-factor
--yarn-beta-slow --yarn-beta-fast --temp --temperature --top-p --min-p --top-n-sigma
--xtc-probability --xtc-threshold --typical --typical-p --repeat-penalty --presence-penalty
--frequency-penalty --dry-multiplier --dry-base --dynatemp-range --dynatemp-exp --mirostat-lr
--mirostat-ent --draft-p-split --draft-p-min --slot-prompt-similarity
"""
"""Flags that are read with ``std::stof``."""
_BOUNDS = {
    "--prio": (-1, 3),
    "--prio-batch": (0, 3),
    "--prio-draft": (0, 3),
    "--prio-batch-draft": (0, 3),
    "--n-cpu-moe": (0, None),
    "--n-cpu-moe-draft": (0, None),
    "--repeat-last-n": (-1, None),
    "--dry-penalty-last-n": (-1, None),
    "--reasoning-budget": (-1, None),
    "--checkpoint-min-step": (0, None),
    "--spec-ngram-mod-n-min": (0, 1024),
    "--spec-ngram-mod-n-max": (0, 1024),
    "--spec-ngram-mod-n-match": (1, 1024),
} | {
    f"--spec-ngram-{kind}-{what}": (1, None if what == "min-hits" else 1024)
    for kind in ("simple", "map-k", "map-k4v")
    for what in ("size-n", "size-m", "min-hits")
}
_SHAPES = {
    "--cpu-mask": (r"(?:0x)?[0-9a-f]*", "a mask in hexadecimal digits"),
    "--cpu-range": (r"[^-]*-.*", "a range, lo-hi"),
    "--override-tensor": (r"[^,]*=.*", "PATTERN=BUFFER"),
    "--override-kv": (r".*?=(?:int|float|bool|str):.*", "KEY=TYPE:VALUE"),
    "--lora-scaled": (r".*:.*", "FILE:SCALE"),
    "--control-vector-scaled": (r".*:.*", "FILE:SCALE"),
    "--logit-bias": (r"\s*[+-]?\d+\s*[+-].*", "TOKEN+BIAS or TOKEN-BIAS"),
    "--fit-target": (r"\s*[+-]?\d.*", "numbers of MiB"),
}
_SHAPED = {
    f"{name}{end}": shape
    for name, shape in _SHAPES.items()
    for end in ("", "-batch", "-draft", "-batch-draft")
}
SLOT = "at least one slot"
_JSON = frozenset({"--json-schema", "--chat-template-kwargs"})


def fault(flag: Flag, value: str) -> str:
    """Return what a server with *flag* misses in *value*, in words: ``a whole number``.

    Empty where it takes the value, and where nothing is known.
    """
    for name in flag.names:
        if name in _WHOLE.split():
            return _whole(flag, name, value)
        if name in _REAL.split():
            return _real(value)
        if name in _SHAPED:
            pattern, wanted = _SHAPED[name]
            return "" if re.fullmatch(pattern, value, re.IGNORECASE | re.DOTALL) else wanted
        if name in _JSON:
            return _json(value)
        if name == "--tensor-split":
            parts = re.split(r"[,/]+", value)
            return "" if all(real_number(part) is not None for part in parts if part) else "numbers"
    return ""


def _whole(flag: Flag, name: str, value: str) -> str:
    if any("gpu-layers" in each for each in flag.names) and value in {"auto", "all"}:
        return ""
    number = whole_number(value)
    if number is None:
        return "a whole number"
    if not _INT[0] <= number <= _INT[1]:
        return f"a number of 32 bits, {_INT[1]} at most"
    if name == "--parallel" and number == 0:
        return SLOT
    if name == "--sleep-idle-seconds" and (number == 0 or number < -1):
        return "-1, or more than 0"
    low, high = _BOUNDS.get(name, (None, None))
    if low is not None and number < low:
        return f"{low} or more" if high is None else f"{low} to {high}"
    return f"{low} to {high}" if high is not None and number > high else ""


def _real(value: str) -> str:
    number = real_number(value)
    if number is None:
        return "a number"
    literal = value.strip().lstrip("+-").lower().startswith(("inf", "nan"))
    fits = literal or number == 0 or _SMALLEST <= abs(number) <= _LARGEST
    return "" if fits else "a number of 32 bits"


def _json(value: str) -> str:
    import json

    try:
        json.loads(value)
    except ValueError:
        return "valid JSON"
    except RecursionError:
        return ""
    return ""
