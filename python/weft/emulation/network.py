"""The network of a plan, ready for flows: Linux switches, shaped links, hosts with their TCP."""

from collections.abc import Callable
from functools import partial
from typing import Any

from . import neighbours, shaping
from .errors import EmulationError
from .namespace import entered
from .nodes import Nodes
from .plan import MTU, TAG, Plan
from .requirements import find_mininet
from .stack import Stack, ip_batch


class Network(Nodes):
    """Built by `configure` and `start`, in a jail; its switches are `WeftSwitch`es.

    `settings` and `route` of the hosts are read back; `neighbour_tables` changes their neighbour entries: None if those
    are permanent.
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
        self.neighbour_tables: neighbours.NeighbourTables | None = None

    def configure(self, on_progress: Callable[[float], None]) -> None:
        """Shape all links and configure the hosts; `on_progress` is called with the progress, from 0 to 1.

        Raises `EmulationError` if the kernel rejects a setting.
        """
        shapes = shaping.shapes(self.plan, self._delays)
        if self.plan.tags:
            self._make_room()
        self.shape_switches(shapes)
        macs = {host.name: host.mac for host in self.plan.hosts}
        addresses = {host.name: host.address for host in self.plan.hosts}
        explores = self.plan.explores
        known = {} if explores else neighbours.permanent(self.plan.flows, macs, addresses)
        kept = neighbours.SETTINGS if explores else {}
        for number, host in enumerate(self.plan.hosts):
            with entered(self.namespaces[host.name]):
                self.settings, self.route = self.configure_host(
                    host, self.stack, shapes.get(host.name, {}), kept, known.get(host.name, ())
                )
            on_progress((number + 1) / len(self.hosts))
        if explores:
            devices = {name: self.interface(name) for name in self.hosts}
            self.neighbour_tables = neighbours.NeighbourTables(self.namespaces, addresses, macs, devices)

    def _make_room(self) -> None:
        """Raise the MTU of links between switches for tagged frames."""
        hosts = self.plan.host_names
        between = [cable for cable in self.plan.cables if not hosts & {cable.a.node, cable.b.node}]
        ends = [self.plan.interface(end) for cable in between for end in cable.ends]
        ip_batch(
            [f"link set dev {name} mtu {MTU + TAG}" for name in ends], "cannot raise the MTU of the switches' ports"
        )

    def ask(self, switch: str, what: str, method: str = "GET") -> Any:
        """Query the control socket of a switch. Raises `EmulationError` if it refused, or does not respond."""
        from .weft_mininet import ControlError

        try:
            return self.switches[switch].ask(what, method)
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal

    def start(self) -> None:
        """Start the switches and wait until they know the roles of their ports.

        Raises `EmulationError` if they do not in time.
        """
        from .weft_mininet import ControlError

        try:
            self.net.start()
        except ControlError as refusal:
            raise EmulationError(str(refusal)) from refusal
        self.wait_for_links()
        self._check_roles()

    def _check_roles(self) -> None:
        for name in self.switches:
            there = self.roles(name)
            for port, role in self.plan.roles(name, "fabric").items():
                if there.get(port) != role:
                    raise EmulationError(
                        f"{name} assigned role `{there.get(port)}` to port {port}, expected `{role}`:"
                        f" {self.switches[name].last_words()}"
                    )

    def roles(self, switch: str) -> dict[int, str]:
        """The roles that a switch assigned to its ports, by port number in the plan."""
        numbers = {intf.name: port for port, intf in self.switches[switch].ports_by_number.items()}
        return {numbers[port["interface"]]: port["role"] for port in self.ask(switch, "ports")}
