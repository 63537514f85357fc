"""The comparisons: peers, packet sizes and repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...emulation.plan import MTU

OVS, FLOW_TABLE, TAG_FORWARD = "ovs", "flow_table", "tag_forward"
PEERS = (OVS, FLOW_TABLE, TAG_FORWARD)
"""Open vSwitch; Weft's switch with a table at every hop, and with tags: otherwise the same program."""
LABELS = {OVS: "Open vSwitch", FLOW_TABLE: "flow table at every hop", TAG_FORWARD: "tags"}
"""Labels of the peers."""
ECHO_SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Bytes of the IP packet of an echo request; packets larger than `MTU` are fragmented."""
LOAD_SIZES = (64, 512, MTU)
"""Bytes of the IP packets of the load."""
FEW = 400
"""Flows of an additional load: about 100 at each switch."""
FEW_CLASS = f"{LOAD_SIZES[0]} B, {FEW} flows"
PACKETS, SEGMENTS = "packets", "segments"
"""The units that hosts pass to the kernel: packets, or segments of up to 64 kB, which cannot be tagged."""
RULES = 40_000
"""Rules in a table: a fifth of 200 000, as in the paper."""
MISSING = 0.01
"""Maximum share of packets lost or queued when the last is sent, for a rate to count as carried."""


def spelled(size: int) -> str:
    """The class of packets of a size in results: `64 B`."""
    return f"{size} B"


@dataclass(frozen=True)
class Extent:
    """Extent of the study: `rounds`, each with so many `echoes` of every size through every peer.

    The first `loads` rounds also have load, in trials of `trial_s`. All gates are set `settings` times. `tables` are
    further numbers of rules per table, for Weft's switches only, each for `loads` rounds with load.
    """

    rounds: int
    echoes: int
    loads: int
    trial_s: float
    settings: int
    tables: tuple[int, ...] = ()
    rules: int = RULES

    def setups(self) -> list[Setup]:
        """All runs; those that are compared follow each other."""
        most = [
            Setup(peer, self.rules, number, number <= self.loads)
            for number in range(1, self.rounds + 1)
            for peer in PEERS
        ]
        more = [
            Setup(peer, rules, number, True)
            for rules in self.tables
            for number in range(1, self.loads + 1)
            for peer in (FLOW_TABLE, TAG_FORWARD)
        ]
        return most + more


@dataclass(frozen=True)
class Setup:
    """One run: the measurements of a peer, with so many rules in each table, in a round with load or without."""

    peer: str
    rules: int
    round: int
    loaded: bool

    @property
    def id(self) -> str:
        """Id of the run."""
        return f"{self.peer}-rules{self.rules}-round{self.round}"

    @property
    def label(self) -> str:
        """Label of the run."""
        return f"{self.peer}, {self.rules} rules, round {self.round}"

    @property
    def overrides(self) -> dict[str, Any]:
        """The values that distinguish it from other runs, except the round, as the overrides of a sweep."""
        return {"scheme.name": self.peer, "tables.rules": self.rules}
