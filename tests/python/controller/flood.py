"""A host that opens connections as fast as it can, and other hosts with normal traffic; for use in a jail.

m - s1 - {s3, s4, s5, s6} - s2 - b
a, c -'
"""

from __future__ import annotations

import contextlib
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from lab import IPPROTO_MPTCP, PORT
from segments import octets, syn
from waiting import PATIENCE_S, paced
from weft.controller.lldp import Signer
from weft.emulation.namespace import entered
from weft.emulation.openflow import OpenFlowNetwork, plan_of
from weft.studies.smoc.topologies import Topology, fabric

HOSTILE = "m"
MORE = (HOSTILE, "c")
SENDER = Path(__file__).parent / "sender.py"
CAPABLE = bytes.fromhex("1e040181")
"""MP_CAPABLE, version 1, as in a SYN."""
DISTINCT = 30_000
"""Number of distinct frames of an attack, each of a different flow."""
EVERY_S = 0.05
"""Interval of pings, and of connections."""


def crowded_fabric(path: Path, rate_bps: int) -> None:
    """Write the paper's topology 1 with two more hosts at s1."""
    lines = [fabric(Topology.isolated, rate_bps)]
    for name in MORE:
        lines += ["[[node]]", f'name = "{name}"', 'role = "host"', ""]
        lines += ["[[link]]", f'between = ["{name}", "s1"]', 'rate = "1 Gbps"', 'queue = "1000 packets"', ""]
    path.write_text("\n".join(lines))


def crowded_network(path: Path) -> OpenFlowNetwork:
    """The network of that file."""
    targets = [f"tcp:127.0.0.1:{PORT}"]
    return OpenFlowNetwork(plan_of(path), controllers=targets, subflows=1, openers=["a", "c"])


def hostile_port(net: OpenFlowNetwork) -> str:
    """The hostile host's port, as named in the log."""
    return f"switch s1 port {net.port('s1', HOSTILE)} "


def option(kind: str, draw: random.Random) -> bytes:
    """The TCP options of a SYN of this kind."""
    if kind == "capable":
        return CAPABLE
    if kind == "join":
        return b"\x1e\x0c\x10\x01" + draw.randbytes(8)
    return b""


def frames(net: OpenFlowNetwork, kind: str) -> list[bytes]:
    """SYNs to b, each with different ports; or forged LLDP frames."""
    draw = random.Random(7)
    macs = [net.hosts[host].MAC() for host in (HOSTILE, "b")]
    if kind == "lldp":
        signer, own = Signer(draw.getrandbits(64), draw.randbytes(32)), octets(macs[0])
        return [signer.frame(1, 1 + number % 5, own, number, 4) for number in range(2000)]
    addresses = [net.address(host) for host in (HOSTILE, "b")]
    return [
        syn(macs, addresses, (draw.randrange(1024, 65536), draw.randrange(5000, 60000)), option(kind, draw))
        for _ in range(DISTINCT)
    ]


class Attack:
    """Sends SYNs at a fixed rate from a separate process while the block runs."""

    def __init__(self, net: OpenFlowNetwork, made: list[bytes], rate: int) -> None:
        """Frames are sent round-robin."""
        self.path = Path("/run/attack.frames")
        self.path.write_bytes(b"".join(struct.pack("!H", len(frame)) + frame for frame in made))
        self.device, self.namespace, self.rate = net.interface(HOSTILE), net.namespaces[HOSTILE], rate

    def __enter__(self) -> Attack:
        words = [sys.executable, str(SENDER), str(self.path), self.device, str(self.rate)]
        command = ["nsenter", f"--net={self.namespace}", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate("stop\n", timeout=PATIENCE_S)


class Connecting:
    """Has a host open connections to b, and counts those that lost no SYN or SYN+ACK, as the kernel says."""

    def __init__(self, net: OpenFlowNetwork, host: str) -> None:
        self.net, self.host = net, host
        self.tried = self.there = 0

    def run(self, seconds: float) -> None:
        """Open connections in sequence for this long."""
        address = (self.net.address("b"), 4000)
        end = time.monotonic() + seconds
        with entered(self.net.namespaces[self.host]):
            for _ in paced(EVERY_S):
                if time.monotonic() > end:
                    return
                # Every second one is plain TCP.
                protocol = (IPPROTO_MPTCP, socket.IPPROTO_TCP)[self.tried % 2]
                self.tried += 1
                resent = _resent()
                with (
                    socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as one,
                    contextlib.suppress(OSError),
                ):
                    one.settimeout(PATIENCE_S)
                    one.connect(address)
                    self.there += _resent() == resent

    @property
    def share(self) -> float:
        """Share of connections established at once."""
        return self.there / max(self.tried, 1)


def _resent() -> int:
    """The SYNs that this thread's namespace has sent again."""
    names, values = (
        line.split()
        for line in Path("/proc/thread-self/net/netstat").read_text().splitlines()
        if line.startswith("TcpExt:")
    )
    return int(values[names.index("TCPSynRetrans")])


def accepting(net: OpenFlowNetwork) -> None:
    """Have b accept connections."""
    with entered(net.namespaces["b"]):
        server = socket.create_server((net.address("b"), 4000), backlog=500)

    def accept() -> None:
        while True:
            server.accept()[0].close()

    threading.Thread(target=accept, daemon=True).start()


def others(net: OpenFlowNetwork, seconds: float) -> dict[str, float]:
    """The shares of successful pings and connections of a and c, over a period."""
    count = int(seconds / EVERY_S)
    pings = {}
    for host in "ac":
        words = ["ping", "-n", "-i", str(EVERY_S), "-c", str(count), "-W", "1", net.address("b")]
        pings[host] = subprocess.Popen(
            ["nsenter", f"--net={net.namespaces[host]}", *words], stdout=subprocess.PIPE, text=True
        )
    connecting = [Connecting(net, host) for host in "ac"]
    threads = [threading.Thread(target=one.run, args=(seconds,)) for one in connecting]
    for thread in threads:
        thread.start()
    shares = {}
    for host, process in pings.items():
        said = process.communicate(timeout=PATIENCE_S)[0]
        found = re.search(r"(\d+) received", said)
        shares[f"pings of {host}"] = int(found[1]) / count if found else 0.0
    for thread, one in zip(threads, connecting, strict=True):
        thread.join()
        shares[f"connections of {one.host}"] = one.share
    return shares
