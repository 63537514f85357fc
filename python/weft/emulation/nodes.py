"""The nodes and links of a plan on this machine, created by Mininet, with any class of switches."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import shaping
from .errors import EmulationError
from .namespace import entered, path_of, runs
from .plan import Host, Plan, SwitchNode
from .requirements import find_mininet
from .stack import Stack, ip_batch, offloads, route_command, route_there, write

_LINKS_S = 60.0
"""Timeout in seconds for all interfaces to start: the kernel does so asynchronously, later on a busy machine."""
_LOOK_S = 0.05
"""Polling interval in seconds."""
_OWN = "/proc/self/ns/net"
"""The namespace of switches without their own."""


class Nodes:
    """Hosts in their own namespaces, switches in this process's unless configured otherwise, and links between them.

    Nothing forwards yet. `hosts` and `switches` are Mininet's, by their name in the plan.
    """

    def __init__(self, plan: Plan, switch: type, parameters: Callable[[SwitchNode], dict[str, Any]]) -> None:
        """Create them, in a jail; `parameters` returns those of a switch, `switch` is the switches' Mininet class.

        Raises `EmulationError` if Mininet is not installed.
        """
        find_mininet()
        from mininet.log import setLogLevel
        from mininet.net import Mininet

        from .topology import FabricTopo, QuietHost

        self.plan = plan
        setLogLevel("warning")
        write(dict.fromkeys(("net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6"), "1"))
        # Skips Mininet's initialisation, which raises limits of the whole machine.
        Mininet.inited = True
        self.net: Any = Mininet(
            topo=FabricTopo(plan=plan, parameters=parameters),
            switch=switch,
            host=QuietHost,
            controller=None,
            build=True,
        )
        names = plan.linux_names
        self.hosts: dict[str, Any] = {host.name: self.net[names[host.name]] for host in plan.hosts}
        self.switches: dict[str, Any] = {switch.name: self.net[names[switch.name]] for switch in plan.switches}

    @property
    def namespaces(self) -> dict[str, str]:
        """The hosts' network namespaces, as paths."""
        return {name: path_of(host.pid) for name, host in self.hosts.items()}

    def place(self, node: str) -> str:
        """The network namespace that a node is in, as a path."""
        there = self.hosts.get(node) or self.switches[node]
        return path_of(there.pid) if there.inNamespace else _OWN

    def interface(self, host: str) -> str:
        """The interface of a host."""
        return str(self.hosts[host].defaultIntf())

    def shape_switches(self, shapes: Mapping[str, Mapping[str, shaping.Shape]]) -> None:
        """Shape the links that leave switches, in this process's namespace."""
        hosts = self.plan.host_names
        shaping.apply({name: shape for node in shapes if node not in hosts for name, shape in shapes[node].items()})

    def configure_host(
        self,
        host: Host,
        stack: Stack,
        shapes: Mapping[str, shaping.Shape],
        settings: Mapping[str, str] = {},
        neighbours: Sequence[str] = (),
    ) -> tuple[dict[str, str], str]:
        """Configure a host, in its namespace; returns its settings and its route's attributes, read back.

        In the names of further `settings` and in `ip -batch` lines for `neighbours`, `{dev}` is its interface. Raises
        `EmulationError` if the kernel rejects a setting.
        """
        device = self.interface(host.name)
        more = {key.format(dev=device): value for key, value in settings.items()}
        there = write({**stack.settings, f"net.ipv4.conf.{device}.rp_filter": "0", **more})
        offloads(device)
        shaping.apply(shapes)
        lines = [route_command(device, host.address, stack.route), *(line.format(dev=device) for line in neighbours)]
        ip_batch(lines, f"cannot set the {'route or neighbours' if neighbours else 'route'} of host {host.name}")
        return {key: value for key, value in there.items() if device not in key}, route_there(device, stack.route)

    def wait_for_links(self) -> None:
        """Wait until every interface passes frames, except those of links that are down.

        Raises `EmulationError` if one does not in time.
        """
        places = {node: self.place(node) for node in (*self.hosts, *self.switches)}
        until = time.monotonic() + _LINKS_S
        for cable in self.plan.cables:
            for end in cable.ends if cable.up else ():
                while not _runs(places[end.node], self.plan.interface(end)):
                    if time.monotonic() > until:
                        raise EmulationError(f"{self.plan.interface(end)} is not running after {_LINKS_S:g} s")
                    time.sleep(_LOOK_S)


def _runs(path: str, interface: str) -> bool:
    with entered(path):
        return runs(interface)
