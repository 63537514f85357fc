"""The difference of a metric from the baseline: estimate, significance and formatting.

FCT, slowdown and throughput are positive, and some seeds are slower by a factor under both schemes. So they are
compared by their ratio: the geometric mean over seeds, with the interval of the mean logarithm. Unlike the interval of
the difference it never reaches below -100 %, and it is the same whichever scheme is the baseline. Counts
that are zero in some run have no logarithm and are compared by their difference, and so are all shares: in percentage
points, as a percentage of a percentage would look the same.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from . import quantity
from .statistics import CONFIDENCE, Estimate, holm, p_value, paired_difference, paired_ratio, paired_values

NOT_SIGNIFICANT = "n.s."
"""Shown if the 95 % interval contains "no difference"."""
SIGNIFICANT = "*"
"""Follows a difference that is significant after `corrected`."""
LEFT_OUT = "†"
"""Follows a difference if flows without an end are left out of it."""
FIXED = "No interval and no test where all seeds gave the same value."
"""The note on a table with such values; `ALL_FIXED` if it has no others."""
ALL_FIXED = (
    "The seeds change nothing: all gave the same values, so there is no interval and no test: one seed is enough."
)
FEW = "‡"
"""Follows a quantile of few flows; see `weft.metrics.Metric.least`."""


@dataclass(frozen=True)
class Difference:
    """A metric compared with that of the baseline, paired by seed."""

    absolute: Estimate
    """Mean of own value minus the baseline's, in the metric's unit."""
    ratio: Estimate | None
    """Geometric mean of own value over the baseline's; None of shares, or unless all values are positive."""
    p: float | None = None
    """The p-value of `change`; None with one seed, and if all seeds gave the same change other than zero."""
    adjusted: float | None = None
    """The p-value, adjusted for the number of differences; None before `corrected`."""
    unfinished: tuple[float, float] = (0, 0)
    """Own flows and the baseline's that are left out because they did not finish."""

    @property
    def change(self) -> Estimate:
        """The value judged and shown: the ratio minus one if there is a ratio, else the difference."""
        return self.absolute if self.ratio is None else self.ratio.shifted(-1)

    @property
    def significant(self) -> bool | None:
        """Whether there is a difference, after `corrected` for the whole family; None without a p-value."""
        found = self.p if self.adjusted is None else self.adjusted
        return None if found is None else found < 1 - CONFIDENCE

    @property
    def vague(self) -> bool:
        """Whether the 95 % interval contains "no difference", even without a correction."""
        return self.change.ends[0] is not None and not self.change.excludes_zero

    def verdict(self, better: int) -> str:
        """``good`` or ``bad`` if the difference is significant, else empty; `better` as in `Metric`.

        The side with more unfinished flows is never called the better one: they would be its slowest.
        """
        if not self.significant:
            return ""
        own, baseline = self.unfinished
        good = self.change.mean * better > 0
        return "" if (own > baseline if good else own < baseline) else "good" if good else "bad"

    def text(self, kind: str) -> str:
        """Table cell, e.g. ``−12.3 %*``, ``+14``, ``+2.10 points`` or ``n.s.``; `kind` as in `Metric`."""
        text = NOT_SIGNIFICANT if self.vague else self._spelled(self.change.mean, kind)
        if self.adjusted is not None and self.significant and not self.vague:
            text += SIGNIFICANT
        return text + (LEFT_OUT if any(self.unfinished) else "")

    def interval(self, kind: str) -> str:
        """The 95 % interval, e.g. ``−20.1 % to −3.4 %``; empty with one seed, and if all seeds gave the same value."""
        low, high = self.change.ends
        if low is None or high is None:
            return ""
        return f"{self._spelled(low, kind)} to {self._spelled(high, kind)}"

    def _spelled(self, value: float, kind: str) -> str:
        if self.ratio is not None:
            return quantity.change(value)
        sign = "+" if value > 0 else "−" if value < 0 else ""
        text = quantity.FORMATS[kind](abs(value))
        return sign + (text.replace("%", "points") if kind == "share" else text)


def difference(
    own: Mapping[int, float | None],
    baseline: Mapping[int, float | None],
    unfinished: tuple[float, float] = (0, 0),
    *,
    kind: str = "",
) -> Difference | None:
    """The difference of per-seed values from the baseline's; None without a seed that has both.

    `kind` is that of the metric: shares are never compared by their ratio (`has_ratio`).
    """
    absolute = paired_difference(own, baseline)
    if absolute is None:
        return None
    pairs = paired_values(own, baseline)
    is_ratio = has_ratio(kind) and all(a > 0 and b > 0 for a, b in pairs)
    found = Difference(absolute, paired_ratio(own, baseline) if is_ratio else None, unfinished=unfinished)
    if found.change.is_fixed and found.change.mean != 0:
        return found
    return replace(found, p=p_value(math.log(a / b) if is_ratio else a - b for a, b in pairs))


def has_ratio(kind: str) -> bool:
    """Whether positive values of a kind of quantity are compared by their ratio."""
    return kind != "share"


def corrected(family: Iterable[dict[str, Difference | None]]) -> int:
    """Adjust the p-values of all differences in some rows for their number (`holm`), in place; returns the number."""
    places = [(row, key, found.p) for row in family for key, found in row.items() if found and found.p is not None]
    for (row, key, _), adjusted in zip(places, holm([p for _, _, p in places]), strict=True):
        found = row[key]
        if found is not None:
            row[key] = replace(found, adjusted=adjusted)
    return len(places)
