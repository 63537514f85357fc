"""Goodput over time, simulated or emulated, and the figures derived from it."""

from __future__ import annotations

from .cases import LINK_BPS, WARM_UP_S

INTERVAL_S = 0.1
"""Counting interval; iperf3's minimum."""
_WHOLE_S = 1.0
"""Period over which mean goodput must reach that of a full link to count as recovered."""
_BACK, _NOTHING = 0.9, 0.1
"""Shares of a link's goodput: recovered at or above the first, stalled below the second."""

Series = list[tuple[float, float]]
"""Ends of intervals in seconds, and the bytes that the application got in each."""
Observed = dict[str, Series]
"""The series of the connection (`mptcp`) and of the competing one (`tcp`)."""


def mean_bps(series: Series, begin_s: float = WARM_UP_S, end_s: float = float("inf")) -> float:
    """Mean goodput of the intervals between `begin_s` and `end_s`."""
    chosen = [count for end, count in series if end > begin_s + INTERVAL_S / 2 and end <= end_s + INTERVAL_S / 2]
    return sum(chosen) * 8 / (len(chosen) * INTERVAL_S) if chosen else 0.0


def share(observed: Observed, end_s: float) -> float:
    """The multipath connection's share of the total goodput."""
    ours, theirs = (mean_bps(observed[name], end_s=end_s) for name in ("mptcp", "tcp"))
    return ours / (ours + theirs) if ours + theirs else 0.0


def stopped_s(series: Series, cut_s: float) -> float:
    """The longest time after a cut during which nothing arrived."""
    longest = now = 0.0
    for end, count in series:
        nothing = end > cut_s - INTERVAL_S and count * 8 / INTERVAL_S < _NOTHING * LINK_BPS
        now = now + INTERVAL_S if nothing else 0.0
        longest = max(longest, now)
    return longest


def back_s(series: Series, cut_s: float) -> float | None:
    """Time from a cut until the start of the first second with the remaining link's goodput; None if there is none."""
    starts = [end - INTERVAL_S for end, _ in series if cut_s - INTERVAL_S / 2 <= end - INTERVAL_S]
    last = series[-1][0] - _WHOLE_S
    whole = (
        start for start in starts if start <= last and mean_bps(series, start, start + _WHOLE_S) >= _BACK * LINK_BPS
    )
    found = next((start for start in whole if _flows(series, start)), None)
    return None if found is None else found - cut_s


def _flows(series: Series, start_s: float) -> bool:
    """Whether data arrives in the interval starting at `start_s`: a second that starts stalled does not count."""
    return mean_bps(series, start_s, start_s + INTERVAL_S) >= _NOTHING * LINK_BPS
