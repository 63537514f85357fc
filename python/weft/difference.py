"""The difference of a metric from the baseline: estimate, significance and formatting.

FCT, slowdown and throughput are positive, and some seeds are slower by a factor under both schemes. So they are
compared by their ratio: the geometric mean over seeds, with the interval of the mean logarithm. Unlike the interval of
the difference it never reaches below -100 %, and it is the same whichever scheme is the baseline. Counts and shares
that are zero in some run have no logarithm and are compared by their difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import quantity
from .statistics import Estimate, paired_difference, paired_ratio, paired_values

NOT_SIGNIFICANT = "n.s."
"""Shown if the 95 % interval contains "no difference"."""


@dataclass(frozen=True)
class Difference:
    """A metric compared with that of the baseline, paired by seed."""

    absolute: Estimate
    """Mean of own value minus the baseline's, in the metric's unit."""
    ratio: Estimate | None
    """Geometric mean of own value over the baseline's; None unless all values are positive."""

    @property
    def change(self) -> Estimate:
        """The value judged and shown: the ratio minus one if there is a ratio, else the difference."""
        return self.absolute if self.ratio is None else self.ratio.shifted(-1)

    @property
    def significant(self) -> bool | None:
        """Whether the 95 % interval excludes "no difference"; None with one seed, which has no interval."""
        return None if self.change.low is None else self.change.excludes_zero

    def verdict(self, better: int) -> str:
        """``good`` or ``bad`` if the difference is significant, else empty; `better` as in `Metric`."""
        return "" if not self.significant else "good" if self.change.mean * better > 0 else "bad"

    def text(self, kind: str) -> str:
        """Table cell, e.g. ``−12.3 %``, ``+14``, ``+2.10 points`` or ``n.s.``; `kind` as in `Metric`."""
        return NOT_SIGNIFICANT if self.significant is False else self._spelled(self.change.mean, kind)

    def interval(self, kind: str) -> str:
        """The 95 % interval, e.g. ``−20.1 % to −3.4 %``; empty with one seed."""
        low, high = self.change.low, self.change.high
        if low is None or high is None:
            return ""
        return f"{self._spelled(low, kind)} to {self._spelled(high, kind)}"

    def _spelled(self, value: float, kind: str) -> str:
        if self.ratio is not None:
            return quantity.change(value)
        sign = "+" if value > 0 else "−" if value < 0 else ""
        text = quantity.FORMATS[kind](abs(value))
        return sign + (text.replace("%", "points") if kind == "share" else text)


def difference(own: Mapping[int, float | None], baseline: Mapping[int, float | None]) -> Difference | None:
    """The difference of per-seed values from the baseline's; None without a seed that has both."""
    absolute = paired_difference(own, baseline)
    if absolute is None:
        return None
    positive = all(a > 0 and b > 0 for a, b in paired_values(own, baseline))
    return Difference(absolute, paired_ratio(own, baseline) if positive else None)
