"""One run of the study, simulated or emulated: topology, forwarding, subflows, rate, duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .topologies import SHAPES, Topology

SMOC, SPANNING_TREE = "smoc", "spanning_tree"
SCHEMES = (SMOC, SPANNING_TREE)
"""Names in results."""
ECMP = "ecmp"
"""Additional scheme in simulation: each subflow on a path selected by a hash."""
SUBFLOWS = 4
"""Default number of subflows per connection: the number of paths in topology 1."""
COUNTS = (1, 2, 4, 8)
"""Numbers of subflows that are compared."""
WIDE_STREAMS = 12
"""Parallel connections in the wide area (the paper's `iperf -P 12`)."""


@dataclass(frozen=True)
class Extent:
    """Extent of a size: repetitions and seconds of each, also for the wide area."""

    seeds: int
    seconds: int
    wide_seeds: int
    wide_seconds: int


@dataclass(frozen=True)
class Setup:
    """One run; `seed` is the number of the repetition, `streams` that of parallel connections.

    A real network has its own randomness. `rate_bps` is that of links between switches.
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
        """Id of the run within its topology."""
        return f"{self.scheme}-subflows-{self.subflows}-seed{self.seed}"

    @property
    def label(self) -> str:
        """Label of the run."""
        return f"{self.scheme}, subflows={self.subflows}, seed {self.seed}"

    @property
    def overrides(self) -> dict[str, Any]:
        """The values that distinguish it from other runs of the part, except the seed, as the overrides of a sweep."""
        return {"scheme.name": self.scheme, "transport.subflows": self.subflows}

    @property
    def capacity_bps(self) -> int:
        """Total capacity of the topology's paths."""
        return SHAPES[self.topology].capacity * self.rate_bps

    def as_json(self) -> dict[str, Any]:
        """The setup as JSON, for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Setup:
        """The inverse of `as_json`."""
        return cls(**(data | {"topology": Topology(data["topology"])}))


def setups(
    topology: Topology, seeds: int, rate_bps: int, seconds: float, counts: Sequence[int] = COUNTS
) -> list[Setup]:
    """The runs of a topology: both schemes with `SUBFLOWS`, smoc with the other counts; all of a seed together.

    The machine's background load changes slowly, so runs that are compared follow each other.
    """
    kinds = [(scheme, SUBFLOWS) for scheme in SCHEMES] + [(SMOC, count) for count in counts if count != SUBFLOWS]
    return [
        Setup(topology, scheme, count, seed, rate_bps, seconds)
        for seed in range(1, seeds + 1)
        for scheme, count in kinds
    ]
