"""How fast one switch forwards between two hosts: TCP whose segments the kernel joins (GSO), and 60-byte frames.

The switches take turns, each once a round, in an order that turns too. A second bridge is one of them: what it differs
from the first by is what nothing can be told below.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benches.switch.lab import EXAMPLES, Lab, LabError, Space, address, mac, run, wait_for
from benches.switch.peers import MODES, PINS, Bridge, OpenVSwitch, Switch, Weft, is_there
from benches.switch.ratio import ratios, spread

BASE = "bridge"
FLOWS = 10_000
FIRST_PORT = 10_000
PORT = 5001
IPERF_PORT = 5201
CLIENT_PORT = 40_000
COUNTED = "02:00:00:00:00:99"
"""Where frames that are counted go: to the receiver's port, but not to its own address, so that it only counts."""


@dataclass
class Rig:
    """A switch between two hosts."""

    name: str
    switch: Switch
    sender: Space
    receiver: Space


def build(lab: Lab, number: int, name: str, switch: Switch) -> Rig:
    """Cables two hosts to the switch, starts it, and waits until it forwards."""
    ports = [f"p{number}a", f"p{number}b"]
    hosts = [lab.host(f"{switch.name}-{end}", end, switch.space, port) for end, port in enumerate(ports, 1)]
    for host, peer in zip(hosts, (2, 1), strict=True):
        if not switch.finishes_checksums:
            host.run("ethtool", "-K", "eth0", "tx", "off")
        run("ip", "-n", host.name, "neigh", "add", address(peer), "lladdr", mac(peer), "dev", "eth0")
    switch.start(ports)
    # Both are heard, and so known: an address that is not known is asked for by nobody here.
    wait_for(
        f"{switch.name} between two hosts", lambda: all([hosts[0].answers(address(2)), hosts[1].answers(address(1))])
    )
    return Rig(name, switch, *hosts)


def routes() -> str:
    """What ecmp and spray are told: where the stations are."""
    places = ((mac(1), 0), (mac(2), 1), (COUNTED, 1))
    return "".join(f'[[route]]\nstation = "{station}"\nports = ["@{port}"]\n' for station, port in places)


def switches(lab: Lab, names: list[str]) -> list[Rig]:
    """The rigs of all switches asked for."""
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
        rigs[-1].receiver.start("iperf3", "-s", "-p", str(IPERF_PORT), cpu=0)
    return rigs


def tcp(rig: Rig, seconds: float) -> float:
    """Bits per second that arrive of one TCP connection."""
    # iperf3 knows whole seconds only.
    wanted = ["iperf3", "-c", address(2), "-p", str(IPERF_PORT), "-t", str(max(1, round(seconds))), "-C", "cubic", "-J"]
    # One port each time: the entries of this connection are among those of the table.
    output = rig.sender.run(*wanted, "--cport", str(CLIENT_PORT), cpu=0, limit=seconds + 20)
    return float(json.loads(output)["end"]["sum_received"]["bits_per_second"])


def frames(rig: Rig, seconds: float) -> float:
    """Frames per second that arrive of 60-byte frames over many tuples."""
    command = [str(EXAMPLES / "frames"), "eth0", "--source", mac(1), "--destination", COUNTED]
    command += ["--flows", str(FLOWS), "--first-port", str(FIRST_PORT), "--port", str(PORT)]
    before = rig.receiver.received("eth0")
    sent = json.loads(rig.sender.run(*command, "--seconds", f"{seconds:g}", cpu=0))
    return (rig.receiver.received("eth0") - before) / float(sent["seconds"])


def announce(rig: Rig) -> None:
    """The receiver sends a frame from the address that is to be counted: now the switch knows where it is."""
    command = [str(EXAMPLES / "frames"), "eth0", "--source", COUNTED, "--destination", mac(1), "--seconds", "0"]
    rig.receiver.run(*command)


@dataclass(frozen=True)
class Flows:
    """Flows of the sender's, with TCP ports one after the other."""

    destination: str
    port: int
    first_port: int
    count: int

    def run(self, action: str, rig: Rig) -> int:
        """Has `flows` put them into the switch's table, or count those that frames have hit since."""
        command = [str(EXAMPLES / "flows"), action, str(PINS / rig.switch.name / "maps"), "--source", mac(1)]
        command += ["--destination", self.destination, "--port", str(self.port)]
        return int(run(*command, "--first-port", str(self.first_port), "--flows", str(self.count)))


MANY = Flows(COUNTED, PORT, FIRST_PORT, FLOWS)
ONE = Flows(mac(2), IPERF_PORT, CLIENT_PORT, 1)
"""The data connection of iperf3."""


KINDS: dict[str, Callable[[Rig, float], float]] = {"TCP with GSO": tcp, "60-byte frames": frames}


def measure(names: list[str], rounds: int, seconds: float, progress: Callable[[str], None]) -> dict[str, Any]:
    """Forwarding by each switch, as ratios to the bridge.

    Raises:
        LabError: where a switch does not forward, or frames did not go by the flows' entries.
    """
    values: dict[str, dict[str, list[float]]] = {kind: {name: [] for name in names} for kind in KINDS}
    with Lab() as lab:
        rigs = switches(lab, names)
        for kind, take in KINDS.items():
            for number in range(rounds):
                progress(f"{kind}, round {number + 1} of {rounds}")
                turn = number % len(rigs)
                for rig in rigs[turn:] + rigs[:turn]:
                    values[kind][rig.name].append(one(rig, take, kind, seconds))
    return {
        kind: {
            name: {"ratio": ratios(taken, of[BASE]).json(), "absolute": spread(taken).json(), "rounds": taken}
            for name, taken in of.items()
        }
        for kind, of in values.items()
    }


def one(rig: Rig, take: Callable[[Rig, float], float], kind: str, seconds: float) -> float:
    """One round of one switch."""
    announce(rig)
    keeps_flows = rig.name == "tcp-path"
    if keeps_flows:
        for flows in (MANY, ONE):
            flows.run("fill", rig)
    value = take(rig, seconds)
    used = MANY if take is frames else ONE
    hit = used.run("hit", rig) if keeps_flows else used.count
    if hit != used.count:
        raise LabError(f"only {hit} of {used.count} flows were forwarded by their entries")
    if value <= 0:
        raise LabError(f"{rig.name} forwarded nothing: {kind}")
    return value


def present(names: list[str]) -> list[str]:
    """The switches that can be measured here."""
    return [name for name in names if name != "ovs" or is_there("ovs-vswitchd")]
