"""The paper's Figure 1: the fat-tree of k = 4, its names, and the paths through it.

Edge switches are es1 to es8, aggregation switches as1 to as8, cores cs1 to cs4, as in the paper; servers are h1 to
h16, two to an edge switch, and the hosts on the external links of a core are x1 to x8, two to each.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..._weft import GatePlan

K = 4
PODS, HALF = K, K // 2
SERVERS = tuple(f"h{number}" for number in range(1, K**3 // 4 + 1))
OUTSIDE = tuple(f"x{number}" for number in range(1, K**2 // 2 + 1))
EDGES = tuple(f"es{number}" for number in range(1, PODS * HALF + 1))
AGGREGATIONS = tuple(f"as{number}" for number in range(1, PODS * HALF + 1))
CORES = tuple(f"cs{number}" for number in range(1, HALF**2 + 1))
SWITCHES = (*EDGES, *AGGREGATIONS, *CORES)
GATES = 4 * len(EDGES) + 4 * len(AGGREGATIONS) + 6 * len(CORES)
"""Switch interfaces; the paper's 104 include those of the 16 servers."""
FILE = "figure1.fabric.toml"


def fabric() -> str:
    """The text of its fabric file. Rates are irrelevant here: links are as fast as the machine."""
    lines = ['name = "tag-and-forward, figure 1"', ""]
    roles = [
        *((name, "host", "host") for name in (*SERVERS, *OUTSIDE)),
        *((name, "switch", "edge") for name in EDGES),
        *((name, "switch", "aggregation") for name in AGGREGATIONS),
        *((name, "switch", "core") for name in CORES),
    ]
    for name, role, tier in roles:
        lines += ["[[node]]", f'name = "{name}"', f'role = "{role}"', f'tier = "{tier}"', ""]
    lines += [line for a, b in _cables() for line in ("[[link]]", f'between = ["{a}", "{b}"]', "")]
    return "\n".join(lines)


def _cables() -> Iterator[tuple[str, str]]:
    """Servers first, then upwards, then the external links: ports are numbered in this order."""
    for number, server in enumerate(SERVERS):
        yield server, EDGES[number // HALF]
    for number, edge in enumerate(EDGES):
        for member in range(HALF):
            yield edge, AGGREGATIONS[number // HALF * HALF + member]
    for number, aggregation in enumerate(AGGREGATIONS):
        for core in range(HALF):
            yield aggregation, CORES[number % HALF * HALF + core]
    for number, outside in enumerate(OUTSIDE):
        yield outside, CORES[number // HALF]


def pod(server: str) -> int:
    """The pod of a server, from 0."""
    return SERVERS.index(server) // HALF**2


@cache
def gates() -> GatePlan:
    """The gates of the fabric."""
    return GatePlan.of_file(FILE, fabric())


@dataclass(frozen=True)
class Hop:
    """A switch of a path, with its outgoing port and gate; ports count from 0."""

    switch: str
    port: int
    gate: int


@dataclass(frozen=True)
class Way:
    """A path between two servers: `gate` is that of the first hop."""

    hops: tuple[Hop, ...]
    gate: int
    up: int
    down: int


@cache
def way(source: str, destination: str, choice: int) -> Way:
    """One of the paths between two servers, `choice` modulo their number."""
    plan = gates()
    chosen = choice % plan.choices(source, destination)
    steering, route = plan.steering(source, destination, chosen), plan.route(source, destination, chosen)
    assert steering is not None and route is not None
    _, gate, up, down = steering
    return Way(tuple(Hop(*hop) for hop in route), gate, up, down)
