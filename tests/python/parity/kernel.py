"""Traffic between kernels: large datagrams, multicast groups joined by sockets, bulk TCP."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import struct
import threading

from waiting import paced

from .cell import Cell
from .fabric import Fabric

_BULK = 20_000_000
_PORT = 6000
_MARK = 20
"""The number of the datagram after all others."""
_PATIENCE_S = 5.0
"""Time after which a datagram counts as lost."""
_LISTENERS = ("h2", "h3", "h4")
_IP_MULTICAST_IF, _IP_ADD_MEMBERSHIP = 32, 35


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    cells = {"large datagrams, fragmented": _datagrams(fabric), "multicast groups joined by sockets": _groups(fabric)}
    cells["TCP, 20 MB"] = _bulk(fabric)
    hosts = ("h1", "h3")
    for host in hosts:
        fabric.spaces[host].ip("link set dev eth0 mtu 9000")
    cells["TCP, 20 MB in jumbo frames"] = _bulk(fabric)
    for host in hosts:
        fabric.spaces[host].ip("link set dev eth0 mtu 1500")
    return cells


def _address(family: int, host: str) -> str:
    return f"10.0.0.{host[1:]}" if family == socket.AF_INET else f"fd00::{host[1:]}"


def _datagrams(fabric: Fabric) -> Cell:
    cell = Cell()
    for family, name in ((socket.AF_INET, "IPv4"), (socket.AF_INET6, "IPv6")):
        with (
            fabric.spaces["h3"].socket(family, socket.SOCK_DGRAM) as receiver,
            fabric.spaces["h1"].socket(family, socket.SOCK_DGRAM) as sender,
        ):
            receiver.bind((_address(family, "h3"), _PORT))
            receiver.settimeout(_PATIENCE_S)
            for size in (1473, 4000, 30_000, 60_000):
                sent = [os.urandom(size) for _ in range(3)]
                whole = 0
                for data in sent:
                    sender.sendto(data, (_address(family, "h3"), _PORT))
                    with contextlib.suppress(TimeoutError):
                        whole += receiver.recv(65536) == data
                cell.fact(f"{name}, {size} bytes, whole", whole, 3)
    return cell


def _groups(fabric: Fabric) -> Cell:
    cell = Cell()
    for family, name, group in (
        (socket.AF_INET, "IPv4, mDNS", "224.0.0.251"),
        (socket.AF_INET, "IPv4, a group", "239.1.2.3"),
        (socket.AF_INET6, "IPv6, mDNS", "ff02::fb"),
        (socket.AF_INET6, "IPv6, a group", "ff0e::1234"),
    ):
        with contextlib.ExitStack() as stack:
            listeners = []
            for host in _LISTENERS:
                listener = stack.enter_context(fabric.spaces[host].socket(family, socket.SOCK_DGRAM))
                listener.bind(("", _PORT + 1))
                _join(fabric, host, listener, family, group)
                listener.settimeout(_PATIENCE_S)
                listeners.append(listener)
            sender = stack.enter_context(fabric.spaces["h1"].socket(family, socket.SOCK_DGRAM))
            with fabric.spaces["h1"].entered():
                index = socket.if_nametoindex("eth0")
            if family == socket.AF_INET:
                sender.setsockopt(socket.IPPROTO_IP, _IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), index))
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 4)
            else:
                sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
                sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 4)
            for _, number in zip(paced(0.01), range(_MARK + 1), strict=False):
                sender.sendto(struct.pack("!I", number), (group, _PORT + 1))
            cell.fact(f"{name}, at each listener", [_all(listener) for listener in listeners], [list(range(_MARK))] * 3)
    return cell


def _join(fabric: Fabric, host: str, listener: socket.socket, family: int, group: str) -> None:
    with fabric.spaces[host].entered():
        index = socket.if_nametoindex("eth0")
    packed = socket.inet_pton(family, group)
    if family == socket.AF_INET:
        listener.setsockopt(socket.IPPROTO_IP, _IP_ADD_MEMBERSHIP, struct.pack("4s4si", packed, bytes(4), index))
    else:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, packed + struct.pack("@I", index))


def _all(listener: socket.socket) -> list[int]:
    """The numbers that arrive before the last one."""
    numbers: list[int] = []
    with contextlib.suppress(TimeoutError):
        while _MARK not in numbers:
            numbers.append(struct.unpack("!I", listener.recv(4))[0])
    return [number for number in numbers if number != _MARK]


def _bulk(fabric: Fabric) -> Cell:
    """Bulk TCP with the default offloads of virtual interfaces."""
    cell = Cell()
    data = os.urandom(_BULK)
    for family, name in ((socket.AF_INET, "IPv4"), (socket.AF_INET6, "IPv6")):
        with (
            fabric.spaces["h3"].socket(family, socket.SOCK_STREAM) as listener,
            fabric.spaces["h1"].socket(family, socket.SOCK_STREAM) as client,
        ):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((_address(family, "h3"), _PORT))
            listener.listen(1)
            listener.settimeout(_PATIENCE_S)
            client.settimeout(_PATIENCE_S)
            digest = hashlib.sha256()
            reader = threading.Thread(target=_receive, args=(listener, digest))
            reader.start()
            with contextlib.suppress(OSError):
                client.connect((_address(family, "h3"), _PORT))
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
            reader.join()
            cell.fact(f"{name}, whole", digest.digest() == hashlib.sha256(data).digest(), True)
    return cell


def _receive(listener: socket.socket, digest: hashlib._Hash) -> None:
    with contextlib.suppress(OSError):
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(_PATIENCE_S)
            while data := connection.recv(1 << 16):
                digest.update(data)
