"""What is compared, at which packet sizes, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OVS, FLOW_TABLE, TAG_FORWARD = "ovs", "flow_table", "tag_forward"
PEERS = (OVS, FLOW_TABLE, TAG_FORWARD)
"""Open vSwitch; Weft's switch with a table at every hop, and with tags: the same program but for those."""
LABELS = {OVS: "Open vSwitch", FLOW_TABLE: "flow table at every hop", TAG_FORWARD: "tags"}
"""What people call them."""
ECHO_SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Bytes of the IP packet of an echo request; what is larger than `MTU` comes in fragments."""
MTU = 1500
LOAD_SIZES = (64, 512, 1500)
"""Bytes of the IP packets of the load."""
FEW = 400
"""Flows of a load beside that: about 100 at each switch."""
FEW_CLASS = f"{LOAD_SIZES[0]} B, {FEW} flows"
PACKETS, SEGMENTS = "packets", "segments"
"""What hosts hand the kernel of a TCP connection: packets, or segments of up to 64 kB, which no tag can be put on."""
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
        tables: Other numbers of rules in a table, of Weft's switches only, each for `loads` rounds with load.
        rules: In a table of every peer, before.
    """

    rounds: int
    echoes: int
    loads: int
    trial_s: float
    settings: int
    tables: tuple[int, ...] = ()
    rules: int = RULES

    def setups(self) -> list[Setup]:
        """All runs, what is compared one after the other."""
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
    """One run: what is measured of a peer in a round.

    Attributes:
        peer: Which.
        rules: In each of its tables.
        round: Its number.
        loaded: Whether there is load as well.
    """

    peer: str
    rules: int
    round: int
    loaded: bool

    @property
    def id(self) -> str:
        """Of the run."""
        return f"{self.peer}-rules{self.rules}-round{self.round}"

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.peer}, {self.rules} rules, round {self.round}"

    @property
    def overrides(self) -> dict[str, Any]:
        """What tells it from other runs, the round apart, as a sweep would name it."""
        return {"scheme.name": self.peer, "tables.rules": self.rules}
