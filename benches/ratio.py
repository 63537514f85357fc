"""Ratios of figures measured alternately, with confidence intervals."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Summary statistics over rounds."""

    median: float
    min: float
    max: float
    low: float
    """Lower bound of the median's confidence interval."""
    high: float
    """Upper bound."""
    confidence: float
    """The probability that such an interval contains the true median; assumes independent rounds."""
    rounds: int

    def json(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def spread(values: Sequence[float], confidence: float = 0.95) -> Spread:
    """Median, extremes, and a distribution-free confidence interval of the median.

    The interval goes from the k-th lowest to the k-th highest value, with the largest k that reaches `confidence`.
    With few rounds not even the extremes reach it (31 of 32 with six); the returned confidence is the actual one.
    """
    ordered = sorted(values)
    n = len(ordered)
    # The median lies below the k-th lowest of n with the probability that fewer than k of n fair coins show heads.
    outside = [2 * sum(math.comb(n, heads) for heads in range(k)) / 2**n for k in range(1, n // 2 + 1)]
    k = max([1] + [k for k, chance in enumerate(outside, 1) if 1 - chance >= confidence])
    reached = max(0.0, 1 - outside[k - 1]) if outside else 0.0
    return Spread(statistics.median(ordered), ordered[0], ordered[-1], ordered[k - 1], ordered[n - k], reached, n)


def ratios(values: Sequence[float], base: Sequence[float]) -> Spread:
    """The spread of `values` over `base`, paired by round: noise in a round affects both alike."""
    return spread([value / other for value, other in zip(values, base, strict=True)])
