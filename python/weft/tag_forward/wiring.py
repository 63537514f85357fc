"""Compares the switches' neighbours with the fabric: miswired links, and links that work.

For each port, a switch knows whether it receives Hellos, and from which switch and port. It does not know which host is
behind a port, only that no switch is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import DaemonError
from .fabric import End, FatTree


@dataclass(frozen=True)
class Port:
    """A port as its daemon reports it, with id and port of the switch whose Hellos it receives.

    `role` is ``fabric``, ``unheard``, ``one-way``, ``host``, ``listening``, ``silent``, ``looped`` or ``down``; `unfit`
    why the daemon does not use the interface, if so.
    """

    interface: str
    role: str
    neighbour: tuple[str, int] | None
    unfit: str | None = None

    @classmethod
    def from_json(cls, port: Mapping[str, Any]) -> Port:
        """A port in the format of ``GET /v1/ports`` (``switch_id``) or of a notice (``switch``).

        Raises `DaemonError` if it has neither format.
        """
        try:
            heard = port["neighbour"]
            id_ = None if heard is None else str(heard.get("switch_id") or heard["switch"])
            neighbour = None if id_ is None else (id_, int(heard["port"]))
            return cls(str(port["interface"]), str(port["role"]), neighbour, port.get("unfit"))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise DaemonError(f"a daemon reported a malformed port: {port}") from None


class Wiring:
    """The state of all ports of a fat-tree's switches, as reported by their daemons."""

    def __init__(self, tree: FatTree) -> None:
        self.tree = tree
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._ports: dict[End, Port] = {}

    def met(self, switch: str, id_: str) -> None:
        """A daemon has reported its id."""
        self._ids[switch] = id_
        self._names = {known: name for name, known in self._ids.items()}

    def twins(self) -> list[str]:
        """Switches that have the same id, such as ``e0 and e1 (00000a0b0c0d0e0f)``."""
        same: dict[str, list[str]] = {}
        for switch in self.tree.switches:
            if switch in self._ids:
                same.setdefault(self._ids[switch], []).append(switch)
        return [f"{' and '.join(switches)} ({id_})" for id_, switches in same.items() if len(switches) > 1]

    def learn(self, end: End, port: Port) -> None:
        """A daemon has reported the state of a port."""
        self._ports[end] = port

    def settling(self, switch: str) -> bool:
        """Whether the neighbour of some port of a switch is not known yet."""
        return any(self._ports[end].role == "listening" for end in self._known(switch))

    def works(self, end: End) -> bool:
        """Whether the link at a port of a switch connects to the planned port, as far as its daemon knows."""
        port, expected = self._ports.get(end), self.tree.leads_to.get(end)
        if port is None or expected is None:
            return False
        if self.tree.is_host(expected.node):
            return port.role == "host"
        # An unheard switch still forwards: only its daemon hangs.
        return port.role in ("fabric", "unheard") and self._mistake(end, port, expected) is None

    def mistakes(self) -> list[str]:
        """Miswired links, such as ``as3-eth2 goes to cs4, expected cs1``.

        Each link is listed once, at the switch that comes first in the fabric.
        """
        found: dict[End, str] = {}
        for switch in self.tree.switches:
            for end in self._known(switch):
                port, expected = self._ports[end], self.tree.leads_to.get(end)
                other = self._other(port)
                if other in found:
                    continue
                mistake = self._mistake(end, port, expected)
                if mistake is not None:
                    found[end] = f"{self._named(end, port)} {mistake}"
        return list(found.values())

    def silent(self) -> list[str]:
        """Ports of responding switches whose link does not work, such as ``e0-eth2 is down, expected a0``."""
        found = []
        for switch in self.tree.switches:
            for end in self._known(switch):
                port, expected = self._ports[end], self.tree.leads_to.get(end)
                if self._mistake(end, port, expected) is None and (said := self.about(end)) is not None:
                    found.append(said)
        return found

    def about(self, end: End) -> str | None:
        """Why the link at a port does not work; None if it does or is unknown."""
        port, expected = self._ports.get(end), self.tree.leads_to.get(end)
        if port is None or expected is None or self.works(end):
            return None
        mistake = self._mistake(end, port, expected)
        if mistake is not None:
            return f"{self._named(end, port)} {mistake}"
        what = "receives no Hellos" if port.role == "host" else f"is {port.role}"
        unfit = f" ({port.unfit})" if port.unfit else ""
        return f"{self._named(end, port)} {what}{unfit}, expected {expected.node}"

    def _known(self, switch: str) -> list[End]:
        return sorted(end for end in self._ports if end.node == switch)

    def _other(self, port: Port) -> End | None:
        """The end whose Hellos a port receives, if the id of its switch is known."""
        if port.neighbour is None:
            return None
        name = self._names.get(port.neighbour[0])
        return None if name is None else End(name, port.neighbour[1])

    def _mistake(self, end: End, port: Port, expected: End | None) -> str | None:
        """How a port is miswired; None if it is not, or unknown."""
        if port.role != "fabric" or port.neighbour is None:
            return None
        other = self._other(port)
        wanted = "no link" if expected is None else expected.node
        if other is None:
            # No responding switch has this id; it may belong to the expected switch.
            if expected is not None and not self.tree.is_host(expected.node) and expected.node not in self._ids:
                return None
            return f"goes to a switch with id {port.neighbour[0]}, expected {wanted}"
        if other == expected:
            return None
        if expected is not None and other.node == expected.node:
            return f"goes to port {other.port} of {other.node}, expected port {expected.port}"
        return f"goes to {other.node}, expected {wanted}"

    @staticmethod
    def _named(end: End, port: Port) -> str:
        return str(end) if port.interface == str(end) else f"{end} ({port.interface})"
