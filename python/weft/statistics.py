"""Means and differences over seeds with their 95 % intervals: pure functions on plain numbers.

NumPy and SciPy take half a second to load: commands without intervals, such as a run with one seed, do not need them.

One run gives one value of a metric (its mean FCT, its p99, ...); runs with different seeds are independent, so the
interval over the per-run values is Student's t. With the same seed, schemes get exactly the same flows, so they are
compared seed by seed: by ratio if all values are positive, else by difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and its confidence interval.

    `low` and `high` are None with fewer than two values: one seed carries no information about the spread, and a
    missing interval must not be mistaken for one of width zero.
    """

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def half(self) -> float | None:
        """The half-width of the interval, or None."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def is_fixed(self) -> bool:
        """Whether several seeds all gave this value: they say nothing about the spread, as one seed."""
        return self.n > 1 and self.low == self.high

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval as tables show it: None with one seed, and if all seeds gave the same value."""
        return (None, None) if self.is_fixed else (self.low, self.high)

    @property
    def plus_minus(self) -> float | None:
        """The half-width of the interval as tables show it; None as `ends`."""
        return None if self.is_fixed else self.half

    def as_dict(self) -> dict[str, float | None]:
        """The estimate as plain data for JSON, with `ends`."""
        low, high = self.ends
        return {"mean": self.mean, "low": low, "high": high}

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def scaled(self, factor: float) -> Estimate:
        """The estimate of the same quantity times `factor`."""
        ends = [None if end is None else end * factor for end in (self.low, self.high)]
        if factor < 0:
            ends.reverse()
        return Estimate(self.mean * factor, ends[0], ends[1], self.n)

    def shifted(self, offset: float) -> Estimate:
        """The estimate of the same quantity plus `offset`."""
        low, high = (None if end is None else end + offset for end in (self.low, self.high))
        return Estimate(self.mean + offset, low, high, self.n)


def has_intervals(values: Iterable[Estimate | None]) -> bool:
    """Whether tables show an interval of any of these; then the cells without one leave its line empty."""
    return any(value is not None and value.plus_minus is not None for value in values)


def usable(values: Iterable[float | None]) -> list[float]:
    """The values that were measured: without None and without NaN."""
    return [float(v) for v in values if v is not None and not math.isnan(v)]


def estimate(values: Iterable[float | None], confidence: float = CONFIDENCE) -> Estimate | None:
    """Mean and Student t interval of independent per-seed values; None without any value."""
    data = usable(values)
    n = len(data)
    if n == 0:
        return None
    if n == 1:
        return Estimate(data[0], None, None, 1)
    if min(data) == max(data):
        return Estimate(data[0], data[0], data[0], n)
    mean, deviation = _moments(data)
    half = deviation * half_width(n, confidence)
    return Estimate(mean, mean - half, mean + half, n)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation of a sample of at least two values."""
    import numpy as np

    data = np.asarray(values, dtype=float)
    return float(data.mean()), float(data.std(ddof=1))


@cache
def half_width(n: int, confidence: float = CONFIDENCE) -> float:
    """The half-width of the interval of the mean of `n` (at least 2) values, in standard deviations."""
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.5 + confidence / 2)) / math.sqrt(n)


def paired_values(
    treated: Mapping[int, float | None], baseline: Mapping[int, float | None]
) -> list[tuple[float, float]]:
    """The (treated, baseline) pairs for the seeds with both values, in the order of the seeds."""
    pairs = []
    for seed in sorted(treated.keys() & baseline.keys()):
        pair = usable((treated[seed], baseline[seed]))
        if len(pair) == 2:
            pairs.append((pair[0], pair[1]))
    return pairs


def paired_difference(treated: Mapping[int, float | None], baseline: Mapping[int, float | None]) -> Estimate | None:
    """Mean of treated minus baseline, seed by seed, with its interval."""
    return estimate(a - b for a, b in paired_values(treated, baseline))


def relative_difference(treated: Mapping[int, float | None], baseline: Mapping[int, float | None]) -> Estimate | None:
    """The paired difference as a share of the baseline's mean over the same seeds; None if that mean is zero.

    Dividing by the mean rather than seed by seed keeps a single seed with a tiny baseline from dominating the result.
    """
    pairs = paired_values(treated, baseline)
    reference = estimate(b for _, b in pairs)
    scale = 0.0 if reference is None else reference.mean
    if scale == 0:
        return None
    difference = estimate(a - b for a, b in pairs)
    return None if difference is None else difference.scaled(1 / scale)


def paired_ratio(
    treated: Mapping[int, float | None], baseline: Mapping[int, float | None], confidence: float = CONFIDENCE
) -> Estimate | None:
    """The geometric mean of treated over baseline, seed by seed; the interval is that of the mean logarithm.

    For measurements on a machine whose speed varies between rounds but affects both alike: unlike the difference, the
    ratio is unaffected. Pairs with a value that is not positive are left out.
    """
    logs = [math.log(a / b) for a, b in paired_values(treated, baseline) if a > 0 and b > 0]
    found = estimate(logs, confidence)
    if found is None:
        return None
    ends = [None if end is None else math.exp(end) for end in (found.low, found.high)]
    return Estimate(math.exp(found.mean), ends[0], ends[1], found.n)


def p_value(values: Iterable[float]) -> float | None:
    """The probability of a mean at least this far from zero if the true mean is zero (Student's t test, two-sided).

    None with fewer than two values.
    """
    data = list(values)
    if len(data) < 2:
        return None
    mean, deviation = _moments(data)
    error = deviation / math.sqrt(len(data))
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(len(data) - 1, -abs(mean) / error))


def friedman(ranks: Sequence[Sequence[float]]) -> float | None:
    """The p-value of the hypothesis that all treatments have the same mean rank; `ranks` has a row for each block.

    Friedman's test (Journal of the American Statistical Association 32, 1937), by its chi-squared approximation,
    corrected for ties. Mean ranks of several blocks are ranks, too. None with fewer than two blocks or treatments.
    """
    if len(ranks) < 2 or len(ranks[0]) < 2:
        return None
    middle = (len(ranks[0]) + 1) / 2
    spread = sum((rank - middle) ** 2 for block in ranks for rank in block)
    if spread == 0:
        return 1.0
    from scipy.special import chdtrc

    between = sum(sum(rank - middle for rank in treatment) ** 2 for treatment in zip(*ranks, strict=True))
    degrees = len(ranks[0]) - 1
    return float(chdtrc(degrees, degrees * between / spread))


def holm(found: Sequence[float]) -> list[float]:
    """The p-values of a family of tests, each adjusted for the number of tests.

    Holm (Scandinavian Journal of Statistics 6, 1979): the chance that any test of the family is significant although
    there is no effect stays below the level. The tests need not be independent.
    """
    adjusted, largest = [1.0] * len(found), 0.0
    for rank, at in enumerate(sorted(range(len(found)), key=found.__getitem__)):
        largest = max(largest, min(1.0, (len(found) - rank) * found[at]))
        adjusted[at] = largest
    return adjusted
