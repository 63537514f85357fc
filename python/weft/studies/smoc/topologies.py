"""The paper's three topologies as fabric files, with links of a given rate.

Hosts `a` and `b` at switches `s1` and `s2`: in topology 1 four paths without a common link, in topology 2 three, of
which two share the link s6-s2, in the wide area two of long delay. The same fabrics, to look at or to run by hand, are
in `scenarios/smoc/`, which says what of them the paper does not say.

A link's rate is that of its IP packets (`overhead = "none"`): the paper's links are tunnels of limited rate, no wires.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

HOST_RATE_BPS = 1_000_000_000
"""Of the links to the hosts, which are not to be what limits."""
FABRICS = Path(__file__).parent / "fabrics"
"""What `fabric` says of links of 100 Mbps, in files for scenarios: `topology1`, `topology2`, `topology-wan`."""
SENDER, RECEIVER = "a", "b"
_HOST_CABLES = (("a", "s1"), ("b", "s2"))
_LOCAL_QUEUE = 100
"""Packets."""


class Topology(IntEnum):
    """By the paper's number; its wide area has none."""

    isolated = 1
    shared = 2
    wide = 3


LOCAL = (Topology.isolated, Topology.shared)


@dataclass(frozen=True)
class Shape:
    """What follows from a topology alone.

    Attributes:
        cables: Between switches, in the order of their ports.
        paths: Between the hosts' switches.
        capacity: How many links' rates the paths carry together.
        delays_ms: Of cables between switches that have one.
    """

    cables: tuple[tuple[str, str], ...]
    paths: tuple[tuple[str, ...], ...]
    capacity: int
    delays_ms: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def switches(self) -> list[str]:
        """In order of their numbers."""
        return sorted({switch for cable in self.cables for switch in cable})


ROUND_TRIP_S = 0.18
"""On either path of the wide area."""
_WIDE_DELAYS_MS = {("s1", "s2"): 90, ("s1", "s3"): 5, ("s3", "s4"): 55, ("s4", "s2"): 30}
SHAPES = {
    Topology.isolated: Shape(
        tuple(pair for middle in ("s3", "s4", "s5", "s6") for pair in (("s1", middle), (middle, "s2"))),
        tuple(("s1", middle, "s2") for middle in ("s3", "s4", "s5", "s6")),
        4,
    ),
    Topology.shared: Shape(
        (("s1", "s3"), ("s3", "s2"), ("s1", "s4"), ("s4", "s6"), ("s1", "s5"), ("s5", "s6"), ("s6", "s2")),
        (("s1", "s3", "s2"), ("s1", "s4", "s6", "s2"), ("s1", "s5", "s6", "s2")),
        2,
    ),
    Topology.wide: Shape(tuple(_WIDE_DELAYS_MS), (("s1", "s2"), ("s1", "s3", "s4", "s2")), 2, _WIDE_DELAYS_MS),
}


def name(topology: Topology) -> str:
    """What its fabric is called."""
    return "smoc, wide area" if topology is Topology.wide else f"smoc, topology {topology:d}"


def fabric(topology: Topology, rate_bps: int) -> str:
    """The text of a fabric file with this rate between switches.

    Queues hold 100 packets, on links that delay half of what a round trip of `ROUND_TRIP_S` has on the way.
    """
    shape = SHAPES[topology]
    queue = max(round(rate_bps * ROUND_TRIP_S / 2 / 12_000), _LOCAL_QUEUE) if shape.delays_ms else _LOCAL_QUEUE
    lines = [f'name = "{name(topology)}"', "", "[defaults]", f'rate = "{rate_bps} bps"', 'delay = "0 s"']
    lines += [f'queue = "{queue} packets"', 'overhead = "none"', ""]
    roles = [*((host, "host") for host in (SENDER, RECEIVER)), *((switch, "switch") for switch in shape.switches)]
    lines += [line for name, role in roles for line in ("[[node]]", f'name = "{name}"', f'role = "{role}"', "")]
    for a, b in _HOST_CABLES:
        host = (f'rate = "{HOST_RATE_BPS} bps"', 'queue = "1000 packets"')
        lines += ["[[link]]", f'between = ["{a}", "{b}"]', *host, ""]
    for a, b in shape.cables:
        delay = [f'delay = "{shape.delays_ms[a, b]} ms"'] if shape.delays_ms else []
        lines += ["[[link]]", f'between = ["{a}", "{b}"]', *delay, ""]
    return "\n".join(lines)
