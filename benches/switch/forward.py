"""How fast one switch forwards between two hosts: TCP with GSO, and 60-byte frames.

In a round the switches take turns of milliseconds in random order, so that other load on the machine slows all alike.
Open vSwitch, whose process would keep working during the others' turns, is measured after them. A second bridge is
among the switches: its difference from the first is the resolution of the benchmark.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benches.ratio import ratios, spread
from benches.switch.lab import EXAMPLES, Lab, LabError, Space, address, mac, on_cpu, run, wait_for
from benches.switch.peers import MODES, PINS, Bridge, OpenVSwitch, Switch, Weft, is_there

BASE = "bridge"
FIRST_PORT = 10_000
PORT = 5001
BULK_PORT = 5002
CLIENT_PORT = 40_000
COUNTED = "02:00:00:00:00:99"
"""Destination of counted frames: behind the receiver's port, but not its own address, so that it only counts them."""


@dataclass
class Rig:
    """A switch between two hosts."""

    name: str
    switch: Switch
    sender: Space
    receiver: Space


@dataclass(frozen=True)
class Flows:
    """Flows from the sender, with consecutive TCP ports."""

    destination: str
    port: int
    first_port: int
    count: int

    def run(self, action: str, rig: Rig) -> int:
        """Runs `flows`, which adds them to the switch's table (`fill`) or counts the entries used since (`hit`)."""
        command = [str(EXAMPLES / "flows"), action, str(PINS / rig.switch.name / "maps"), "--source", mac(1)]
        command += ["--destination", self.destination, "--port", str(self.port)]
        return int(run(*command, "--first-port", str(self.first_port), "--flows", str(self.count)))


BULK = Flows(mac(2), BULK_PORT, CLIENT_PORT, 1)
"""The connection of `bulk`."""
MANY = Flows(COUNTED, PORT, FIRST_PORT, 10_000)
FEW = Flows(COUNTED, PORT, FIRST_PORT, 100)
KINDS = {"TCP with GSO": BULK, "60-byte frames, 10 000 flows": MANY, "60-byte frames, 100 flows": FEW}
"""The kinds of traffic. In tcp-path the entries of all kinds stay in the table throughout."""


def build(lab: Lab, number: int, name: str, switch: Switch) -> Rig:
    """Connects two hosts to the switch, starts it, and waits until it forwards."""
    ports = [f"p{number}a", f"p{number}b"]
    hosts = [lab.host(f"{switch.name}-{end}", end, switch.space, port) for end, port in enumerate(ports, 1)]
    for host, peer in zip(hosts, (2, 1), strict=True):
        if not switch.finishes_checksums:
            host.run("ethtool", "-K", "eth0", "tx", "off")
        run("ip", "-n", host.name, "neigh", "add", address(peer), "lladdr", mac(peer), "dev", "eth0")
    switch.start(ports)
    # Both hosts must send a frame, so that the switch learns them: static neighbour entries suppress ARP.
    wait_for(
        f"{switch.name} between two hosts", lambda: all([hosts[0].answers(address(2)), hosts[1].answers(address(1))])
    )
    return Rig(name, switch, *hosts)


def routes() -> str:
    """The routes for ecmp and spray: which port leads to which station."""
    places = ((mac(1), 0), (mac(2), 1), (COUNTED, 1))
    return "".join(f'[[route]]\nstation = "{station}"\nports = ["@{port}"]\n' for station, port in places)


def switches(lab: Lab, names: list[str]) -> list[Rig]:
    """The rigs of all selected switches."""
    rigs = []
    for number, name in enumerate(names):
        switch: Switch
        if name in MODES:
            text = (
                routes().replace("@0", f"p{number}a").replace("@1", f"p{number}b") if name in ("ecmp", "spray") else ""
            )
            switch = Weft(lab, name, name, text)
        else:
            switch = OpenVSwitch(lab, name) if name == "ovs" else Bridge(lab, name.replace(" ", "-"))
        rigs.append(build(lab, number, name, switch))
    return rigs


def tcp(rigs: list[Rig], seconds: float) -> list[float]:
    """Received bits per second of one TCP connection through each switch, with all work on one core."""
    command = [*on_cpu(0), str(EXAMPLES / "bulk"), "--address", address(2), "--port", str(BULK_PORT)]
    command += ["--client-port", str(CLIENT_PORT), "--seconds", f"{seconds:g}"]
    pairs = [space.path for rig in rigs for space in (rig.sender, rig.receiver)]
    rows = json.loads(run(*command, *pairs, limit=60 + 10 * seconds * len(rigs)))
    return [8 * row["bytes"] / row["seconds"] for row in rows]


def frames(rigs: list[Rig], seconds: float, flows: Flows) -> list[float]:
    """Received 60-byte frames per second through each switch, over many tuples.

    Per second of CPU time, which excludes other processes' share of the core. Open vSwitch works on another core, so
    its rate is per second of wall-clock time.
    """
    command = [*on_cpu(0), str(EXAMPLES / "frames"), "--source", mac(1), "--destination", COUNTED]
    command += ["--flows", str(flows.count), "--first-port", str(FIRST_PORT), "--port", str(PORT)]
    before = [rig.receiver.received("eth0") for rig in rigs]
    rows = json.loads(run(*command, "--seconds", f"{seconds:g}", *[rig.sender.path for rig in rigs]))
    after = [rig.receiver.received("eth0") for rig in rigs]
    took = [row["seconds" if rig.name == "ovs" else "processor_seconds"] for rig, row in zip(rigs, rows, strict=True)]
    return [(end - start) / time for start, end, time in zip(before, after, took, strict=True)]


def announce(rig: Rig) -> None:
    """The receiver sends a frame from the counted address, so that the switch learns its port."""
    command = [str(EXAMPLES / "frames"), "--source", COUNTED, "--destination", mac(1), "--seconds", "0"]
    run(*command, rig.receiver.path)


def measure(names: list[str], rounds: int, seconds: float, progress: Callable[[str], None]) -> dict[str, Any]:
    """Forwarding by each switch, as ratios to the bridge.

    Raises `LabError` if a switch does not forward, or frames did not use the flows' entries.
    """
    values: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in names} for kind in KINDS}
    with Lab() as lab:
        rigs = switches(lab, names)
        for kind, flows in KINDS.items():
            for number in range(rounds):
                progress(f"{kind}, round {number + 1} of {rounds}")
                for group in ([rig for rig in rigs if rig.name != "ovs"], [rig for rig in rigs if rig.name == "ovs"]):
                    for rig, value in zip(group, one(group, flows, seconds), strict=True):
                        values[kind][rig.name].append(value)
    return {
        kind: {
            name: {"ratio": ratios(taken, of[BASE]).json(), "absolute": spread(taken).json(), "rounds": taken}
            for name, taken in of.items()
        }
        for kind, of in values.items()
    }


def one(rigs: list[Rig], flows: Flows, seconds: float) -> list[float]:
    """One round, with the switches taking turns."""
    if not rigs:
        return []
    keeping = [rig for rig in rigs if rig.name == "tcp-path"]
    for rig in rigs:
        announce(rig)
    for rig in keeping:
        for live in (BULK, MANY):
            live.run("fill", rig)
    values = tcp(rigs, seconds) if flows is BULK else frames(rigs, seconds, flows)
    for rig in keeping:
        hit = flows.run("hit", rig)
        if hit != flows.count:
            raise LabError(f"{rig.name}: only {hit} of {flows.count} flow entries were used")
    for rig, value in zip(rigs, values, strict=True):
        if value <= 0:
            raise LabError(f"{rig.name} forwarded nothing")
    return values


def present(names: list[str]) -> list[str]:
    """The selected switches that can be measured on this machine."""
    return [name for name in names if name != "ovs" or is_there("ovs-vswitchd")]
