"""What is compared, at which packet sizes, and how often."""

from __future__ import annotations

from dataclasses import dataclass

OVS, FLOW_TABLE, TAG_FORWARD = "ovs", "flow_table", "tag_forward"
PEERS = (OVS, FLOW_TABLE, TAG_FORWARD)
"""Open vSwitch; Weft's switch with a table at every hop, and with tags: the same program but for those."""
ECHO_SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Bytes of the IP packet of an echo request; what is larger than `MTU` comes in fragments."""
MTU = 1500
LOAD_SIZES = (64, 512, 1500)
"""Bytes of the IP packets of the load."""
RULES = 40_000
"""Rules in a table: a fifth of 200 000, as in the paper."""
MISSING = 0.01
"""Share of packets that may be lost, or still wait when the last is sent, where a rate counts as carried."""


def spelled(size: int) -> str:
    """The class of packets of a size in results: `64 B`."""
    return f"{size} B"


@dataclass(frozen=True)
class Extent:
    """How much of it is run.

    Attributes:
        rounds: In each every peer is asked for echoes of every size.
        echoes: Of a size, peer and round.
        loads: Rounds that have load as well, the first ones.
        trial_s: How long a load is sent to find out whether it is carried.
        settings: How often all gates are set.
        rules: In a table.
    """

    rounds: int
    echoes: int
    loads: int
    trial_s: float
    settings: int
    rules: int = RULES


@dataclass(frozen=True)
class Setup:
    """One run: what is measured of a peer in a round."""

    peer: str
    round: int
    loaded: bool

    @property
    def id(self) -> str:
        """Of the run."""
        return f"{self.peer}-round{self.round}"

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.peer}, round {self.round}"
