"""The network of a plan, built and ready for flows: Mininet's nodes and cables, shaped links, hosts with their TCP."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

from . import neighbours, shaping
from .errors import EmulationError
from .namespace import entered, path_of, runs
from .plan import EXPLORING, Plan
from .requirements import find_mininet, program
from .stack import Stack, offloads, route_there, write

_LINKS_S = 60.0
"""Seconds that the kernel has to start all interfaces: it does so in its own time, later on a busy machine."""
_LOOK_S = 0.05
"""Seconds between two looks."""
_OWN = "/proc/self/ns/net"
"""The namespace of the switches."""
_ROUTE_PREFIX = "10.0.0.0/8"


class Network:
    """Built by `build`, in a jail.

    Attributes:
        net: Mininet's.
        hosts: Mininet's hosts by their name in the plan.
        switches: The `WeftSwitch`es by their name in the plan.
        settings: What the hosts' settings were when read back.
        route: What their routes carried then.
        memories: Changes what hosts know of each other; None where they know all.
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
        self.memories: neighbours.Memories | None = None

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
            self.memories = neighbours.Memories(self.namespaces, addresses, macs, devices)

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

    def ask(self, switch: str, what: str, method: str = "GET") -> Any:
        """What the control socket of a switch answers.

        Raises:
            EmulationError: It refused, or nobody answers.
        """
        from .weft_mininet import ControlError

        try:
            return self.switches[switch].ask(what, method)
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal

    def start(self) -> None:
        """Start the switches and wait until they know what their ports lead to.

        Raises:
            EmulationError: They do not in time.
        """
        from .weft_mininet import ControlError

        try:
            self.net.start()
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal
        self._wait_for_links()
        self._check_roles()

    def _wait_for_links(self) -> None:
        """Wait until every interface passes frames, those of cables that are down apart."""
        until = time.monotonic() + _LINKS_S
        for cable in self.plan.cables:
            for end in cable.ends if cable.up else ():
                path = self.namespaces.get(end.node, _OWN)
                while not self._runs(path, self.plan.interface(end)):
                    if time.monotonic() > until:
                        raise EmulationError(f"{self.plan.interface(end)} carries nothing after {_LINKS_S:g} s")
                    time.sleep(_LOOK_S)

    def _runs(self, path: str, interface: str) -> bool:
        with entered(path):
            return runs(interface)

    def _check_roles(self) -> None:
        """Check that each switch takes each of its ports for what it is."""
        for name in self.switches:
            there = self.roles(name)
            for port, role in self._expected(name).items():
                if there.get(port) != role:
                    raise EmulationError(
                        f"{name} takes its port {port} for `{there.get(port)}`, it is `{role}`:"
                        f" {self.switches[name].last_words()}"
                    )

    def _expected(self, switch: str) -> dict[int, str]:
        """The role of each port of a switch whose cable is not down from the start."""
        roles = {}
        for cable in self.plan.cables:
            for end, other in (cable.ends, cable.ends[::-1]):
                if end.node == switch and cable.up:
                    roles[end.port] = "host" if other.node in self.plan.host_names else "fabric"
        return roles

    def roles(self, switch: str) -> dict[int, str]:
        """What a switch takes its ports for, by their number in the plan."""
        numbers = {intf.name: port for port, intf in self.switches[switch].ports_by_number.items()}
        return {numbers[port["interface"]]: port["role"] for port in self.ask(switch, "ports")}
