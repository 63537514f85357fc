"""The acts of which scenes consist: hosts connect, talk, join subflows and close; the network loses frames."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import headers
import tcp_options
from captures.by_hand import spoken
from captures.conclusions import SYN, Segment
from captures.network import Network, Seen, Verdict, address, mac, run

PORT = 8080
SERVER = (mac("server", 0), address("server", 0), PORT)
STRANGER = (mac("client", 0), "10.0.0.66", 50000)
"""An address unknown to the client's kernel, so that the kernel does not reply."""
STRANGER_SEQUENCE = 0x1A2B3C4D


def opened(network: Network, **more: Any) -> tuple[socket.socket, socket.socket]:
    """A connection from the client to the server, after the handshake."""
    family = more.get("family", socket.AF_INET)
    listener = network.listen("server", PORT, family=family, mptcp=more.get("listener_mptcp", True))
    client = network.connect("client", (address("server", 0, family), PORT), family=family, port=more.get("port", 0))
    network.settle(more.get("quiet", 0.15))
    server, _ = listener.accept()
    network.sockets.append(server)
    return client, server


def talk(network: Network, client: socket.socket, server: socket.socket, *, quiet: float = 0.15) -> None:
    """A request and a reply, and the frames that they cause."""
    for one, other, text in ((client, server, b"a request"), (server, client, b"an answer")):
        one.send(text)
        network.settle(quiet)
        received = other.recv(100)
        assert received == text, received


def end(network: Network, client: socket.socket, server: socket.socket) -> None:
    """Close both sides."""
    for one in (client, server):
        one.close()
        network.settle()


def joined(network: Network, count: int, limit: float = 20.0) -> None:
    """Forward frames until so many joins are confirmed: the kernel makes them in a work queue, which may come late."""

    def confirms(seen: Seen) -> bool:
        segment = Segment.read(seen.frame)
        return not segment.flags & SYN and segment.option("mp_join") is not None

    last = time.monotonic() + limit
    while sum(map(confirms, network.seen)) < count:
        if time.monotonic() > last:
            raise RuntimeError(f"fewer than {count} joins within {limit} s")
        network.settle()


def alias(network: Network, host: str, last: int, *words: str, family: int = socket.AF_INET) -> None:
    """Add an address to a host's first interface, as a Multipath TCP endpoint."""
    other = "server" if host == "client" else "client"
    one, prefix, more = (f"10.0.0.{last}", 24, []) if family == socket.AF_INET else (f"2001:db8::{last}", 64, ["nodad"])
    run("ip", "address", "add", f"{one}/{prefix}", "dev", "eth0", *more, host=host)
    network.neighbour(other, one, host, 0)
    network.endpoint(host, "add", one, "dev", "eth0", *words)


def lose(*wanted: Callable[[Segment], bool]) -> Callable[[Seen], Verdict]:
    """Drops the first segment that matches each description."""
    left = list(wanted)

    def meddle(seen: Seen) -> Verdict:
        segment = Segment.read(seen.frame)
        for description in left:
            if description(segment):
                left.remove(description)
                return None
        return seen.frame

    return meddle


def checksummed(frame: bytes) -> bytes:
    """A TCP frame over IPv4 with a corrected checksum."""
    without = frame[:50] + b"\0\0" + frame[52:]
    check = headers.upper_checksum(frame[26:30], frame[30:34], 6, without[34:])
    return frame[:50] + struct.pack("!H", check) + frame[52:]


def opened_by_data(network: Network) -> tuple[socket.socket, socket.socket]:
    """A connection whose third ACK is lost, so that the listener sees it with the first data."""
    listener = network.listen("server", PORT)
    client = network.connect("client", (address("server", 0), PORT))
    network.settle(1.3)
    client.send(b"opening")
    network.settle(1.3)
    server, _ = listener.accept()
    network.sockets.append(server)
    assert server.recv(100) == b"opening"
    return client, server


def asked(options: list[tcp_options.Option]) -> bytes:
    """The stranger's SYN to the server."""
    return spoken(STRANGER, SERVER, (STRANGER_SEQUENCE, 0, SYN), options)
