"""`weft controller` over a fabric of Open vSwitches in a jail, waited for until it knows the network.

The controller is the one that users start, with its command line; it is asked over its control socket.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from ..controller import client
from ..controller.errors import ControllerError
from .errors import EmulationError
from .openflow import OpenFlowNetwork

LISTEN = "127.0.0.1:6653"
"""In the jail, whose loopback is its own."""
_SOCKET = Path("/run/weft-controller.sock")
_READY_S = 30.0
"""Seconds that the controller has to answer, and to find out what all ports lead to."""
_END_S = 10.0
"""Seconds that it has to end."""
_SETTLED_S = 1.5
"""From when a port is up, until it surely counts as a host's: the core's `settle_s` is a second."""
_LOOK_S = 0.05
"""Seconds between two looks."""
_LOG_LINES = 5
"""Last lines of its log that an error quotes."""
_ALL_ROWS = 1_000_000


class Controller:
    """A running `weft controller`; a context manager that starts and stops it.

    Attributes:
        process: Its process.
    """

    def __init__(self, forwarding: str, fabric: Path, log: Path, options: Sequence[str] = ()) -> None:
        """Start it, and wait until it listens.

        Args:
            forwarding: `smoc` or `spanning-tree`.
            fabric: The fabric file with the network as it should be.
            log: Where what it says goes.
            options: More of its command line.

        Raises:
            EmulationError: It does not start.
        """
        self._log = log
        command = [sys.executable, "-m", "weft", "controller", "--forwarding", forwarding, "--fabric", str(fabric)]
        command += ["--listen", LISTEN, "--control", str(_SOCKET), *options]
        with log.open("wb") as sink:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        try:
            self._wait("does not answer", self._answers)
        except EmulationError:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it; switches keep their rules."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def ask(self, what: str) -> dict[str, Any]:
        """What `weft controller show WHAT --json` prints, with all its rows.

        Raises:
            EmulationError: It does not answer.
        """
        try:
            return client.ask(_SOCKET, what, _ALL_ROWS)
        except ControllerError as error:
            raise EmulationError(f"{error}: {self.last_words()}", error.hint) from error

    def wait_for(self, network: OpenFlowNetwork) -> None:
        """Wait until it knows what every port of every switch leads to.

        Raises:
            EmulationError: It does not in time, or takes a port for what it is not.
        """
        expected = {name: _roles(network, name) for name in network.dpids}
        found: dict[str, dict[int, str]] = {}

        def knows() -> bool:
            nonlocal found
            rows = self.ask("switches")["switches"]
            found = {row["name"]: {port["port"]: _role(port) for port in row["ports"]} for row in rows}
            return found == expected

        try:
            self._wait("does not know all ports", knows)
        except EmulationError as late:
            differing = [name for name in expected if found.get(name) != expected[name]]
            ports = ", ".join(f"{name} has {found.get(name)}, not {expected[name]}" for name in differing[:2])
            raise EmulationError(f"{late}: {ports}") from late
        time.sleep(_SETTLED_S)

    def last_words(self) -> str:
        """The end of its log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return " | ".join(lines[-_LOG_LINES:]) or "it logged nothing"

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise EmulationError(f"weft controller ended with {self.process.returncode}: {self.last_words()}")
        try:
            client.ask(_SOCKET, "status", 0)
        except ControllerError:
            return False
        return True

    def _wait(self, what: str, condition: Any) -> None:
        until = time.monotonic() + _READY_S
        while not condition():
            if time.monotonic() > until:
                raise EmulationError(f"weft controller {what} after {_READY_S:g} s: {self.last_words()}")
            time.sleep(_LOOK_S)


def _role(port: dict[str, Any]) -> str:
    """The role of a port; `settling` is what one of a host is said to be until something happens after its time."""
    return "host" if port["role"] == "settling" else str(port["role"])


def _roles(network: OpenFlowNetwork, switch: str) -> dict[int, str]:
    """What each port of a switch should be taken for, as the core calls it."""
    roles = {}
    for cable in network.plan.cables:
        for end, other in (cable.ends, cable.ends[::-1]):
            if end.node == switch:
                role = "host" if other.node in network.plan.host_names else "switch"
                roles[end.port + 1] = role if cable.up else "down"
    return roles
