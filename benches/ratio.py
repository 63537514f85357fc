"""Figures of one thing over those of another, taken in turn."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Spread:
    """What was measured, round by round, in a few numbers."""

    median: float
    min: float
    max: float
    low: float
    """Lower end of the interval of the median."""
    high: float
    """Upper end."""
    confidence: float
    """The chance that an interval made like this one has the true median in it; rounds must be independent."""
    rounds: int

    def json(self) -> dict[str, Any]:
        """As written to files."""
        return asdict(self)


def spread(values: Sequence[float], confidence: float = 0.95) -> Spread:
    """Median, extremes, and the interval of the median that assumes no distribution.

    The interval goes from the k-th lowest to the k-th highest value, with the largest k that has the confidence asked
    for; with few rounds not even the extremes have it (31 of 32 with six), and what they have is said.
    """
    ordered = sorted(values)
    n = len(ordered)
    # The median lies below the k-th lowest of n with the chance that fewer than k of n fair coins show heads.
    outside = [2 * sum(math.comb(n, heads) for heads in range(k)) / 2**n for k in range(1, n // 2 + 1)]
    k = max([1] + [k for k, chance in enumerate(outside, 1) if 1 - chance >= confidence])
    reached = max(0.0, 1 - outside[k - 1]) if outside else 0.0
    return Spread(statistics.median(ordered), ordered[0], ordered[-1], ordered[k - 1], ordered[n - k], reached, n)


def ratios(values: Sequence[float], base: Sequence[float]) -> Spread:
    """The spread of `values` over `base`, round by round: what slows a round slows both."""
    return spread([value / other for value, other in zip(values, base, strict=True)])
