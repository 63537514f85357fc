"""Open vSwitch as a peer."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...emulation import openvswitch
from ...emulation.bridge import Bridge
from ...emulation.namespace import entered
from ...emulation.openvswitch import OpenVSwitch
from ...emulation.requirements import find_mininet
from ...emulation.stack import ip_batch
from .fabric import SWITCHES
from .flows import Flow, at_switches, filling
from .forwarder import Forwarder
from .testbed import Testbed

_PRIORITY = 1000
_RULES_S = 120.0
"""Timeout in seconds for a switch to install its rules."""


class OpenVSwitches(Forwarder):
    """Open vSwitch with a table at every hop: one daemon per switch, in its own namespace, as on real switches.

    One daemon for all, as Mininet has it, forwards half as many packets in user space and takes three times as long
    for a round trip: its one thread looks after all switches in turn.
    """

    def __init__(self, directory: Path) -> None:
        """Create the testbed; `directory` is for files."""
        find_mininet()
        from ...emulation.topology import BridgeSwitch

        self.testbed = Testbed(directory, BridgeSwitch, lambda _: {"dpid": "1", "inNamespace": True})
        self._switches: dict[str, OpenVSwitch] = {}

    def start(self, on_progress: Callable[[float], None]) -> None:
        """Start one daemon per switch, with one bridge."""
        plan = self.testbed.plan
        for number, name in enumerate(SWITCHES, 1):
            ports = {end.port + 1: plan.interface(end) for end in plan.ports(name)}
            with entered(self.testbed.place(name)):
                ip_batch(["link set dev lo up"], "the loopback interface cannot be used")
                self._switches[name] = OpenVSwitch(Path("/run/openvswitch") / name)
                self._switches[name].start()
                self._switches[name].add([Bridge(name, number, ports)])
            on_progress(number / len(SWITCHES))
        self.testbed.wait_for_links()

    def carry(self, flows: Sequence[Flow], on_progress: Callable[[float], None], *, fill: int = 0) -> None:
        """Install rules that match both addresses and output to a port."""
        passing = at_switches(flows)
        for number, (name, switch) in enumerate(self._switches.items(), 1):
            own = [_rule(one.flow.source, one.flow.destination, one.hop.port + 1) for one in passing.get(name, ())]
            there = switch.count(name) + len(own) if fill else 0
            rest = (_rule(source, destination, 1) for source, destination in filling(fill - there))
            switch.add_rules(name, [*own, *rest], _RULES_S)
            on_progress(number / len(SWITCHES))

    def stop(self) -> None:
        """Stop all daemons."""
        for switch in self._switches.values():
            switch.stop()

    def rules(self) -> dict[str, int]:
        """Number of rules as counted by each bridge."""
        return {name: switch.count(name) for name, switch in self._switches.items()}

    def report(self) -> dict[str, Any]:
        """Version, datapath, and number of flows in its caches."""
        return {
            "openvswitch": openvswitch.version(),
            "datapath": openvswitch.datapath(),
            "cached_flows": sum(switch.cached() for switch in self._switches.values()),
        }


def _rule(source: str, destination: str, port: int) -> str:
    return f"priority={_PRIORITY},ip,nw_src={source},nw_dst={destination},actions=output:{port}"
