"""The network of a plan, built and ready for flows: Mininet's nodes and cables, shaped links, hosts with their TCP."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

from . import neighbours, shaping
from .errors import EmulationError
from .namespace import entered, path_of
from .plan import EXPLORING, Plan, seconds
from .requirements import find_mininet, program
from .stack import Stack, offloads, route_there, write

_WARM_UP_S = 30.0
"""Seconds that switches have to hear of each other, beside three of their Hello intervals."""
_ROUTE_PREFIX = "10.0.0.0/8"


class Network:
    """Built by `build`, in a jail.

    Attributes:
        net: Mininet's.
        hosts: Mininet's hosts by their name in the plan.
        switches: The `WeftSwitch`es by their name in the plan.
        settings: What the hosts' settings were when read back.
        route: What their routes carried then.
        forgetter: Deletes what hosts know of each other; None where they know all.
    """

    def __init__(self, plan: Plan, stack: Stack, delays: bool) -> None:
        """Make the nodes and cables; nothing forwards yet."""
        find_mininet()
        from mininet.log import setLogLevel
        from mininet.net import Mininet

        from .topology import FabricTopo, QuietHost
        from .weft_mininet import WeftSwitch

        self.plan, self.stack, self._delays = plan, stack, delays
        setLogLevel("warning")
        write(dict.fromkeys(("net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6"), "1"))
        # What this would do is raise limits of the whole machine.
        Mininet.inited = True
        self.net: Any = Mininet(
            topo=FabricTopo(plan=plan), switch=WeftSwitch, host=QuietHost, controller=None, build=True
        )
        names = plan.linux_names
        self.hosts: dict[str, Any] = {host.name: self.net[names[host.name]] for host in plan.hosts}
        self.switches: dict[str, Any] = {switch.name: self.net[names[switch.name]] for switch in plan.switches}
        self.settings: dict[str, str] = {}
        self.route = ""
        self.forgetter: neighbours.Forgetter | None = None

    @property
    def namespaces(self) -> dict[str, str]:
        """The hosts' network namespaces, as paths."""
        return {name: path_of(host.pid) for name, host in self.hosts.items()}

    def configure(self, told: Callable[[float], None]) -> None:
        """Shape all links and make the hosts' stacks; `told` hears how far it is, from 0 to 1.

        Raises:
            EmulationError: The kernel does not do what it is asked for.
        """
        shapes = shaping.shapes(self.plan, self._delays)
        hosts = self.plan.host_names
        shaping.apply({name: shape for node in shapes if node not in hosts for name, shape in shapes[node].items()})
        macs = {host.name: host.mac for host in self.plan.hosts}
        addresses = {host.name: host.address for host in self.plan.hosts}
        explores = self.plan.scheme in EXPLORING
        known = {} if explores else neighbours.permanent(self.plan.flows, macs, addresses)
        for number, (name, path) in enumerate(self.namespaces.items()):
            with entered(path):
                self._configure_host(name, shapes.get(name, {}), addresses[name], known.get(name, []), explores)
            told((number + 1) / len(hosts))
        if explores:
            devices = {name: str(host.defaultIntf()) for name, host in self.hosts.items()}
            self.forgetter = neighbours.Forgetter(self.namespaces, addresses, devices)

    def _configure_host(
        self, name: str, shapes: Mapping[str, shaping.Shape], address: str, known: list[str], explores: bool
    ) -> None:
        """What is done in a host's namespace."""
        device = str(self.hosts[name].defaultIntf())
        wanted = dict(self.stack.settings)
        wanted[f"net.ipv4.conf.{device}.rp_filter"] = "0"
        if explores:
            wanted |= {key.format(dev=device): value for key, value in neighbours.SETTINGS.items()}
        there = write(wanted)
        self.settings = {key: value for key, value in there.items() if device not in key}
        offloads(device)
        shaping.apply(shapes)
        lines = [
            f"route replace {_ROUTE_PREFIX} dev {device} proto kernel scope link src {address} {self.stack.route}",
            *(line.format(dev=device) for line in known),
        ]
        command = [str(program("ip")), "-batch", "-"]
        done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EmulationError(f"host {name} does not take its route or addresses: {done.stderr.strip()}")
        self.route = route_there(device, self.stack.route)

    def start(self) -> None:
        """Start the switches and wait until they know each other.

        Raises:
            EmulationError: They do not in time.
        """
        from .weft_mininet import ControlError

        try:
            self.net.start()
            if self.plan.scheme in EXPLORING:
                self._wait_for_neighbours()
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal

    def _wait_for_neighbours(self) -> None:
        """Wait until each switch has heard each of its neighbours."""
        hello = self.plan.params.get("hello")
        limit = _WARM_UP_S + 3 * (seconds(hello) if isinstance(hello, str) else 1.0)
        until = time.monotonic() + limit
        expected = {switch.name: 0 for switch in self.plan.switches}
        for cable in self.plan.cables:
            if cable.a.node in expected and cable.b.node in expected and cable.up:
                expected[cable.a.node] += 1
                expected[cable.b.node] += 1
        waiting = [name for name, number in expected.items() if number]
        while waiting:
            waiting = [name for name in waiting if self.heard(name) < expected[name]]
            if waiting and time.monotonic() > until:
                name = waiting[0]
                raise EmulationError(
                    f"{len(waiting)} switches have not heard all their neighbours after {limit:g} s; {name} has heard"
                    f" {self.heard(name)} of {expected[name]}: {self.switches[name].last_words()}"
                )
            if waiting:
                time.sleep(0.1)

    def heard(self, switch: str) -> int:
        """How many neighbours a switch has heard."""
        return len(self.switches[switch].weftctl("show", "neighbours"))
