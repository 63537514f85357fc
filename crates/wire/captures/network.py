"""Two hosts with two interfaces each, in their own network namespaces, and the wire between them, which records frames.

The namespaces are private and end with the process (`enter_jail`), so that nothing is left behind and the machine's own
network is not touched. The wire is this program: it receives a host's frames from an AF_PACKET socket, records them and
forwards them to the port of their destination address, unless a meddler drops or changes them.
"""

from __future__ import annotations

import ctypes
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

IPPROTO_MPTCP = 262
ETH_P_ALL = 3
PACKET_OUTGOING = 4
HOSTS = {"client": 1, "server": 2}
"""The last byte of each host's addresses: 10.0.0.x and 2001:db8::x on eth0, 10.0.1.x and 2001:db8:1::x on eth1."""

Verdict = bytes | None
Meddler = Callable[["Seen"], Verdict]
"""Returns the frame to forward, changed or not, or None to drop it."""


@dataclass
class Seen:
    """A frame as its sender sent it."""

    at: float
    host: str
    path: int
    frame: bytes
    lost: bool = False


def enter_jail() -> None:
    """Restart this program in its own namespaces, unless it already runs in them."""
    if os.environ.get("WEFT_CAPTURE_JAIL") == "1":
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        return
    if os.geteuid() != 0:
        sys.exit("captures need network namespaces: run this as root")
    jail = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.environ["WEFT_CAPTURE_JAIL"] = "1"
    os.execvp(jail[0], [*jail, *sys.orig_argv])


def run(*words: str, host: str | None = None) -> None:
    """Run a command on a host or on the wire."""
    inside = [] if host is None else ["ip", "netns", "exec", host]
    done = subprocess.run([*inside, *words], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join([*inside, *words])}: {done.stderr.strip() or done.stdout.strip()}")


@contextmanager
def at(host: str) -> Iterator[None]:
    """Create sockets in the host's namespace."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(file: Path) -> None:
        with file.open() as namespace:
            if libc.setns(namespace.fileno(), 0x40000000) != 0:
                raise OSError(ctypes.get_errno(), f"setns {file}")

    home = Path("/proc/self/ns/net").open()  # noqa: SIM115
    enter(Path("/run/netns", host))
    try:
        yield
    finally:
        libc.setns(home.fileno(), 0x40000000)
        home.close()


def mac(host: str, path: int) -> str:
    """The address of a host's interface."""
    return f"02:00:00:00:{path:02x}:{HOSTS[host]:02x}"


def address(host: str, path: int, family: int = socket.AF_INET) -> str:
    """The IP address of a host's interface."""
    last = HOSTS[host]
    return f"10.0.{path}.{last}" if family == socket.AF_INET else f"2001:db8:{path}::{last}"


@dataclass
class Network:
    """Client, server, and the wire between them."""

    sysctls: dict[str, str] = field(default_factory=dict)
    """For both hosts, without the prefix `net.`"""
    meddler: Meddler = lambda seen: seen.frame
    seen: list[Seen] = field(default_factory=list)
    ports: dict[socket.socket, tuple[str, int]] = field(default_factory=dict)
    sockets: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Network:
        """Create the hosts."""
        for host in HOSTS:
            run("ip", "netns", "add", host)
            settings = {"ipv4.conf.all.rp_filter": "0", "ipv4.conf.default.rp_filter": "0", "mptcp.enabled": "1"}
            settings |= {"ipv6.conf.default.accept_dad": "0", "ipv6.conf.default.router_solicitations": "0"}
            for name, value in (settings | self.sysctls).items():
                run("sysctl", "-qw", f"net.{name}={value}", host=host)
            run("ip", "link", "set", "lo", "up", host=host)
            run("ip", "mptcp", "limits", "set", "subflows", "8", "add_addr_accepted", "8", host=host)
            for path in (0, 1):
                self._plug(host, path)
        for host, other in (("client", "server"), ("server", "client")):
            for path in (0, 1):
                for family in (socket.AF_INET, socket.AF_INET6):
                    self.neighbour(host, address(other, path, family), other, path)
        return self

    def _plug(self, host: str, path: int) -> None:
        """Add an interface to a host, connected to the wire."""
        name, port = f"eth{path}", f"{host}{path}"
        run("ip", "link", "add", port, "type", "veth", "peer", "name", name, "netns", host)
        run("ip", "link", "set", name, "address", mac(host, path), host=host)
        run("ethtool", "-K", name, "tx", "off", "tso", "off", "gso", "off", "gro", "off", host=host)
        run("sysctl", "-qw", f"net.ipv6.conf.{port}.disable_ipv6=1")
        for end, where in ((port, None), (name, host)):
            run("ip", "link", "set", end, "up", host=where)
        run("ip", "address", "add", f"{address(host, path)}/24", "dev", name, host=host)
        run("ip", "address", "add", f"{address(host, path, socket.AF_INET6)}/64", "dev", name, "nodad", host=host)
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        tap.bind((port, ETH_P_ALL))
        self.ports[tap] = host, path

    def neighbour(self, host: str, ip: str, other: str, path: int) -> None:
        """Add a static neighbour entry to a host."""
        run("ip", "neigh", "replace", ip, "lladdr", mac(other, path), "dev", f"eth{path}", host=host)

    def __exit__(self, *_: object) -> None:
        """Remove the hosts."""
        for one in (*self.sockets, *self.ports):
            one.close()
        for host, path in self.ports.values():
            run("ip", "link", "delete", f"{host}{path}")
        for host in HOSTS:
            run("ip", "netns", "delete", host)

    def endpoint(self, host: str, *words: str) -> None:
        """Change a host's MPTCP endpoints."""
        run("ip", "mptcp", "endpoint", *words, host=host)

    def listen(self, host: str, port: int, *, mptcp: bool = True, family: int = socket.AF_INET) -> socket.socket:
        """A socket that accepts connections on all of a host's addresses."""
        one = self._socket(host, mptcp, family)
        one.bind(("", port))
        one.listen(8)
        return one

    def connect(
        self, host: str, to: tuple[str, int], *, mptcp: bool = True, port: int = 0, family: int = socket.AF_INET
    ) -> socket.socket:
        """A connecting socket, bound to the host's first address."""
        one = self._socket(host, mptcp, family)
        one.bind((address(host, 0, family), port))
        one.connect_ex(to)
        return one

    def _socket(self, host: str, mptcp: bool, family: int) -> socket.socket:
        with at(host):
            one = socket.socket(family, socket.SOCK_STREAM, IPPROTO_MPTCP if mptcp else socket.IPPROTO_TCP)
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sockets.append(one)
        return one

    def inject(self, host: str, path: int, frame: bytes) -> None:
        """Inject a frame as if the host had sent it."""
        self._carry(host, path, frame)

    def settle(self, quiet: float = 0.15, limit: float = 20.0) -> None:
        """Forward frames until none has arrived for `quiet` seconds."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            ready, _, _ = select.select(list(self.ports), [], [], quiet)
            if not ready:
                return
            for tap in ready:
                frame, (_, _, kind, _, _) = tap.recvfrom(65536)
                if kind != PACKET_OUTGOING:
                    self._carry(*self.ports[tap], frame)
        raise RuntimeError(f"the network was not quiet for {quiet} s within {limit} s")

    def _carry(self, host: str, path: int, frame: bytes) -> None:
        """Record a frame if it is TCP, and forward it to its destination."""
        carried: Verdict = frame
        if is_tcp(frame):
            seen = Seen(time.monotonic(), host, path, frame)
            self.seen.append(seen)
            carried = self.meddler(seen)
            seen.lost = carried is None
        if carried is not None:
            for tap, (other, to) in self.ports.items():
                if bytes.fromhex(mac(other, to).replace(":", "")) == carried[:6]:
                    tap.send(carried)


def is_tcp(frame: bytes) -> bool:
    """Whether a frame carries TCP after a plain IPv4 or IPv6 header."""
    at_protocol = {b"\x08\x00": 23, b"\x86\xdd": 20}.get(frame[12:14])
    return at_protocol is not None and len(frame) > at_protocol and frame[at_protocol] == socket.IPPROTO_TCP
