"""The network of a plan, ready for flows: Linux switches, shaped links, hosts with their TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from . import neighbours, shaping
from .errors import EmulationError
from .namespace import entered
from .nodes import Nodes
from .plan import EXPLORING, MTU, TAG, TAGGED, Plan
from .requirements import find_mininet
from .stack import Stack, ip_batch, offloads, route_command, route_there, write


class Network(Nodes):
    """Built by `configure` and `start`, in a jail; its switches are `WeftSwitch`es.

    Attributes:
        settings: The hosts' settings, read back.
        route: The attributes of their routes, read back.
        memories: Changes the hosts' neighbour entries; None if these are permanent.
    """

    def __init__(self, plan: Plan, stack: Stack, delays: bool) -> None:
        """Create the nodes and links; nothing forwards yet."""
        find_mininet()
        from .topology import linux_switch
        from .weft_mininet import WeftSwitch

        super().__init__(plan, WeftSwitch, partial(linux_switch, plan))
        self.stack, self._delays = stack, delays
        self.settings: dict[str, str] = {}
        self.route = ""
        self.memories: neighbours.Memories | None = None

    def configure(self, told: Callable[[float], None]) -> None:
        """Shape all links and configure the hosts; `told` is called with the progress, from 0 to 1.

        Raises:
            EmulationError: The kernel rejects a setting.
        """
        shapes = shaping.shapes(self.plan, self._delays)
        hosts = self.plan.host_names
        if self.plan.scheme in TAGGED:
            self._make_room()
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

    def _make_room(self) -> None:
        """Raise the MTU of links between switches for tagged frames."""
        hosts = self.plan.host_names
        between = [cable for cable in self.plan.cables if not hosts & {cable.a.node, cable.b.node}]
        ends = [self.plan.interface(end) for cable in between for end in cable.ends]
        ip_batch(
            [f"link set dev {name} mtu {MTU + TAG}" for name in ends], "cannot raise the MTU of the switches' ports"
        )

    def _configure_host(
        self, name: str, shapes: Mapping[str, shaping.Shape], address: str, known: list[str], explores: bool
    ) -> None:
        """Configure a host, in its namespace."""
        device = str(self.hosts[name].defaultIntf())
        wanted = dict(self.stack.settings)
        wanted[f"net.ipv4.conf.{device}.rp_filter"] = "0"
        if explores:
            wanted |= {key.format(dev=device): value for key, value in neighbours.SETTINGS.items()}
        there = write(wanted)
        self.settings = {key: value for key, value in there.items() if device not in key}
        offloads(device)
        shaping.apply(shapes)
        lines = [route_command(device, address, self.stack.route), *(line.format(dev=device) for line in known)]
        ip_batch(lines, f"cannot set the route or neighbours of host {name}")
        self.route = route_there(device, self.stack.route)

    def ask(self, switch: str, what: str, method: str = "GET") -> Any:
        """Query the control socket of a switch.

        Raises:
            EmulationError: It refused, or does not respond.
        """
        from .weft_mininet import ControlError

        try:
            return self.switches[switch].ask(what, method)
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal

    def start(self) -> None:
        """Start the switches and wait until they know the roles of their ports.

        Raises:
            EmulationError: They do not in time.
        """
        from .weft_mininet import ControlError

        try:
            self.net.start()
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal
        self.wait_for_links()
        self._check_roles()

    def _check_roles(self) -> None:
        """Check that each switch has assigned the right role to each of its ports."""
        for name in self.switches:
            there = self.roles(name)
            for port, role in self._expected(name).items():
                if there.get(port) != role:
                    raise EmulationError(
                        f"{name} assigned role `{there.get(port)}` to port {port}, expected `{role}`:"
                        f" {self.switches[name].last_words()}"
                    )

    def _expected(self, switch: str) -> dict[int, str]:
        """The role of each port of a switch whose link is not down from the start."""
        roles = {}
        for cable in self.plan.cables:
            for end, other in (cable.ends, cable.ends[::-1]):
                if end.node == switch and cable.up:
                    roles[end.port] = "host" if other.node in self.plan.host_names else "fabric"
        return roles

    def roles(self, switch: str) -> dict[int, str]:
        """The roles that a switch assigned to its ports, by port number in the plan."""
        numbers = {intf.name: port for port, intf in self.switches[switch].ports_by_number.items()}
        return {numbers[port["interface"]]: port["role"] for port in self.ask(switch, "ports")}
