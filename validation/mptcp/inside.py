"""One run of a case in its jail: `python -m validation.mptcp.inside DIRECTORY`.

It reads `options.json` and writes `observed.json`, or `failed.json`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from weft.emulation import iperf, mptcp, openvswitch, stack
from weft.emulation.capacity import go_first, own_seconds
from weft.emulation.inside import main, say
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork, plan_of
from weft.emulation.stack import ip_batch

from .cases import BY_NAME, RECEIVER, SENDER, TCP_RECEIVER, TCP_SENDER, Case, fabric

_STALE = "net.mptcp.stale_loss_cnt"
_LAST_S = 0.5
"""Time before the end at which the sender's subflows are read."""


def run(directory: Path, options: dict[str, Any]) -> None:
    """Build the network, send, and write the observations."""
    one = BY_NAME[options["case"]]
    go_first()
    file = directory / "case.fabric.toml"
    file.write_text(fabric(one, link_each=False), encoding="utf-8")
    network = OpenFlowNetwork(plan_of(file), subflows=one.subflows, openers=[SENDER])
    with network:
        _introduce(network, one)
        _lay_paths(network, one)
        observed = _send(network, one)
    (directory / "observed.json").write_text(json.dumps(observed), encoding="utf-8")
    say("done")


def _ends(network: OpenFlowNetwork, one: Case) -> list[tuple[str, str, tuple[str, ...]]]:
    """Sender's address, receiver's address and switches of each subflow and of the competing connection."""
    own = network.address(SENDER)
    sources = [own, *mptcp.aliases(own, one.subflows)]
    ends = [(source, network.address(RECEIVER), path) for source, path in zip(sources, one.paths, strict=True)]
    if one.beside:
        ends.append((network.address(TCP_SENDER), network.address(TCP_RECEIVER), one.paths[0]))
    return ends


def _introduce(network: OpenFlowNetwork, one: Case) -> None:
    """Set each host's neighbours (nothing floods here), congestion control and stale loss count.

    Congestion control is set on the route: the socket option only affects the first subflow.
    """
    macs = {host.address: host.mac for host in network.plan.hosts}
    names = {host.address: host.name for host in network.plan.hosts}
    for alias in mptcp.aliases(network.address(SENDER), one.subflows):
        macs[alias], names[alias] = macs[network.address(SENDER)], SENDER
    for host in network.plan.hosts:
        device = network.interface(host.name)
        others = [address for address, name in names.items() if name != host.name]
        lines = [f"neigh replace {address} lladdr {macs[address]} dev {device} nud permanent" for address in others]
        with entered(network.namespaces[host.name]):
            ip_batch(lines, f"cannot set the neighbours of host {host.name}")
            stack.write({_STALE: str(one.stale_loss_count)})
            route = network.stack.route.replace(f"congctl {network.stack.congestion}", f"congctl {one.congestion}")
            ip_batch([stack.route_command(device, host.address, route)], f"cannot set the route of host {host.name}")
            stack.route_there(device, route)


def _lay_paths(network: OpenFlowNetwork, one: Case) -> None:
    """Install the rules of all paths on the switches, in both directions."""
    hosts = {host.address: host.name for host in network.plan.hosts}
    own = network.address(SENDER)
    rules: dict[str, set[str]] = {}
    for source, target, path in _ends(network, one):
        way = (hosts.get(source, hosts[own]), *path, hosts[target])
        for (before, at), (_, after) in pairwise(pairwise(way)):
            ahead, back = network.port(at, after), network.port(at, before)
            rules.setdefault(at, set()).add(f"ip,nw_src={source},nw_dst={target},actions=output:{ahead}")
            rules[at].add(f"ip,nw_src={target},nw_dst={source},actions=output:{back}")
    for switch, lines in rules.items():
        network.switch.add_rules(switch, sorted(lines))


def _send(network: OpenFlowNetwork, one: Case) -> dict[str, Any]:
    """Send for the duration of the case, with competing TCP if it has any, and read the subflows before the end."""
    seen: dict[str, Any] = {}
    begin, before = time.monotonic(), own_seconds()

    def ask() -> None:
        with entered(network.namespaces[SENDER]):
            seen["subflows"] = [asdict(subflow) for subflow in mptcp.subflows(iperf.PORT)]

    def meanwhile() -> None:
        if one.beside:
            source, target = network.namespaces[TCP_SENDER], network.namespaces[TCP_RECEIVER]
            address = network.address(TCP_RECEIVER)
            look = threading.Timer(one.seconds - _LAST_S, ask)
            look.start()
            seen["tcp"] = _series(iperf.transfer(source, target, address, one.seconds, congestion=one.congestion))
            look.join()
            return
        if one.cut_s is not None:
            at, beyond = one.cut
            time.sleep(one.cut_s)
            network.switch.set_port(at, network.port(at, beyond), up=False)
        time.sleep(one.seconds - _LAST_S - (one.cut_s or 0.0))
        ask()

    found = iperf.transfer(
        network.namespaces[SENDER],
        network.namespaces[RECEIVER],
        network.address(RECEIVER),
        one.seconds,
        congestion=one.congestion,
        wrap=mptcp.wrapped,
        meanwhile=meanwhile,
    )
    taken = (own_seconds() - before) / (time.monotonic() - begin) / (os.cpu_count() or 1)
    with entered(network.namespaces[SENDER]):
        counters = {name: value for name, value in mptcp.counters().items() if value}
    versions = stack.versions() | {"openvswitch": openvswitch.version(), "datapath": openvswitch.datapath()}
    series = {"mptcp": _series(found)} | ({"tcp": seen.pop("tcp")} if one.beside else {})
    return {"series": series, "counters": counters, "own_share": taken, "versions": versions, **seen}


def _series(found: iperf.Transfer) -> list[tuple[float, int]]:
    return [(one.end_s, one.bytes) for one in found.intervals]


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os._exit(main(Path(sys.argv[1]), run))
