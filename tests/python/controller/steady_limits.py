"""Limits of the stability tests."""

from __future__ import annotations

BUSY = 1.2e6
"""Bit/s above which a link of 2 Mbps counts as used; LLDP takes 1000."""
LATEST_S = 2.0
"""Maximum transit time of a probe: with ten processes per core, userspace switches may be delayed."""
MIDDLES = ["s3", "s4", "s5", "s6"]


def uninterrupted(probes):
    """Every probe arrived exactly once and in time, on its subflow's only path."""
    assert probes["sent"] > 1000, probes
    assert (probes["losses"], probes["copies"], probes["strays"]) == (0, 0, 0), probes
    assert probes["latest_s"] < LATEST_S, probes
    assert probes["middles"] == MIDDLES, probes
