"""A fat-tree of real daemons in tag-forward mode, not provisioned; for use in a jail."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from waiting import PATIENCE_S, until
from weft import _weft
from weft.emulation.network import Network
from weft.emulation.plan import Plan
from weft.emulation.run import prepare
from weft.sockets import RUN_DIR

SCENARIO = """
[fabric]
kind = "fat-tree"
k = 4
rate = "100 Mbps"
delay = "0 s"
queue = "100 packets"

[traffic]
flow_list = [{ src = "h0", dst = "h15", bytes = "10 kB", start = "0 s" }]

[run]
duration = "1 s"

[scheme]
name = "tag_forward"
"""
FABRIC = Path("/run/fabric.toml")


def build(scheme: str = "") -> Network:
    """The network, with its daemons running; writes the scenario to `FABRIC`."""
    FABRIC.write_text(SCENARIO + scheme, encoding="utf-8")
    (point,) = json.loads(_weft.check(FABRIC.read_text(), "fabric.toml", "/run", []))["points"]
    prepared = prepare(Plan.from_json(_weft.plan(FABRIC.read_text(), "fabric.toml", "/run", [], point["id"])))
    network = Network(prepared.plan, prepared.stack, prepared.delays)
    hosts = prepared.plan.hosts
    network.configure(lambda _: None)
    for host in hosts:
        # Every host knows all others, not only those that it has flows with.
        for other in hosts:
            network.hosts[host.name].cmd(f"ip neigh replace {other.address} lladdr {other.mac} dev {host.name}-eth0")
    network.start()
    return network


def command(*words: object) -> list[str]:
    """The command line of `weft tag-forward` with these arguments."""
    return [sys.executable, "-m", "weft", "tag-forward", *map(str, words), "--sockets", str(RUN_DIR)]


def tag_forward(*words: object, code: int = 0) -> tuple[str, str]:
    """The command's standard output and error; it must exit with `code`."""
    done = subprocess.run(command(*words), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


class Staying:
    """A `provision` that keeps running."""

    def __init__(self, *words: object) -> None:
        self.log = Path("/run/staying.log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command("provision", FABRIC, *words), stdout=log, stderr=log)
        self.until("following 20 switches")

    @property
    def said(self) -> str:
        """Its output so far."""
        return self.log.read_text()

    def until(self, what: str) -> None:
        """Wait until it prints a text."""

        def is_there() -> bool:
            found = what in self.said
            assert found or self.process.poll() is None, self.said
            return found

        until(what, is_there, state=lambda: self.said)

    def stop(self) -> None:
        """Stop it with Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(PATIENCE_S) == 0, self.said


def pings(
    network: Network, source: str, destination: str, words: str = "-c 3 -i 0.05", patience_s: float = PATIENCE_S
) -> int:
    """The number of answered pings; waits `patience_s` for the last answers."""
    address = next(host.address for host in network.plan.hosts if host.name == destination)
    said = network.hosts[source].cmd(f"ping -n -W {patience_s:g} {words} {address}")
    found = re.search(r"(\d+) received", said)
    assert found is not None, said
    return int(found[1])


class Stream:
    """Pings every 2 ms; counts answers, and the longest run of pings without one."""

    def __init__(self, network: Network, source: str, destination: str) -> None:
        address = next(host.address for host in network.plan.hosts if host.name == destination)
        words = ["mnexec", "-a", str(network.hosts[source].pid), "ping", "-n", "-i", "0.002", "-W", "1", address]
        self.log = Path("/run/stream.log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(words, stdout=log)

    @property
    def answered(self) -> list[int]:
        """The numbers of answered pings."""
        return [int(found) for found in re.findall(r"icmp_seq=(\d+) ttl", self.log.read_text())]

    def more(self, count: int = 100) -> None:
        """Wait for more answers."""
        before = len(self.answered)
        until("pings are answered", lambda: len(self.answered) >= before + count)

    def row(self) -> int:
        """Stop pinging; returns the longest run of pings without an answer."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE_S)
        return max(later - earlier - 1 for earlier, later in pairwise(sorted({0, *self.answered})))


def sent(network: Network, switch: str, port: int) -> int:
    """Frames sent by a port of a switch."""
    return int(next(one for one in network.ask(switch, "ports") if one["port"] == port)["sent_frames"])


def restart(network: Network, switch: str) -> None:
    """Kill a daemon as a crash would; `begin` starts it again."""
    daemon = network.switches[switch]
    daemon.process.kill()
    daemon.process.wait()
    daemon.socket_path.unlink(missing_ok=True)


def begin(network: Network, switch: str) -> None:
    """Restart a killed daemon."""
    daemon = network.switches[switch]
    daemon.start(None)
    daemon.wait()


def heard(network: Network) -> None:
    """Wait until every switch receives all its neighbours' Hello messages again."""
    for name in network.switches:
        roles = lambda name=name: {one["role"] for one in network.ask(name, "ports")}  # noqa: E731
        until(f"{name} hears its neighbours", lambda roles=roles: roles() <= {"fabric", "host"}, state=roles)


def swapped() -> Path:
    """A fabric file in which two cores have swapped names."""
    plan = _weft.GatePlan.of_scenario(FABRIC.read_text(), "fabric.toml", "/run", [])
    names = {"c0": "c1", "c1": "c0"}
    hosts, cables = plan.hosts(), plan.cables()
    switches = [switch["switch"] for switch in json.loads(plan.json())["switches"]]
    nodes = [{"id": host, "role": "host"} for host in hosts] + [{"id": name, "role": "switch"} for name in switches]
    edges = [{"source": names.get(a, a), "target": names.get(b, b)} for a, _, b, _ in cables]
    path = Path("/run/swapped.json")
    path.write_text(json.dumps({"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}))
    return path
