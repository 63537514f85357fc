"""The network of one peer, in a jail: hosts and links without rate limits; nothing forwards yet.

Links are not shaped, so that only forwarders and senders limit throughput. Hosts have an MTU of 1500, switch interfaces
`ROOM` more, for every peer. Hosts know each other's MAC addresses, and segment in software.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...emulation.namespace import entered
from ...emulation.nodes import Nodes
from ...emulation.openflow import plan_of
from ...emulation.plan import MTU, SwitchNode
from ...emulation.stack import ip_batch, offloads, write
from .fabric import FILE, SERVERS, fabric

ROOM = 8
"""Bytes of a tag."""


class Testbed(Nodes):
    """Configured hosts, and switches that are not started."""

    def __init__(self, directory: Path, switch: type, parameters: Callable[[SwitchNode], dict[str, Any]]) -> None:
        """Create nodes and links; `directory` is for the fabric file.

        Raises `EmulationError` if a requirement is missing on this machine, or the kernel rejects a setting.
        """
        file = directory / FILE
        file.write_text(fabric(), encoding="utf-8")
        super().__init__(plan_of(file), switch, parameters)
        for one in self.plan.switches:
            with entered(self.place(one.name)):
                ports = [self.plan.interface(end) for end in self.plan.ports(one.name)]
                ip_batch(
                    [f"link set dev {port} mtu {MTU + ROOM}" for port in ports], f"cannot raise the MTU of {one.name}"
                )
        for host in self.plan.hosts:
            with entered(self.namespaces[host.name]):
                self._configure(host.name)

    @property
    def addresses(self) -> dict[str, str]:
        """Addresses of the servers."""
        return {host.name: host.address for host in self.plan.hosts if host.name in SERVERS}

    def mac(self, host: str) -> str:
        """The MAC address of a host."""
        return next(one.mac for one in self.plan.hosts if one.name == host)

    def received(self) -> dict[str, int]:
        """Number of packets received, by server."""
        return {server: self._counter(server, 1) for server in SERVERS}

    def _counter(self, host: str, column: int) -> int:
        name = self.interface(host)
        with entered(self.namespaces[host]):
            lines = Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()
        words = next(line.split(":")[1].split() for line in lines if line.split(":")[0].strip() == name)
        return int(words[column])

    def _configure(self, name: str) -> None:
        device = self.interface(name)
        offloads(device)
        write({"net.ipv4.conf.all.rp_filter": "0", f"net.ipv4.conf.{device}.rp_filter": "0"})
        others = [host for host in self.plan.hosts if host.name != name]
        ip_batch(
            [f"neigh replace {host.address} lladdr {host.mac} dev {device} nud permanent" for host in others],
            f"cannot set the neighbours of host {name}",
        )
