"""DCQCN's fixed point (Zhu et al., SIGCOMM 2015, section 5.1)."""

from scipy.optimize import brentq

TAU_S, ALPHA_S, TIMER_S = 50e-6, 55e-6, 55e-6
"""Times between notifications, between updates of alpha, and between increases."""
BYTES = 10_000_000
"""Bytes between increases."""
FAST = 5
"""Increases of fast recovery."""
INCREASE_BPS = 40e6
"""An increase of the target rate."""


def marked(rate_bps: float, packet: int) -> float:
    """The share of marked packets at which senders at `rate_bps` each, in packets of `packet` bytes, stay there."""
    rate = rate_bps / 8 / packet
    increase = INCREASE_BPS / 8 / packet
    between = BYTES / packet

    def drift(p: float) -> float:
        """The derivative of the current rate, in packets per second squared, while the target rate is constant."""

        def none(packets: float) -> float:
            return float((1 - p) ** packets)

        by_bytes, by_time = p / (1 / none(between) - 1), p / (1 / none(TIMER_S * rate) - 1)
        notified = 1 - none(TAU_S * rate)
        alpha = 1 - none(ALPHA_S * rate)
        gain = increase * rate * (none(FAST * between) * by_bytes + none(FAST * TIMER_S * rate) * by_time)
        distance = gain * TAU_S / notified
        return -rate * alpha / (2 * TAU_S) * notified + distance / 2 * rate * (by_bytes + by_time)

    return float(brentq(drift, 1e-7, 0.05, xtol=1e-12))
