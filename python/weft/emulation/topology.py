"""The fabric of a plan as a Mininet topology: the same nodes, ports, addresses.

Node `l0` has the interfaces `l0-eth0`, `l0-eth1`, ... for its ports 0, 1, ... of the plan. Hosts have the MAC and IP
addresses that the simulator gives them; ports of switches have locally administered ones of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mininet.node import Host as MininetHost
from mininet.node import Switch as MininetSwitch
from mininet.topo import Topo

from .plan import Plan, SwitchNode

HELLO = {"hello": "250 ms", "hold": 8}
"""How often switches say Hello, and how many Hellos a neighbour may miss, whatever the scenario says.

A port carries nothing until it is known whether a switch is behind it, which takes as long as a Hello holds: two
seconds here, so that runs begin soon, and a busy machine may still lose seven Hellos in a row. Links that fail are
noticed by their carrier.
"""
_NOT_OF_SWITCHES = ("arp_cache", "control_delay", "install_delay", "rule_latency")
"""Parameters of schemes that hosts carry out, or that are what they are where the control plane is a real one."""


class FabricTopo(Topo):  # type: ignore[misc]
    """A plan's hosts, switches and cables."""

    def build(self, plan: Plan, told: Callable[[SwitchNode], dict[str, Any]]) -> None:
        """Called by Mininet's constructor with what it was given; `told` are the parameters of a switch."""
        macs = {host.name: host.mac for host in plan.hosts}
        names = plan.linux_names
        for host in plan.hosts:
            self.addHost(names[host.name], ip=f"{host.address}/{host.prefix}")
        for switch in plan.switches:
            self.addSwitch(names[switch.name], **told(switch))
        numbers = {switch.name: number for number, switch in enumerate(plan.switches)}
        for cable in plan.cables:
            addresses = [macs.get(end.node) or _port_mac(numbers[end.node], end.port) for end in cable.ends]
            self.addLink(
                names[cable.a.node],
                names[cable.b.node],
                port1=cable.a.port,
                port2=cable.b.port,
                addr1=addresses[0],
                addr2=addresses[1],
            )


def linux_switch(plan: Plan, switch: SwitchNode) -> dict[str, Any]:
    """What a `WeftSwitch` is told."""
    parameters = {key: value for key, value in plan.params.items() if key not in _NOT_OF_SWITCHES}
    return {
        "mode": "ecmp" if plan.scheme == "single_path" else plan.scheme,
        "switch_id": switch.id,
        "tier": switch.tier,
        "parameters": parameters | HELLO,
        "routes": plan.stations(plan.routes, switch.name),
    }


class QuietHost(MininetHost):  # type: ignore[misc]
    """A host whose settings are made in its namespace (`stack`), and that Mininet gives its address alone."""

    def config(self, ip: str | None = None, **params: Any) -> dict[str, Any]:
        """Set the address; the MAC address was given to the interface when it was made."""
        result: dict[str, Any] = super().config(ip=ip, lo="up", **{k: v for k, v in params.items() if k != "mac"})
        return result


class BridgeSwitch(MininetSwitch):  # type: ignore[misc]
    """The place of a switch that `openvswitch` carries out; the daemon is one for all, so there is nothing to start."""

    def start(self, controllers: Any) -> None:
        """Leave it to the daemon."""

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 (Mininet names it)
        """Take its interfaces away."""
        super().stop(deleteIntfs)


def _port_mac(switch: int, port: int) -> str:
    """An address for a port: locally administered, none of a host's (02:...)."""
    return f"06:00:{switch >> 8:02x}:{switch & 255:02x}:{port >> 8:02x}:{port & 255:02x}"
