"""Which words a drafter has to miss for a wanted acceptance.

Acceptance is accepted over drafted tokens. A drafter that is right with probability ``p`` a word,
and drafts four at a time of which the first wrong one ends the acceptance, has

    acceptance = (p + p² + p³ + p⁴) / 4

so ``p`` follows from the acceptance that is wanted. Words drawn by lot would make it fluctuate by
0.06 from one stretch of 128 tokens to the next. Therefore the numbers of right words between two
misses are spread evenly over the quantiles of their distribution, which is geometric: any
stretch holds short and long ones in the same proportion.
"""

from __future__ import annotations

from math import log

_DEPTH = 4
"""``--spec-draft-n-max`` of the founding case."""
_GOLDEN = (5**0.5 - 1) / 2


def missed_words(words: int, acceptance: float) -> frozenset[int]:
    """Return the numbers below ``words`` whose drafts are to be refused.

    ``acceptance`` is from 0 to 1, at a draft depth of four; ``ValueError`` otherwise.
    """
    if not 0 <= acceptance <= 1:
        raise ValueError(f"acceptance must be from 0 to 1, not {acceptance}")
    right = _probability(acceptance)
    if right in {0.0, 1.0}:
        return frozenset(range(words) if right == 0 else ())
    missed, word, drawn = set[int](), 0, 0
    while True:
        drawn += 1
        word += int(log(drawn * _GOLDEN % 1) / log(right))  # right words, then a miss
        if word >= words:
            return frozenset(missed)
        missed.add(word)
        word += 1


def _probability(acceptance: float) -> float:
    """Return ``p`` of the formula above, by bisection."""
    if acceptance in {0, 1}:
        return float(acceptance)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if sum(middle**depth for depth in range(1, _DEPTH + 1)) / _DEPTH < acceptance:
            low = middle
        else:
            high = middle
    return low
