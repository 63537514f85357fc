"""The fabric of a plan as a Mininet topology: the same nodes, ports, addresses.

Node `l0` has the interfaces `l0-eth0`, `l0-eth1`, ... for its ports 0, 1, ... of the plan. Hosts have the same MAC and
IP addresses as in the simulator; switch ports have locally administered MAC addresses.
"""

from collections.abc import Callable
from typing import Any

from mininet.node import Host as MininetHost
from mininet.node import Switch as MininetSwitch
from mininet.topo import Topo

from .plan import Plan, SwitchNode

HELLO = {"hello": "250 ms", "hold": 8}
"""Hello interval and hold time, whatever the scenario specifies.

A port forwards nothing until it is known whether a switch is behind it, which takes one hold time: two seconds here, so
that runs start soon, while a busy machine may still lose seven Hellos in a row. Link failures are detected by the
carrier.
"""
_NOT_OF_SWITCHES = ("arp_cache", "qid", "control_delay", "install_delay", "rule_latency")
"""Scheme parameters that apply to hosts, or that a real control plane determines."""


class FabricTopo(Topo):  # type: ignore[misc]
    """A plan's hosts, switches and links."""

    def build(self, plan: Plan, parameters: Callable[[SwitchNode], dict[str, Any]]) -> None:
        """Called by Mininet's constructor with its arguments; `parameters` returns the parameters of a switch."""
        macs = {host.name: host.mac for host in plan.hosts}
        names = plan.linux_names
        for host in plan.hosts:
            self.addHost(names[host.name], ip=f"{host.address}/{host.prefix}")
        for switch in plan.switches:
            self.addSwitch(names[switch.name], **parameters(switch))
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
    """The parameters of a `WeftSwitch`."""
    parameters = {key: value for key, value in plan.params.items() if key not in _NOT_OF_SWITCHES}
    return {
        "mode": plan.mode,
        "switch_id": switch.id,
        "tier": switch.tier,
        "parameters": parameters | HELLO,
        "routes": plan.stations(plan.routes, switch.name),
    }


class QuietHost(MininetHost):  # type: ignore[misc]
    """A host whose settings are made in its namespace (`stack`); Mininet sets only its address."""

    def config(self, ip: str | None = None, **params: Any) -> dict[str, Any]:
        """Set the address; the interface got its MAC address when it was created."""
        result: dict[str, Any] = super().config(ip=ip, lo="up", **{k: v for k, v in params.items() if k != "mac"})
        return result


class BridgeSwitch(MininetSwitch):  # type: ignore[misc]
    """Placeholder of a switch run by `openvswitch`; one daemon serves all, so there is nothing to start."""

    def start(self, controllers: Any) -> None:
        """Leave it to the daemon."""

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 (Mininet names it)
        """Remove its interfaces."""
        super().stop(deleteIntfs)


def _port_mac(switch: int, port: int) -> str:
    """A MAC address for a port: locally administered, different from those of hosts (02:...)."""
    return f"06:00:{switch >> 8:02x}:{switch & 255:02x}:{port >> 8:02x}:{port & 255:02x}"
