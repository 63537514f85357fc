"""What one run of the study is, whoever carries it out: topology, forwarding, subflows, rate, length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .topologies import SHAPES, Topology

SMOC, SPANNING_TREE = "smoc", "spanning_tree"
SCHEMES = (SMOC, SPANNING_TREE)
"""As results call them."""
SUBFLOWS = 4
"""Of a connection, where nothing else is said: as many as topology 1 has paths."""
COUNTS = (1, 2, 4, 8)
"""Numbers of subflows that are compared."""


@dataclass(frozen=True)
class Setup:
    """One run.

    Attributes:
        topology: Which fabric.
        scheme: How switches forward.
        subflows: Of a connection.
        seed: Tells repetitions apart; a real network draws its own random numbers.
        rate_bps: Of the links between switches.
        seconds: How long is sent.
        streams: Connections at a time.
    """

    topology: Topology
    scheme: str
    subflows: int
    seed: int
    rate_bps: int
    seconds: float
    streams: int = 1

    @property
    def id(self) -> str:
        """Of the run, among those of its topology."""
        return f"{self.scheme}-subflows-{self.subflows}-seed{self.seed}"

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.scheme}, subflows={self.subflows}, seed {self.seed}"

    @property
    def overrides(self) -> dict[str, Any]:
        """What tells it from other runs of the part, the seed apart, as a sweep would name it."""
        return {"scheme.name": self.scheme, "transport.subflows": self.subflows}

    @property
    def capacity_bps(self) -> int:
        """What the topology's paths carry together."""
        return SHAPES[self.topology].capacity * self.rate_bps

    def as_json(self) -> dict[str, Any]:
        """For `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Setup:
        """What `as_json` gave."""
        return cls(**(data | {"topology": Topology(data["topology"])}))


def setups(
    topology: Topology, seeds: int, rate_bps: int, seconds: float, counts: Sequence[int] = COUNTS
) -> list[Setup]:
    """The runs of a topology: both schemes with `SUBFLOWS`, smoc with the other counts; all of a seed together.

    What the machine does meanwhile changes slowly, so what is compared is run one after the other.
    """
    kinds = [(scheme, SUBFLOWS) for scheme in SCHEMES] + [(SMOC, count) for count in counts if count != SUBFLOWS]
    return [
        Setup(topology, scheme, count, seed, rate_bps, seconds)
        for seed in range(1, seeds + 1)
        for scheme, count in kinds
    ]
