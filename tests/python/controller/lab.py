"""The paper's topology of Open vSwitches with two hosts under `weft controller`, for use in a jail.

a - s1 - {s3, s4, s5, s6} - s2 - b
"""

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import waiting
from waiting import PATIENCE_S
from weft.controller import client
from weft.controller.errors import ControllerError
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork, plan_of
from weft.emulation.openvswitch import USER_SPACE, OpenVSwitch
from weft.studies.smoc.topologies import Topology, fabric

MIDDLE = ("s3", "s4", "s5", "s6")
FABRIC = Path("/run/topology1.fabric.toml")
PORT = 6653
RATE_BPS = 2_000_000
"""Rate of each of the four paths; low enough for a busy machine."""
IPPROTO_MPTCP = 262
"""From <netinet/in.h>; not in Python's `socket`."""
BUSY = 1.2e6
"""Bit/s above which a link of `RATE_BPS` counts as used; LLDP takes 1000."""
LINKS = 16
"""Inter-switch links, counted per direction."""


T = TypeVar("T")


def _sh(command: str, check: bool = True) -> str:
    """The output of a shell command."""
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{command}: {done.stderr or done.stdout}")
    return done.stdout


def until(what: str, condition: Callable[[], T], **options: Any) -> T:
    """`waiting.until`, whose error has the logs of all controllers."""
    try:
        return waiting.until(what, condition, **options)
    except waiting.NeverError as never:
        sys.exit("\n".join([str(never), *(path.read_text() for path in sorted(Path("/run").glob("controller-*.log")))]))


class Controller:
    """A `weft controller` in a process of its own."""

    def __init__(self, *arguments: str, port: int = PORT, environment: Mapping[str, str] | None = None) -> None:
        """Start it, with more environment variables if given."""
        self.port = port
        self.socket = Path(f"/run/controller-{port}.sock")
        self.log_file = Path(f"/run/controller-{port}.log")
        self.arguments = arguments
        self.environment = os.environ | dict(environment or {})
        self.start()

    def start(self) -> None:
        """Start it, and wait until its control socket answers."""
        _sh("ip link set lo up")
        if not FABRIC.exists():
            FABRIC.write_text(fabric(Topology.isolated, RATE_BPS))
        command = [sys.executable, "-m", "weft", "controller", "--listen", f"127.0.0.1:{self.port}"]
        with self.log_file.open("ab") as log:
            command += ["--control", str(self.socket), *self.arguments]
            self.process = subprocess.Popen(command, env=self.environment, stderr=log)
        until("the controller answers", lambda: self.process.poll() is not None or self.answers())

    def stop(self, number: int = 15) -> int:
        """Send it a signal; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def answers(self) -> bool:
        """Whether its control socket answers."""
        with contextlib.suppress(ControllerError):
            return bool(self.show("status"))
        return False

    def show(self, what: str) -> dict[str, Any]:
        """The answer to `weft controller show`."""
        return client.ask(self.socket, what, 1000)

    def counter(self, name: str) -> int:
        """The value of one of its counters."""
        return int(self.show("status")["counters"].get(name, 0))

    def log(self) -> str:
        """Its log so far."""
        return self.log_file.read_text()

    def ready(self, switches: int = 6, links: int = LINKS) -> None:
        """Wait until the fabric is found and hosts may communicate."""

        def found() -> bool:
            rows = [row for row in self.show("switches")["switches"] if row["connection"] == "ready"]
            roles = [port["role"] for row in rows for port in row["ports"]]
            return len(rows) == switches and roles.count("switch") == links and "settling" not in roles

        until(f"{switches} switches, {links} links and the host ports are found", found)

    def spreads(self) -> list[list[str]]:
        """The middle switch of each installed subflow, by MPTCP connection; those with the most subflows first."""
        flows = [one["subflows"] for one in self.show("connections")["connections"]]
        return [
            sorted(flow["switches"][1] for flow in one if len(flow["switches"]) == 3)
            for one in sorted(flows, key=len, reverse=True)
        ]

    def middles(self) -> list[str]:
        """The middle switch of each installed subflow of the MPTCP connection with the most subflows."""
        return next(iter(self.spreads()), [])


def network(
    rate_bps: int = RATE_BPS, subflows: int = 4, controllers: Sequence[int] = (PORT,), host: str = "127.0.0.1"
) -> OpenFlowNetwork:
    """Switches and hosts; the controllers must already be running, at this address."""
    FABRIC.write_text(fabric(Topology.isolated, rate_bps))
    targets = [f"tcp:{host}:{port}" for port in controllers]
    return OpenFlowNetwork(plan_of(FABRIC), controllers=targets, subflows=subflows, openers=["a"])


def run_in(net: OpenFlowNetwork, host: str, command: str, check: bool = True) -> str:
    """The output of a command run on a host."""
    return _sh(f"nsenter --net={net.namespaces[host]} {command}", check)


def pings(
    net: OpenFlowNetwork,
    target: str = "b",
    count: int = 5,
    patience_s: float = PATIENCE_S,
    source: str = "a",
    more: str = "",
) -> int:
    """How many of `count` pings are answered; sends on while earlier ones are unanswered."""
    address = net.address(target) if target in net.hosts else target
    said = run_in(net, source, f"ping -n -i 0.1 -c {count} -w {patience_s:g} {more} {address}", check=False)
    found = re.search(r"(\d+) received", said)
    return min(int(found[1]), count) if found else 0


def frames(net: OpenFlowNetwork, what: str = "rx_packets") -> dict[str, int]:
    """Frames received on all switch ports, by interface."""
    names = [net.plan.interface(end) for switch in net.plan.switches for end in net.plan.ports(switch.name)]
    return {name: int(Path(f"/sys/class/net/{name}/statistics/{what}").read_text()) for name in names}


def interface(net: OpenFlowNetwork, switch: str, neighbour: str) -> str:
    """The interface of a switch towards a neighbour."""
    number = net.port(switch, neighbour) - 1
    return next(net.plan.interface(end) for end in net.plan.ports(switch) if end.port == number)


def middle_bytes(net: OpenFlowNetwork) -> dict[str, int]:
    """Bytes that each middle switch has received from s1."""
    taken = frames(net, "rx_bytes")
    return {middle: taken[interface(net, middle, "s1")] for middle in MIDDLE}


def rates(net: OpenFlowNetwork, count: int = len(MIDDLE)) -> dict[str, float]:
    """The rates that the middle switches receive from s1, in bit/s, over a second in which `count` exceed `BUSY`."""
    before, began = middle_bytes(net), time.monotonic()
    found: dict[str, float] = {}

    def are_used() -> bool:
        nonlocal before, began, found
        took = time.monotonic() - began
        if took < 1:
            return False
        now = middle_bytes(net)
        found = {name: 8 * (count - before[name]) / took for name, count in now.items()}
        before, began = now, time.monotonic()
        return sum(rate > BUSY for rate in found.values()) >= count

    until(f"{count} links carry more than {BUSY:g} bit/s", are_used, state=lambda: found)
    return found


def carried(net: OpenFlowNetwork, count: int = len(MIDDLE)) -> dict[str, float]:
    """`rates` while a sends to b at full speed."""
    with Flowing(net):
        return rates(net, count)


class Connected:
    """A Multipath TCP connection from a to b: the socket of each."""

    def __init__(self, net: OpenFlowNetwork) -> None:
        """Open it; the subflows follow on their own."""
        with entered(net.namespaces["b"]):
            # The listening socket stays open: Linux accepts additional subflows through it.
            self._listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
            self._listening.bind((net.address("b"), 0))
            self._listening.listen()
        with entered(net.namespaces["a"]):
            self.here = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        self.here.connect(self._listening.getsockname())
        self.there = self._listening.accept()[0]
        # Additional subflows are opened once the first has carried data.
        self.here.send(b"hello")
        self.there.recv(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._listening, self.here, self.there):
            one.close()


class Flowing(Connected):
    """A connection on which a sends to b at full speed while a block runs; `received` counts the bytes that b got."""

    def __init__(self, net: OpenFlowNetwork) -> None:
        """Use a network."""
        super().__init__(net)
        self.received = 0
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._send, self._receive)]

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.here.sendall(bytes(1 << 16))

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            while count := len(self.there.recv(1 << 16)):
                self.received += count

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.here.shutdown(socket.SHUT_RDWR)
        self.there.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        super().__exit__()


def sockets(
    net: OpenFlowNetwork, family: int, kind: int, address: str, port: int
) -> tuple[socket.socket, socket.socket]:
    """A socket on a connected to a socket on b, with b's side accepted for TCP."""
    with entered(net.namespaces["b"]):
        there = socket.socket(family, kind)
        there.settimeout(PATIENCE_S)
        there.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        there.bind((address, port))
        if kind == socket.SOCK_STREAM:
            there.listen()
    with entered(net.namespaces["a"]):
        here = socket.socket(family, kind)
        here.settimeout(PATIENCE_S)
    here.connect((address, port))
    if kind == socket.SOCK_STREAM:
        there = there.accept()[0]
    return here, there


def exchanged(net: OpenFlowNetwork, family: int, kind: int, address: str, port: int) -> bool:
    """Whether a message reaches b and its reply reaches a."""
    here, there = sockets(net, family, kind, address, port)
    with here, there:
        here.send(b"there")
        said, peer = there.recvfrom(100)
        there.sendto(b"back", peer) if kind == socket.SOCK_DGRAM else there.send(b"back")
        return said == b"there" and here.recv(100) == b"back"


def crash(switch: OpenVSwitch) -> None:
    """Kill an Open vSwitch, which loses its rules, and start it again: its bridges are in the database."""
    daemon = switch._daemons.pop()
    daemon.kill()
    daemon.wait()
    switch._launch("ovs-vswitchd", [switch._remote], lambda: bool(switch._datapath_types()))
    if switch._datapath == USER_SPACE:
        switch._widen()
