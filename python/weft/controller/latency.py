"""Latencies: a histogram for Prometheus, and the last few thousand values for quantiles."""

import bisect
from collections import deque

BUCKETS_S = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Upper bounds of the histogram; the targets for path setup are 10 ms (median) and 30 ms (99th percentile)."""
_LAST = 4096


class Latency:
    """Durations: their number and sum."""

    def __init__(self) -> None:
        self.total = 0
        self.sum_s = 0.0
        self._buckets = [0] * (len(BUCKETS_S) + 1)
        self._last: deque[float] = deque(maxlen=_LAST)

    def add(self, seconds: float) -> None:
        """Add a value."""
        self.total += 1
        self.sum_s += seconds
        self._buckets[bisect.bisect_left(BUCKETS_S, seconds)] += 1
        self._last.append(seconds)

    def cumulative(self) -> list[tuple[str, float]]:
        """Cumulative counts per bound, in Prometheus' format."""
        rows, so_far = [], 0
        for bound, count in zip((*map(str, BUCKETS_S), "+Inf"), self._buckets, strict=True):
            so_far += count
            rows.append((bound, float(so_far)))
        return rows

    def last(self, limit: int) -> list[float]:
        """The last values, at most `limit`, in seconds, in order."""
        return list(self._last)[max(len(self._last) - limit, 0) :]

    def quantiles(self) -> dict[str, float] | None:
        """Median, 99th percentile and maximum of the last few thousand values, in seconds; None without values."""
        if not self._last:
            return None
        ordered = sorted(self._last)
        p50, p99 = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
        return {"p50_s": p50, "p99_s": p99, "max_s": ordered[-1], "count": len(ordered)}
