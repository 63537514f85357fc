"""What arrived over time, whoever counted, and what is read from it."""

from __future__ import annotations

from .cases import LINK_BPS, WARM_UP_S

INTERVAL_S = 0.1
"""Of counting: iperf3 counts no oftener."""
_WHOLE_S = 1.0
"""Over how long goodput has to have the mean of a whole link to count as back."""
_BACK, _NOTHING = 0.9, 0.1
"""Shares of a link's goodput: from this on it is back, below that nothing arrives."""

Series = list[tuple[float, float]]
"""Ends of intervals in seconds, and the bytes that the application got in each."""
Observed = dict[str, Series]
"""Of the connection (`mptcp`), and of the one beside it (`tcp`)."""


def mean_bps(series: Series, begin_s: float = WARM_UP_S, end_s: float = float("inf")) -> float:
    """Goodput of the intervals that lie within."""
    chosen = [count for end, count in series if end > begin_s + INTERVAL_S / 2 and end <= end_s + INTERVAL_S / 2]
    return sum(chosen) * 8 / (len(chosen) * INTERVAL_S) if chosen else 0.0


def share(observed: Observed, end_s: float) -> float:
    """What the multipath connection has of both goodputs."""
    ours, theirs = (mean_bps(observed[name], end_s=end_s) for name in ("mptcp", "tcp"))
    return ours / (ours + theirs) if ours + theirs else 0.0


def stopped_s(series: Series, cut_s: float) -> float:
    """How long nothing arrived without a break, the longest time after a cut."""
    longest = now = 0.0
    for end, count in series:
        nothing = end > cut_s - INTERVAL_S and count * 8 / INTERVAL_S < _NOTHING * LINK_BPS
        now = now + INTERVAL_S if nothing else 0.0
        longest = max(longest, now)
    return longest


def back_s(series: Series, cut_s: float) -> float | None:
    """How long after a cut the second begins that has the goodput of the link that is left; None: there is none."""
    starts = [end - INTERVAL_S for end, _ in series if cut_s - INTERVAL_S / 2 <= end - INTERVAL_S]
    last = series[-1][0] - _WHOLE_S
    whole = (
        start for start in starts if start <= last and mean_bps(series, start, start + _WHOLE_S) >= _BACK * LINK_BPS
    )
    found = next((start for start in whole if _flows(series, start)), None)
    return None if found is None else found - cut_s


def _flows(series: Series, start_s: float) -> bool:
    """Whether something arrives in the interval that begins then: a second that begins with nothing is not yet one."""
    return mean_bps(series, start_s, start_s + INTERVAL_S) >= _NOTHING * LINK_BPS
