"""The paper's topology of Open vSwitches with two hosts under `weft controller`; to be used in a jail.

a - s1 - {s3, s4, s5, s6} - s2 - b
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

from weft.controller import client
from weft.controller.errors import ControllerError
from weft.emulation import iperf, mptcp
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork, plan_of
from weft.studies.smoc.topologies import Topology, fabric

MIDDLE = ("s3", "s4", "s5", "s6")
FABRIC = Path("/run/topology1.fabric.toml")
PORT = 6653
READY_S = 20.0
LINKS = 16
"""Directions between switches."""


def sh(command, check=True):
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{command}: {done.stderr or done.stdout}")
    return done.stdout


def until(what, condition, patience_s=READY_S):
    """Wait until something is so; returns how long that took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() > began + patience_s:
            sys.exit(f"not within {patience_s:g} s: {what}\n{logs()}")
        time.sleep(0.02)
    return time.monotonic() - began


def logs():
    """What all controllers have said."""
    return "\n".join(path.read_text() for path in sorted(Path("/run").glob("controller-*.log")))


class Controller:
    """A `weft controller` in a process of its own."""

    def __init__(self, *arguments, port=PORT):
        self.port = port
        self.socket = Path(f"/run/controller-{port}.sock")
        self.log_file = Path(f"/run/controller-{port}.log")
        self.arguments = arguments
        self.start()

    def start(self):
        """Start it, and wait until it can be asked."""
        command = [sys.executable, "-m", "weft", "controller", "--listen", f"127.0.0.1:{self.port}"]
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen([*command, "--control", self.socket, *self.arguments], stderr=log)
        until("the controller answers", lambda: self.process.poll() is not None or self.answers())

    def stop(self, number=15):
        """End it by a signal; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(10)

    def answers(self):
        """Whether it can be asked."""
        with contextlib.suppress(ControllerError):
            return bool(self.show("status"))
        return False

    def show(self, what):
        """What it tells."""
        return client.ask(self.socket, what, 1000)

    def counter(self, name):
        """One of its counters."""
        return self.show("status")["counters"].get(name, 0)

    def log(self):
        """What it has said."""
        return self.log_file.read_text()

    def ready(self, switches=6, links=LINKS):
        """Wait until it has found the fabric and taken the hosts' ports for hosts'; returns how long that took."""

        def found():
            if len([row for row in self.show("switches")["switches"] if row["connection"] == "ready"]) != switches:
                return False
            roles = [port["role"] for row in self.show("switches")["switches"] for port in row["ports"]]
            return roles.count("switch") == links and "settling" not in roles

        return until(f"{switches} switches and {links} links are found", found)

    def middles(self):
        """For the MPTCP connection with most subflows, the middle switch of each of its subflows that is installed."""
        shown = self.show("connections")["connections"]
        most = max(shown, key=lambda one: len(one["subflows"]), default={"subflows": []})
        return sorted(flow["switches"][1] for flow in most["subflows"] if len(flow["switches"]) == 3)


def network(rate_bps=20_000_000, subflows=4, controllers=(PORT,)):
    """Switches and hosts; the file of the fabric is `FABRIC`."""
    sh("ip link set lo up")
    FABRIC.write_text(fabric(Topology.isolated, rate_bps))
    targets = [f"tcp:127.0.0.1:{port}" for port in controllers]
    return OpenFlowNetwork(plan_of(FABRIC), controllers=targets, subflows=subflows, openers=["a"])


def run_in(net, host, command, check=True):
    """What a command prints in a host."""
    return sh(f"nsenter --net={net.namespaces[host]} {command}", check)


def pings(net, target="b", count=5, patience_s=8, source="a", more=""):
    """How many pings come back."""
    address = net.address(target) if target in net.hosts else target
    said = run_in(net, source, f"ping -n -i 0.1 -c {count} -w {patience_s} {more} {address}", check=False)
    return int(re.search(r"(\d+) received", said)[1])


def frames(net, what="rx_packets"):
    """Frames that all ports of switches have taken in, by interface."""
    names = [net.plan.interface(end) for switch in net.plan.switches for end in net.plan.ports(switch.name)]
    return {name: int(Path(f"/sys/class/net/{name}/statistics/{what}").read_text()) for name in names}


def interface(net, switch, neighbour):
    """The interface of a switch that leads to a neighbour."""
    number = net.port(switch, neighbour) - 1
    return next(net.plan.interface(end) for end in net.plan.ports(switch) if end.port == number)


def middle_bytes(net):
    """Bytes that came from s1 at each of the middle switches."""
    taken = frames(net, "rx_bytes")
    return {middle: taken[interface(net, middle, "s1")] for middle in MIDDLE}


def transfer(net, seconds, meanwhile=None, wrapped=True):
    """Send from a to b as fast as it goes."""
    return iperf.transfer(
        net.namespaces["a"],
        net.namespaces["b"],
        net.address("b"),
        seconds,
        congestion=net.stack.congestion,
        wrap=mptcp.wrapped if wrapped else (lambda command: command),
        meanwhile=meanwhile or (lambda: None),
    )


def sockets(net, family, kind, address, port):
    """A socket of a that talks to a socket of b, both connected for TCP."""
    with entered(net.namespaces["b"]):
        there = socket.socket(family, kind)
        there.settimeout(5)
        there.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        there.bind((address, port))
        if kind == socket.SOCK_STREAM:
            there.listen()
    with entered(net.namespaces["a"]):
        here = socket.socket(family, kind)
        here.settimeout(5)
    here.connect((address, port))
    if kind == socket.SOCK_STREAM:
        there = there.accept()[0]
    return here, there


def exchanged(net, family, kind, address, port):
    """Whether a message of a comes back from b."""
    here, there = sockets(net, family, kind, address, port)
    with here, there:
        here.send(b"there")
        said, peer = there.recvfrom(100)
        there.sendto(b"back", peer) if kind == socket.SOCK_DGRAM else there.send(b"back")
        return said == b"there" and here.recv(100) == b"back"


def tell(**seen):
    """Print what was seen, for the test."""
    print(json.dumps(seen))
