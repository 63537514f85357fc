"""The paper's three topologies as fabric files, with links of a given rate.

Hosts `a` and `b` are at switches `s1` and `s2`: with four disjoint paths in topology 1, three paths in topology 2, two
of which share the link s6-s2, and two paths with long delays in the wide area. The same fabrics, for manual runs, are
in `scenarios/smoc/`, which lists details not given in the paper.

A link's rate counts only IP packets (`overhead = "none"`): the paper's links are rate-limited tunnels, not wires.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

HOST_RATE_BPS = 1_000_000_000
"""Rate of the hosts' links, which must not be the bottleneck."""
FABRICS = Path(__file__).parent / "fabrics"
"""The fabrics with links of 100 Mbps, as files for scenarios: `topology1`, `topology2`, `topology-wan`."""
SENDER, RECEIVER = "a", "b"
_HOST_CABLES = (("a", "s1"), ("b", "s2"))
_LOCAL_QUEUE = 100
"""Packets."""


class Topology(IntEnum):
    """The paper's topologies by number; its wide area has none."""

    isolated = 1
    shared = 2
    wide = 3


LOCAL = (Topology.isolated, Topology.shared)


@dataclass(frozen=True)
class Shape:
    """A topology: links between switches in the order of their ports, with their delays if any; paths between hosts.

    `capacity` is that of all paths together, in link rates.
    """

    cables: tuple[tuple[str, str], ...]
    paths: tuple[tuple[str, ...], ...]
    capacity: int
    delays_ms: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def switches(self) -> list[str]:
        """The switches, in order of their numbers."""
        return sorted({switch for cable in self.cables for switch in cable})


ROUND_TRIP_S = 0.18
"""Round-trip time of both paths of the wide area."""
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
    """The name of its fabric."""
    return "smoc, wide area" if topology is Topology.wide else f"smoc, topology {topology:d}"


def fabric(topology: Topology, rate_bps: int) -> str:
    """The text of a fabric file with this rate between switches.

    Queues hold 100 packets, or half the bandwidth-delay product of `ROUND_TRIP_S` on links with delay.
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
