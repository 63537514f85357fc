"""What tests of steadiness hold against what was seen."""

from __future__ import annotations

BUSY = 1.2e6
"""Bits a second that say that a link of 2 Mbps is used; LLDP is a thousand."""
LATEST_S = 2.0
"""From sending a probe to its arrival: on a machine with ten processes to a core, switches in user space may wait."""
MIDDLES = ["s3", "s4", "s5", "s6"]


def uninterrupted(probes):
    """Every probe has arrived, once and in time, by the one path that its subflow has."""
    assert probes["sent"] > 1000, probes
    assert (probes["losses"], probes["copies"], probes["strays"]) == (0, 0, 0), probes
    assert probes["latest_s"] < LATEST_S, probes
    assert probes["middles"] == MIDDLES, probes
