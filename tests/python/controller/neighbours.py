"""Hosts that often resolve each other's addresses, their traffic, and a lying host; for use in a jail."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import threading
import time

from jails import sh
from lab import Connected, run_in
from waiting import PATIENCE_S, paced
from weft.emulation.namespace import entered

ADDRESSES = {
    "four": ("10.0.0.{}{}", 24),
    "six": ("fd00::{}{}", 64),
}
"""Addresses by family, with the numbers of the pair and of the host in it."""
OPENERS = {1: "a", 2: "b"}
"""The pinging host of each pair: Linux treats its replies as proof of reachability; the other host must probe.

No pair uses TCP, which confirms reachability to both.
"""


def address(family, pair, host):
    """The address of a host in a pair."""
    return ADDRESSES[family][0].format(pair, "ab".index(host) + 1)


def ask_often(net):
    """Give both hosts their addresses, and have them probe each other after about 2 s."""
    for host in "ab":
        device = net.interface(host)
        for setting in ("all", device):
            run_in(net, host, f"sysctl -qw net.ipv6.conf.{setting}.disable_ipv6=0")
        for family, (_, length) in ADDRESSES.items():
            for pair in OPENERS:
                more = "nodad" if family == "six" else ""
                run_in(net, host, f"ip address add {address(family, pair, host)}/{length} dev {device} {more}")
        for family in ("ipv4", "ipv6"):
            timers = f"net.{family}.neigh.{device}"
            run_in(net, host, f"sysctl -qw {timers}.base_reachable_time_ms=1000 {timers}.delay_first_probe_time=1")


class Talking:
    """Pings of each family both ways while a block runs: `sent` and `lost` by family and source."""

    def __init__(self, net):
        """Use a network whose hosts have their addresses."""
        self._net = net

    def __enter__(self):
        self._processes = {}
        for family in ADDRESSES:
            for pair, source in OPENERS.items():
                ends = [address(family, pair, host) for host in (source, "ab".replace(source, ""))]
                inside = ["nsenter", f"--net={self._net.namespaces[source]}"]
                self._processes[f"{family} {source}"] = subprocess.Popen(
                    [*inside, "ping", "-n", "-i", "0.2", "-I", *ends],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
        return self

    def __exit__(self, *_):
        self.sent, self.lost = {}, {}
        for process in self._processes.values():
            process.send_signal(2)
        for name, process in self._processes.items():
            said = process.communicate(timeout=PATIENCE_S)[0]
            self.sent[name] = int(re.search(r"(\d+) packets transmitted", said)[1])
            came = set(map(int, re.findall(r"icmp_seq=(\d+) ttl", said)))
            # The last ones may still be in transit.
            self.lost[name] = sorted(set(range(1, self.sent[name] - 5)) - came)


class Trickle(Connected):
    """An MPTCP connection on which a keeps sending small messages; `stall_s` is b's longest wait for one."""

    def __init__(self, net):
        """Use a network."""
        super().__init__(net)
        self._done = threading.Event()
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._send, self._receive)]
        self.stall_s = 0.0

    def _send(self):
        self.here.settimeout(PATIENCE_S)
        for _ in paced(0.05):
            if self._done.is_set():
                return
            self.here.sendall(bytes(5000))

    def _receive(self):
        self.there.settimeout(PATIENCE_S)
        before = time.monotonic()
        while not self._done.is_set():
            self.there.recv(65536)
            now = time.monotonic()
            self.stall_s, before = max(self.stall_s, now - before), now

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        for thread in self._threads:
            thread.join(10)
        super().__exit__()


class Liar:
    """A third host, at s1, with its own address, which sends arbitrary frames."""

    ADDRESS, SIX, MAC = "10.0.0.66", "fd00::66", "02:66:66:66:66:66"

    def __init__(self, net):
        """Attach it to the network."""
        self.namespace = "/run/netns/liar"
        sh("ip netns add liar && ip link add liar-s1 type veth peer name liar0 netns liar && ip link set liar-s1 up")
        net.switch._configure("add-port", "s1", "liar-s1")
        for command in (
            f"ip link set liar0 address {self.MAC}",
            "ethtool -K liar0 tx off",
            "sysctl -qw net.ipv6.conf.liar0.disable_ipv6=0",
            "ip link set liar0 up",
            f"ip address add {self.ADDRESS}/24 dev liar0",
            f"ip address add {self.SIX}/64 dev liar0 nodad",
        ):
            sh(f"nsenter --net={self.namespace} {command}")

    def ping(self, address):
        """How many of three pings are answered."""
        said = sh(f"nsenter --net={self.namespace} ping -n -i 0.2 -c 3 -w {PATIENCE_S:g} {address}", check=False)
        return int(re.search(r"(\d+) received", said)[1])

    def say(self, frames):
        """Send frames, 0.1 s apart."""
        with entered(self.namespace):
            sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        with sender:
            sender.bind(("liar0", 0))
            for _, frame in zip(paced(0.1), frames, strict=False):
                sender.send(frame)


class Hearing:
    """The ARP packets and Neighbour Advertisements that reach b while a block runs, as `frames`."""

    def __init__(self, net):
        """Use a network."""
        with entered(net.namespaces["b"]):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._socket.bind((net.interface("b"), 3))
        self._socket.setblocking(False)
        self.frames = []

    def __enter__(self):
        return self

    def look(self):
        """Read what has come; returns all `frames`."""
        with contextlib.suppress(BlockingIOError):
            while frame := self._socket.recv(2000):
                kind = frame[12:14].hex()
                if kind == "0806" or (kind == "86dd" and frame[20] == 58 and frame[54] == 136):
                    self.frames.append(frame)
        return self.frames

    def __exit__(self, *_):
        with self._socket:
            self.look()
