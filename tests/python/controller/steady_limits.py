"""Limits of the stability tests."""

from __future__ import annotations

MIDDLES = ["s3", "s4", "s5", "s6"]


def uninterrupted(probes):
    """Every probe arrived exactly once, on its subflow's only path."""
    assert probes["sent"] > 1000, probes
    assert (probes["losses"], probes["copies"], probes["strays"]) == (0, 0, 0), probes
    assert probes["middles"] == MIDDLES, probes
