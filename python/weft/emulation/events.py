"""Link failures and repairs at their scheduled times.

A link is cut by taking its switch ends down: both ends lose their carrier and the contents of their queues. A host's
end stays up, so that the host keeps its address and routes and sees no carrier, as with an unplugged cable. Switches
with configured routes get those of the new fabric after the reaction time of the scenario.
"""

import time
from typing import Any

from .network import Network
from .plan import Event, Reroute
from .stack import ip_batch


class Faults:
    """Carries out the events of a plan on a running network."""

    def __init__(self, network: Network) -> None:
        """Takes a network that is already built."""
        self._network = network
        self._plan = network.plan

    def begin(self) -> None:
        """Take down the links that are down from the start."""
        self._set([number for number, cable in enumerate(self._plan.cables) if not cable.up], up=False)

    def happen(self, event: Event, started: float) -> dict[str, Any]:
        """Carry out an event of the plan; returns its record. The run `started` then, in `time.monotonic()`."""
        self._set(event.cables, up=bool(event.up))
        happened = time.monotonic() - started
        return {
            "at_ps": event.at_ps,
            "happened_ps": round(happened * 1e12),
            "change": event.change,
            "target": event.target,
        }

    def reroute(self, reroute: Reroute) -> None:
        """Give all switches the next hops of the changed fabric."""
        for name, switch in self._network.switches.items():
            switch.write_routes(self._plan.stations(reroute.routes, name) or {})
            self._network.ask(name, "reload", "POST")

    def _set(self, cables: list[int], up: bool) -> None:
        ends = [end for number in cables for end in self._plan.cables[number].ends]
        word = "up" if up else "down"
        lines = [
            f"link set dev {self._plan.interface(end)} {word}" for end in ends if end.node not in self._plan.host_names
        ]
        ip_batch(lines, f"cannot set links {word}")
