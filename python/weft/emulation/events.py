"""Links that fail and heal at their times.

A cable is cut by taking the switches' ends down: both ends lose their carrier, and what is in their queues is lost. The
end of a host stays up, so that the host keeps its address and routes, and sees no carrier, as with a pulled plug.
Where switches are told their routes, they are told those of the new fabric at the same time.
"""

from __future__ import annotations

import subprocess
import time
from typing import Any

from .errors import EmulationError
from .network import Network
from .plan import Event
from .requirements import program


class Faults:
    """Carries out the events of a plan on a network that runs."""

    def __init__(self, network: Network) -> None:
        """For a network that is built."""
        self._network = network
        self._plan = network.plan

    def begin(self) -> None:
        """Take down the cables that are down from the start."""
        self._set([number for number, cable in enumerate(self._plan.cables) if not cable.up], up=False)

    def happen(self, event: Event, started: float) -> dict[str, Any]:
        """Carry out an event; returns what is recorded of it.

        Args:
            event: Of the plan.
            started: When the run started, by `time.monotonic()`.
        """
        self._set(event.cables, event.up)
        happened = time.monotonic() - started
        if event.routes is not None:
            for name, switch in self._network.switches.items():
                switch.write_routes(self._plan.stations(event.routes, name) or {})
                self._network.ask(name, "reload", "POST")
        return {
            "at_ps": event.at_ps,
            "happened_ps": round(happened * 1e12),
            "change": event.change,
            "target": event.target,
        }

    def _set(self, cables: list[int], up: bool) -> None:
        ends = [end for number in cables for end in self._plan.cables[number].ends]
        word = "up" if up else "down"
        lines = [
            f"link set dev {self._plan.interface(end)} {word}" for end in ends if end.node not in self._plan.host_names
        ]
        if not lines:
            return
        command = [str(program("ip")), "-batch", "-"]
        done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EmulationError(f"links cannot be set {word}: {done.stderr.strip()}")
