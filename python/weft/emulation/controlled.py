"""Runs `weft controller` for a fabric of Open vSwitches in a jail, and waits until it has discovered the network.

The controller runs from the command line as for users, and is queried over its control socket.
"""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from .. import interpreter
from .._weft import OPENFLOW_PORT
from ..controller import client
from ..controller.errors import ControllerError
from .errors import EmulationError
from .openflow import OpenFlowNetwork
from .timeouts import READY_S

LISTEN = f"127.0.0.1:{OPENFLOW_PORT}"
"""On the jail's own loopback interface."""
_SOCKET = Path("/run/weft-controller.sock")
_END_S = 10.0
"""Timeout in seconds for the controller to stop."""
_SETTLED_S = 1.5
"""Time from a port coming up until it counts as a host port: the core's `settle_s` is a second."""
_LOOK_S = 0.05
"""Polling interval in seconds."""
_LOG_LINES = 5
"""Number of last log lines quoted in an error."""
_ALL_ROWS = 1_000_000


class Controller:
    """A running `weft controller`; a context manager that starts and stops it."""

    def __init__(self, forwarding: str, fabric: Path, log: Path, options: Sequence[str] = ()) -> None:
        """Start it with `forwarding` (`smoc` or `spanning-tree`) and further `options`, and wait until it listens.

        Raises `EmulationError` if it does not start.
        """
        self._log = log
        command = interpreter.module("weft", "controller", "--forwarding", forwarding, "--fabric", str(fabric))
        command += ["--listen", LISTEN, "--control", str(_SOCKET), *options]
        with log.open("wb") as sink:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
        try:
            self._wait("does not respond", self._answers)
        except EmulationError:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop it; switches keep their rules."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def ask(self, what: str) -> dict[str, Any]:
        """The output of `weft controller show WHAT --json`, with all rows.

        Raises `EmulationError` if it does not respond.
        """
        try:
            return client.ask(_SOCKET, what, _ALL_ROWS)
        except ControllerError as error:
            raise EmulationError(f"{error}: {self.last_words()}", error.hint) from error

    def wait_for(self, network: OpenFlowNetwork) -> None:
        """Wait until it knows the role of every port of every switch.

        Raises `EmulationError` if it does not in time, or assigns a wrong role.
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
            raise EmulationError(f"weft controller exited with code {self.process.returncode}: {self.last_words()}")
        try:
            client.ask(_SOCKET, "status", 0)
        except ControllerError:
            return False
        return True

    def _wait(self, what: str, condition: Any) -> None:
        until = time.monotonic() + READY_S
        while not condition():
            if time.monotonic() > until:
                raise EmulationError(f"weft controller {what} after {READY_S:g} s: {self.last_words()}")
            time.sleep(_LOOK_S)


def _role(port: dict[str, Any]) -> str:
    """The role of a port; a host port stays `settling` until the first event after its settling time."""
    return "host" if port["role"] == "settling" else str(port["role"])


def _roles(network: OpenFlowNetwork, switch: str) -> dict[int, str]:
    roles = network.plan.roles(switch, "switch")
    return {end.port + 1: roles.get(end.port, "down") for end in network.plan.ports(switch)}
