"""A fabric of FRR's daemons, in network namespaces of a jail, from an exported directory."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from weft.emulation.errors import EmulationError
from weft.emulation.namespace import entered, setting
from weft.emulation.requirements import required
from weft.frr.routers import GATEWAY

DAEMONS = ("zebra", "bfdd", "bgpd")
PROGRAMS = Path("/usr/lib/frr")
"""Where Debian has FRR's daemons."""
_PRIVATE = (Path("/etc/frr"), Path("/run/frr"), Path("/var/tmp/frr"))
"""Directories of FRR that are the jail's own."""
_FIRST_INDEX = 10
"""The least index of an interface; the kernel gives those of a namespace itself smaller ones."""
_PATIENCE_S = 120.0
"""Longest wait for a state, many times what it takes."""
_LOOK_S = 0.1
"""Between two looks at a state."""

Groups = dict[str, dict[str, dict[str, int]]]
"""For each switch, for each host's address, the weight of each next hop by its interface."""
T = TypeVar("T")


class FrrFabric:
    """The switches and hosts of `directory`, an export of `weft export --format frr`.

    Attributes:
        switches: The names of the switches.
        hosts: The addresses of the hosts, by name.
        ends: Neighbour and its interface by node and interface.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        with (directory / "interfaces.csv").open(encoding="utf-8") as table:
            rows = list(csv.DictReader(table))
        nodes = list(dict.fromkeys(row["node"] for row in rows))
        self.switches = [node for node in nodes if (directory / node).is_dir()]
        of_hosts = [row for row in rows if row["node"] not in self.switches]
        self.hosts = {row["node"]: row["prefix"].partition("/")[0] for row in of_hosts}
        self.ends = {(row["node"], row["interface"]): (row["neighbour"], row["neighbour_interface"]) for row in rows}

    def build(self) -> None:
        """Make the namespaces and links, and configure kernels and hosts.

        Raises:
            EmulationError: The kernel refuses something.
        """
        for place in _PRIVATE:
            place.mkdir(parents=True, exist_ok=True)
            command("mount", "-t", "tmpfs", "tmpfs", str(place))
            shutil.chown(place, "frr", "frr")
        for node in (*self.switches, *self.hosts):
            command("ip", "netns", "add", node)
            self.ip(node, "link", "set", "lo", "up")
        for node in self.switches:
            with entered(namespace(node)):
                self._configure_kernel()
        # Linux handles losses of carrier at most once a second, except of devices whose peer has another index: with
        # numbers of their own, other changes on the machine delay none.
        numbers = count(_FIRST_INDEX)
        for (node, interface), (other, other_interface) in self.ends.items():
            if (node, interface) < (other, other_interface):
                own = ("name", interface, "index", str(next(numbers)), "netns", node)
                peer = ("name", other_interface, "index", str(next(numbers)), "netns", other)
                command("ip", "link", "add", *own, "type", "veth", "peer", *peer)
                self.ip(node, "link", "set", interface, "up")
                self.ip(other, "link", "set", other_interface, "up")
        for node, interface in self.ends:
            if node in self.hosts:
                address = self.hosts[node]
                self.ip(node, "address", "add", f"{address}/32", "dev", interface)
                self.ip(node, "route", "add", f"{GATEWAY}/32", "dev", interface)
                self.ip(node, "route", "add", "default", "via", GATEWAY, "dev", interface, "src", address)

    def _configure_kernel(self) -> None:
        for line in (self._directory / "sysctl.conf").read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                name, _, value = line.partition(" = ")
                setting(name).write_text(value, encoding="ascii")

    def start(self) -> None:
        """Start the daemons of every switch, then load every configuration.

        Raises:
            EmulationError: A daemon ended, or rejects its configuration.
        """
        for switch in self.switches:
            for place in _PRIVATE[:2]:
                (place / switch).mkdir()
                shutil.chown(place / switch, "frr", "frr")
            for file in ("frr.conf", "daemons"):
                shutil.copy(self._directory / switch / file, _PRIVATE[0] / switch)
            (_PRIVATE[0] / switch / "vtysh.conf").touch()
            with entered(namespace(switch)):
                for daemon in DAEMONS:
                    self._start(switch, daemon)
        for switch in self.switches:
            said = command("vtysh", "-N", switch, "-b").strip()
            if said:
                raise EmulationError(f"FRR rejects the configuration of {switch}: {said}")

    @staticmethod
    def _start(switch: str, daemon: str) -> None:
        with Path(f"/run/frr/{switch}/{daemon}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(PROGRAMS / daemon), "-N", switch, "--log", "stdout"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

        def listens() -> bool:
            if process.poll() is not None:
                said = Path(log.name).read_text(encoding="utf-8", errors="replace")
                raise EmulationError(f"{daemon} of {switch} ended with code {process.returncode}: {said}")
            return Path(f"/run/frr/{switch}/{daemon}.vty").exists()

        until(f"{daemon} of {switch} listens", listens)

    def groups(self) -> Groups:
        """The next hops in the kernels towards the hosts, with their weights."""
        found: Groups = {}
        addresses = set(self.hosts.values())
        for switch in self.switches:
            routes = json.loads(self.ip(switch, "-json", "route"))
            found[switch] = {route["dst"]: _hops(route) for route in routes if route["dst"] in addresses}
        return found

    def neighbours_up(self) -> bool:
        """Whether BFD considers each link between switches up, at both ends."""
        links = sum(self.is_between(node, interface) for node, interface in self.ends)
        peers: list[dict[str, Any]] = []
        for switch in self.switches:
            peers += json.loads(command("vtysh", "-N", switch, "-c", "show bfd peers json"))
        return [peer["status"] for peer in peers] == ["up"] * links

    def is_between(self, node: str, interface: str) -> bool:
        """Whether an interface leads from a switch to a switch."""
        return node in self.switches and self.ends[node, interface][0] in self.switches

    def ip(self, node: str, *arguments: str) -> str:
        """The output of `ip` in a node's namespace."""
        return command("ip", "-n", node, *arguments)


def _hops(route: dict[str, Any]) -> dict[str, int]:
    return {hop["dev"]: hop.get("weight", 1) for hop in route.get("nexthops", [route])}


def namespace(node: str) -> str:
    """The path of a node's namespace."""
    return f"/run/netns/{node}"


def command(program: str, *arguments: str) -> str:
    """The output of a program.

    Raises:
        EmulationError: It failed.
    """
    done = subprocess.run([required(program), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EmulationError(f"`{program} {' '.join(arguments)}`: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def until(what: str, condition: Callable[[], T], state: Callable[[], object] = lambda: "") -> T:
    """Wait until `condition` returns something true, and return that.

    Raises:
        EmulationError: It did not in two minutes; the message has the `state`.
    """
    end = time.monotonic() + _PATIENCE_S
    while not (found := condition()):
        if time.monotonic() > end:
            raise EmulationError(f"not within {_PATIENCE_S:g} s: {what}; last: {state()}")
        time.sleep(_LOOK_S)
    return found
