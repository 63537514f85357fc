"""The paper's two local topologies as fabric files, with links of a given rate.

Hosts `a` and `b`, six switches: in topology 1 four paths without a common link, in topology 2 three, of which two share
the link s6-s2. The same fabrics, to look at or to run by hand, are in `scenarios/smoc/`.

A link's rate is that of its IP packets (`overhead = "none"`): the paper's links are tunnels of limited rate, no wires.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

HOST_RATE_BPS = 1_000_000_000
"""Of the links to the hosts, which are not to be what limits."""
SENDER, RECEIVER = "a", "b"
SWITCHES = ("s1", "s2", "s3", "s4", "s5", "s6")
_HOST_CABLES = (("a", "s1"), ("b", "s2"))


class Topology(IntEnum):
    """By the paper's number."""

    isolated = 1
    shared = 2


@dataclass(frozen=True)
class Shape:
    """What follows from a topology alone.

    Attributes:
        cables: Between switches, in the order of their ports.
        paths: Between the hosts' switches.
        capacity: How many links' rates the paths carry together.
    """

    cables: tuple[tuple[str, str], ...]
    paths: tuple[tuple[str, ...], ...]
    capacity: int


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
}


def fabric(topology: Topology, rate_bps: int, delay: str = "0 s", queue: str = "100 packets") -> str:
    """The text of a fabric file.

    Args:
        topology: Which.
        rate_bps: Of the links between switches.
        delay: Of every link.
        queue: At the start of every link between switches; hosts' links have 1000 packets.
    """
    lines = [
        f'name = "smoc, topology {topology:d}"',
        "",
        "[defaults]",
        f'rate = "{rate_bps} bps"',
        f'delay = "{delay}"',
    ]
    lines += [f'queue = "{queue}"', 'overhead = "none"', ""]
    roles = [*((host, "host") for host in (SENDER, RECEIVER)), *((switch, "switch") for switch in SWITCHES)]
    lines += [line for name, role in roles for line in ("[[node]]", f'name = "{name}"', f'role = "{role}"', "")]
    for a, b in _HOST_CABLES:
        host = (f'rate = "{HOST_RATE_BPS} bps"', 'queue = "1000 packets"')
        lines += ["[[link]]", f'between = ["{a}", "{b}"]', *host, ""]
    lines += [line for a, b in SHAPES[topology].cables for line in ("[[link]]", f'between = ["{a}", "{b}"]', "")]
    return "\n".join(lines)
