"""A graph of hosts and switches with their positions, as it is drawn."""

from dataclasses import dataclass

_TIERS = {
    1: ("hosts", "switches"),
    2: ("hosts", "leaves", "spines"),
    3: ("hosts", "edge", "aggregation", "core"),
}
"""Names of the tiers, by the number of switch tiers."""


SCALE_UP = -1
"""The row of switches that join the hosts of a scale-up domain, below the hosts."""


def tier_name(tier: int, highest: int) -> str:
    """The name of a tier, or of the row `SCALE_UP`, in a fabric whose highest switch tier is `highest`."""
    if tier == SCALE_UP:
        return "scale-up"
    names = _TIERS.get(highest, ())
    return names[tier] if tier < len(names) else f"tier {tier}"


@dataclass(frozen=True)
class Node:
    """A host or switch with its position for drawing (any scale; nodes of a tier share y)."""

    name: str
    role: str
    tier: int
    x: float
    y: float
    pod: int | None = None

    @property
    def is_host(self) -> bool:
        """Whether it is a host."""
        return self.role.lower() == "host"

    @property
    def row(self) -> int:
        """Its row in a drawing: its tier, or `SCALE_UP`."""
        return self.tier if self.is_host or self.tier else SCALE_UP


@dataclass(frozen=True)
class Link:
    """One direction of a full-duplex link."""

    source: str
    target: str
    rate_bps: float
    delay_ps: int
    up: bool = True


@dataclass(frozen=True)
class Graph:
    """Hosts and switches, and the links between them.

    Each full-duplex link is two adjacent ones: first from its first end, then the reverse.
    """

    name: str
    nodes: list[Node]
    links: list[Link]

    @property
    def hosts(self) -> list[Node]:
        """The hosts, in the order of the fabric."""
        return [node for node in self.nodes if node.is_host]

    @property
    def switches(self) -> list[Node]:
        """The switches, in the order of the fabric."""
        return [node for node in self.nodes if not node.is_host]

    def places(self) -> dict[str, tuple[float, float]]:
        """The position of each node, y upwards, with the highest tier on top."""
        rows = [node.row for node in self.nodes]
        top, bottom = (
            [node.y for node in self.nodes if node.row == end] for end in (max(rows, default=0), min(rows, default=0))
        )
        sign = 1 if not top or sum(top) / len(top) >= sum(bottom) / len(bottom) else -1
        return {node.name: (node.x, sign * node.y) for node in self.nodes}
