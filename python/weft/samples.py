"""Numbers of a whole sample, with NumPy: quantiles, distribution functions, slopes, and intervals of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from .statistics import half_width

QUANTILE: Literal["linear"] = "linear"
"""NumPy's and Polars' name for the definition of `quantile`."""


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


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile `share` (0 to 1) of one or more values, interpolated linearly.

    Type 7 of Hyndman and Fan (The American Statistician 50, 1996), the default of NumPy and R. The only definition of a
    quantile in results: `QUANTILE` selects it in Polars, and `crates/sim/src/results/quantile.rs` is the same in Rust.
    """
    return float(np.quantile(np.asarray(values, dtype=float), share, method=QUANTILE))


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
