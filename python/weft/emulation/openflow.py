"""A fabric of Open vSwitches under a controller, and hosts with Linux's TCP or MPTCP; runs in a jail.

Node, link and interface names are those of the plan. Port 0 of a switch in the plan is port 1 in OpenFlow, and so on;
its datapath id follows from its name, as in `weft controller --fabric`.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from ..controller.errors import ControllerError
from ..controller.settings import dpids_of
from ..scenario import Scenario
from . import mptcp, shaping
from .bridge import Bridge
from .errors import EmulationError
from .namespace import entered
from .nodes import Nodes
from .openvswitch import OpenVSwitch
from .plan import Plan, SwitchNode
from .requirements import find_mininet
from .stack import Stack, choose, ip_batch
from .sweep import planned

_BURST_S = 0.25e-3
"""Burst size of an idle link, in seconds of its rate: one frame at 25 Mbps, three at 100 Mbps."""
_DIRECTORY = Path("/run/openvswitch")
"""Run directory of Open vSwitch within the jail, which has its own /run."""


def plan_of(fabric: Path) -> Plan:
    """A plan with a dummy flow for a fabric file with at least two hosts.

    Raises `ScenarioError` if the file is not a usable fabric, `EmulationError` if it has fewer than two hosts.
    """
    from ..topology import fabric as read_fabric

    hosts = [node.name for node in read_fabric(fabric).hosts]
    if len(hosts) < 2:
        raise EmulationError(f"{fabric} has {len(hosts)} hosts: at least two are needed")
    text = f"""\
[fabric]
file = {json.dumps(fabric.name)}
[traffic]
flow_list = [{{ src = {json.dumps(hosts[0])}, dst = {json.dumps(hosts[1])}, bytes = "1 kB" }}]
[scheme]
name = "single_path"
"""
    scenario = Scenario.from_text(text, fabric.name, fabric.parent)
    return planned(scenario, scenario.points()[0])


def datapath_ids(switches: Sequence[str]) -> dict[str, int]:
    """The datapath ids of switches by name, as `weft controller --fabric` derives them from all names.

    Raises `EmulationError` if a name implies no datapath id, or two imply the same one.
    """
    try:
        return dpids_of(switches)
    except ControllerError as error:
        raise EmulationError(str(error), error.hint) from None


class OpenFlowNetwork(Nodes):
    """The constructor builds the network; from `start` on, it forwards under its controllers. A context manager.

    `switch` is Open vSwitch, with a bridge for every switch of the plan; `settings` and `route` of the hosts are read
    back.
    """

    def __init__(
        self, plan: Plan, *, controllers: Sequence[str] = (), subflows: int = 1, openers: Iterable[str] = ()
    ) -> None:
        """Create nodes and links, shape the links, configure the hosts; without `controllers`, rules are added by hand.

        `openers` open so many subflows per MPTCP connection (1 leaves MPTCP on), the other hosts accept them. Raises
        `EmulationError` if a requirement is missing on this machine, or the kernel rejects a setting.
        """
        find_mininet()
        from .topology import BridgeSwitch

        mptcp.check()
        self.warnings = shaping.refuse_special(plan)
        delays, more = shaping.delay_matters(plan)
        self.stack: Stack
        self.stack, about_tcp = choose(plan.transport, plan.flows)
        self.warnings += more + about_tcp
        self.settings: dict[str, str] = {}
        self.route = ""
        self._controllers = controllers
        dpids = datapath_ids([switch.name for switch in plan.switches])

        def parameters(switch: SwitchNode) -> dict[str, Any]:
            return {"dpid": f"{dpids[switch.name]:x}"}

        # For controllers on this machine.
        ip_batch(["link set dev lo up"], "cannot set the loopback interface up")
        super().__init__(plan, BridgeSwitch, parameters)
        self.switch = OpenVSwitch(_DIRECTORY)
        self.dpids = dpids
        shapes = shaping.shapes(plan, delays, _BURST_S)
        self.shape_switches(shapes)
        opening = set(openers)
        for host in plan.hosts:
            with entered(self.namespaces[host.name]):
                self.settings, self.route = self.configure_host(host, self.stack, shapes[host.name])
                opens = host.name in opening
                self.settings |= mptcp.configure(self.interface(host.name), host.address, subflows, opens=opens)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def address(self, host: str) -> str:
        """The first address of a host. Raises `KeyError` if there is no such host."""
        return {one.name: one.address for one in self.plan.hosts}[host]

    def port(self, switch: str, neighbour: str) -> int:
        """The OpenFlow port of a switch towards a neighbour, the first if there are several.

        Raises `EmulationError` if there is no link between the two.
        """
        for cable in self.plan.cables:
            for end, other in cable.directions:
                if (end.node, other.node) == (switch, neighbour):
                    return end.port + 1
        raise EmulationError(f"no link between {switch} and {neighbour}")

    def start(self) -> None:
        """Start the switches and wait until all links carry frames and the controllers, if any, are connected.

        Raises `EmulationError` after a timeout.
        """
        self.switch.start()
        try:
            names = self.plan.linux_names
            self.switch.add(
                Bridge(
                    names[switch.name],
                    self.dpids[switch.name],
                    {end.port + 1: self.plan.interface(end) for end in self.plan.ports(switch.name)},
                    self._controllers,
                )
                for switch in self.plan.switches
            )
            self.wait_for_links()
            if self._controllers:
                self.switch.wait_connected(names[switch.name] for switch in self.plan.switches)
        except EmulationError:
            self.switch.stop()
            raise

    def stop(self) -> None:
        """Stop switches and hosts; their interfaces are removed with them."""
        self.switch.stop()
        self.net.stop()
