"""The fat-tree as planned: its gates, and the node that each port connects to."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from .. import _weft
from .._weft import GatePlan
from .errors import TagForwardError


class End(NamedTuple):
    """A port of a node."""

    node: str
    port: int

    def __str__(self) -> str:
        return f"{self.node}-eth{self.port}"


@dataclass(frozen=True)
class FatTree:
    """A fabric with its gates."""

    plan: GatePlan

    @cached_property
    def gates(self) -> dict[str, dict[str, Any]]:
        """The gates of each switch, in the format of `GatePlan.json`, in the fabric's order."""
        return {switch["switch"]: switch for switch in self.data["switches"]}

    @cached_property
    def data(self) -> dict[str, Any]:
        """The plan as an object."""
        found: dict[str, Any] = json.loads(self.plan.json())
        return found

    @property
    def switches(self) -> list[str]:
        """The names of all switches, in the fabric's order."""
        return list(self.gates)

    @cached_property
    def hosts(self) -> list[str]:
        """The names of all hosts, in the fabric's order."""
        return self.plan.hosts()

    @cached_property
    def leads_to(self) -> dict[End, End]:
        """The other end of the link at each port of a switch."""
        found: dict[End, End] = {}
        for node, port, other, other_port in self.plan.cables():
            a, b = End(node, port), End(other, other_port)
            found |= {a: b, b: a}
        return {end: other for end, other in found.items() if end.node in self.gates}

    def cable(self, end: End) -> str:
        """The name of the link at a port, such as ``a0-c1``, with the ends in the fabric's order."""
        order = [*self.hosts, *self.switches]
        return "-".join(sorted((end.node, self.leads_to[end].node), key=order.index))

    def ports(self, switch: str) -> list[End]:
        """The ports of a switch that have a link."""
        return [End(switch, gate["port"]) for gate in self.gates[switch]["gates"]]

    def named(self, switch: str) -> str:
        """Check the name of a switch and return it.

        Raises `TagForwardError` if the switch does not exist; the message suggests the nearest name.
        """
        if switch in self.gates:
            return switch
        nearest = _weft.nearest(switch, self.switches)
        what = "is a host" if switch in self.hosts else "is not a switch of this fabric"
        raise TagForwardError(f"`{switch}` {what}" + (f": did you mean `{nearest}`?" if nearest else ""))

    def routes(self, source: str, destination: str) -> list[dict[str, Any]]:
        """All paths between two hosts: ``up`` and ``down`` of the tag, ``hops`` with switch, port and gate.

        Raises `TagForwardError` if a host does not exist, or there is no path.
        """
        found = []
        try:
            for choice in range(self.plan.choices(source, destination)):
                steering, hops = (ask(source, destination, choice) for ask in (self.plan.steering, self.plan.route))
                assert steering is not None and hops is not None
                found.append({"up": steering[2], "down": steering[3], "hops": hops})
        except ValueError as wrong:
            raise TagForwardError(str(wrong)) from None
        if not found:
            raise TagForwardError(f"no tag selects a path from {source} to {destination}")
        return found

    def is_host(self, name: str) -> bool:
        """Whether a node is a host."""
        return name not in self.gates
