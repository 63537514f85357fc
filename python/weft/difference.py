"""How a metric differs from that of the baseline: the estimate, whether it is significant, and how that is spelled.

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
"""Stands where the 95 % interval contains "no difference"."""


@dataclass(frozen=True)
class Difference:
    """A metric against the same metric of the baseline, seed by seed."""

    absolute: Estimate
    """Mean of own value minus the baseline's, in the metric's unit."""
    ratio: Estimate | None
    """Geometric mean of own value over the baseline's; None if any value is not above zero."""

    @property
    def change(self) -> Estimate:
        """What is judged and shown: the ratio less one where there is a ratio, else the difference."""
        return self.absolute if self.ratio is None else self.ratio.shifted(-1)

    @property
    def significant(self) -> bool | None:
        """Whether the 95 % interval excludes "no difference"; None with one seed, which has no interval."""
        return None if self.change.low is None else self.change.excludes_zero

    def verdict(self, better: int) -> str:
        """``good`` or ``bad`` where the difference is significant, else empty; `better` is that of the metric."""
        return "" if not self.significant else "good" if self.change.mean * better > 0 else "bad"

    def text(self, kind: str) -> str:
        """For a table, e.g. ``−12.3 %``, ``+14`` or ``n.s.``; `kind` is that of the metric."""
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
        return sign + quantity.FORMATS[kind](abs(value))


def difference(own: Mapping[int, float | None], baseline: Mapping[int, float | None]) -> Difference | None:
    """How per-seed values differ from the baseline's; None without a seed that has both."""
    absolute = paired_difference(own, baseline)
    if absolute is None:
        return None
    positive = all(a > 0 and b > 0 for a, b in paired_values(own, baseline))
    return Difference(absolute, paired_ratio(own, baseline) if positive else None)
