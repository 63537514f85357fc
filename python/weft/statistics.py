"""Means and differences over seeds with their 95 % intervals: pure functions on plain numbers.

One run gives one value of a metric (its mean FCT, its p99, ...); runs with different seeds are independent, so the
interval over the per-run values is Student's t. With the same seed, schemes get exactly the same flows, so they are
compared seed by seed: by ratio if all values are positive, else by difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
QUANTILE: Literal["linear"] = "linear"
"""NumPy's and Polars' name for the definition of `quantile`."""


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

    def as_dict(self) -> dict[str, float | None]:
        """The estimate as plain data for JSON."""
        return {"mean": self.mean, "low": self.low, "high": self.high}

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


def usable(values: Iterable[float | None]) -> list[float]:
    """The values that were measured: without None and without NaN."""
    return [float(v) for v in values if v is not None and not math.isnan(v)]


def estimate(values: Iterable[float | None], confidence: float = CONFIDENCE) -> Estimate | None:
    """Mean and Student t interval of independent per-seed values; None without any value."""
    data = np.asarray(usable(values), dtype=float)
    n = len(data)
    if n == 0:
        return None
    mean = float(data.mean())
    if n == 1:
        return Estimate(mean, None, None, 1)
    half = float(data.std(ddof=1)) * half_width(n, confidence)
    return Estimate(mean, mean - half, mean + half, n)


class Estimates:
    """Means and Student t intervals of many quantities at once: arrays of the same shape, one per seed.

    Welford's method: memory does not grow with the number of seeds, and a small spread of large values is exact.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n = 0
        self.mean: npt.NDArray[np.float64] = np.zeros(shape)
        self._squares: npt.NDArray[np.float64] = np.zeros(shape)

    def add(self, values: npt.NDArray[np.float64]) -> None:
        """Take the values of one more seed into account."""
        self.n += 1
        from_old = values - self.mean
        self.mean += from_old / self.n
        self._squares += from_old * (values - self.mean)

    @property
    def half(self) -> npt.NDArray[np.float64] | None:
        """The half-width of each interval; None with fewer than two seeds."""
        if self.n < 2:
            return None
        return np.asarray(np.sqrt(self._squares / (self.n - 1)) * half_width(self.n))


@cache
def half_width(n: int, confidence: float = CONFIDENCE) -> float:
    """The half-width of the interval of the mean of `n` (at least 2) values, in standard deviations."""
    # SciPy takes a third of a second to load, which commands without intervals need not wait for.
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.5 + confidence / 2)) / math.sqrt(n)


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile `share` (0 to 1) of one or more values, interpolated linearly.

    Type 7 of Hyndman and Fan (The American Statistician 50, 1996), the default of NumPy and R. The only definition of a
    quantile in results: `QUANTILE` selects it in Polars, and `crates/sim/src/results/quantile.rs` is the same in Rust.
    """
    return float(np.quantile(np.asarray(values, dtype=float), share, method=QUANTILE))


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
    scale = float(np.mean([b for _, b in pairs])) if pairs else 0.0
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
    data = np.asarray(list(values), dtype=float)
    if len(data) < 2:
        return None
    mean, error = float(data.mean()), float(data.std(ddof=1)) / math.sqrt(len(data))
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(len(data) - 1, -abs(mean) / error))


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


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Least-squares slope of `y` over `x`, in units of y per unit of x."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    centred = xs - xs.mean()
    return float((centred * (ys - ys.mean())).sum() / (centred**2).sum())


def ecdf(values: Iterable[float], limit: int = 200) -> list[tuple[float, float]]:
    """The empirical distribution function as at most `limit` (value, share of values <= it) points.

    Thinned by rank: evenly in the body, increasingly finely towards the largest values, so that the tail keeps its
    points for reading percentiles: the three largest values are always included.
    """
    data = np.sort(np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float))
    n = len(data)
    return [(float(data[rank - 1]), float(rank / n)) for rank in _ranks(n, limit)]


def ecdf_of_counts(values: Sequence[float], counts: Sequence[int], limit: int = 200) -> list[tuple[float, float]]:
    """`ecdf` of different values, of which each occurred some number of times."""
    order = np.argsort(np.asarray(values, dtype=float))
    data = np.asarray(values, dtype=float)[order]
    last = np.cumsum(np.asarray(counts, dtype=np.int64)[order])
    n = int(last[-1]) if len(last) else 0
    ranks = _ranks(n, limit)
    return [(float(data[at]), float(rank / n)) for rank, at in zip(ranks, np.searchsorted(last, ranks), strict=True)]


def _ranks(n: int, limit: int) -> npt.NDArray[np.int64]:
    """The ranks, from 1 to `n`, that `ecdf` keeps."""
    if n <= limit:
        return np.arange(1, n + 1)
    body = np.linspace(1, n, limit // 2)
    tail = n + 1 - np.geomspace(1, n, limit - limit // 2 - 3)
    ends = np.arange(n - 2, n + 1)
    return np.unique(np.concatenate([body, tail, ends]).round().astype(np.int64))
