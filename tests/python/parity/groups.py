"""Groups with a querier: a group goes to its members and to routers (IGMP and MLD snooping)."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from .cell import Cell
from .fabric import BRIDGE, Fabric
from .frames import ICMP6, IPV4, IPV6, UDP, checksum, ether, ipv4, ipv6, udp, v4, v6
from .tap import Tap

_COUNT = 20
"""Datagrams to a group."""
_MARK = b"group"
_RESPONSE_S = 1
"""The response time that queries give."""
_ANSWERED_S = 1.3 * _RESPONSE_S
_GONE_S = 2.5 * _RESPONSE_S
"""Time after a query for a group until a member that does not answer is left out."""
_ROUTER = "02:aa:00:06:00:01"
_AT = ("h2", "h3", "h4")
_MEMBER = "h3"
_IGMP = 2
_IP_ADD_MEMBERSHIP, _IPV6_JOIN_GROUP = 35, 20


@dataclass(frozen=True)
class _Family:
    """A version of IP, with groups and a router's address."""

    name: str
    group: str
    local: str
    router: str

    @property
    def is_v6(self) -> bool:
        return self.name == "IPv6"

    def mac(self, group: str) -> str:
        """The Ethernet address of a group."""
        address = ipaddress.ip_address(group).packed
        low = address[-4:] if self.is_v6 else bytes([address[1] & 0x7F, *address[2:]])
        return ("33:33:" if self.is_v6 else "01:00:5e:") + ":".join(f"{byte:02x}" for byte in low)

    def datagram(self, group: str) -> bytes:
        """A datagram to a group."""
        data = udp(_MARK + bytes(20))
        packet = ipv6(self.router, group, UDP, data) if self.is_v6 else ipv4(self.router, group, UDP, data)
        return ether(self.mac(group), _ROUTER, IPV6 if self.is_v6 else IPV4, packet)

    def query(self, group: str | None = None) -> bytes:
        """A router's query for one group, or for all."""
        if self.is_v6:
            to = group or "ff02::1"
            message = struct.pack("!BBHHH", 130, 0, 0, 1000 * _RESPONSE_S, 0) + v6(group or "::")
            pseudo = v6(self.router) + v6(to) + struct.pack("!II", len(message), ICMP6)
            message = message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]
            alert = bytes([ICMP6, 0, 5, 2, 0, 0, 1, 0])
            return ether(self.mac(to), _ROUTER, IPV6, ipv6(self.router, to, 0, alert + message, hops=1))
        to = group or "224.0.0.1"
        message = struct.pack("!BBH", 0x11, 10 * _RESPONSE_S, 0) + v4(group or "0.0.0.0")
        message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
        return ether(self.mac(to), _ROUTER, IPV4, ipv4(self.router, to, _IGMP, message, options=b"\x94\x04\0\0"))


_FAMILIES = (
    _Family("IPv4", "239.1.2.3", "224.0.0.251", "10.0.98.1"),
    _Family("IPv6", "ff0e::5:1", "ff02::1", "fe80::6:1"),
)


def measure(fabric: Fabric) -> dict[str, Cell]:
    """All rows."""
    cells = {}
    with _snooping(fabric), Tap(fabric.spaces["h1"]) as router:
        for family in _FAMILIES:
            cell = cells[f"{family.name} groups, with a querier"] = Cell()
            group = family.datagram(family.group)
            router.send(family.query())
            time.sleep(_ANSWERED_S)
            cell.fact("unknown group", _heard(fabric, router, group), [_COUNT] * 3)
            with _member(fabric, family):
                time.sleep(_ANSWERED_S)
                cell.fact("to members", _heard(fabric, router, group), [0, _COUNT, 0])
                cell.fact("to all hosts", _heard(fabric, router, family.datagram(family.local)), [_COUNT] * 3)
                for query in (family.query(), family.query(family.group)):
                    router.send(query)
                    time.sleep(_GONE_S)
                cell.fact("to members that answered", _heard(fabric, router, group), [0, _COUNT, 0])
            router.send(family.query(family.group))
            time.sleep(_GONE_S)
            cell.fact("without members", _heard(fabric, router, group), [0, 0, 0])
    return cells


@contextlib.contextmanager
def _snooping(fabric: Fabric) -> Iterator[None]:
    """Turn on the snooping of bridges; the Linux switch's is on."""
    names = fabric.ports if fabric.kind == BRIDGE else ()
    for name in names:
        fabric.spaces[name].ip("link set dev br0 type bridge mcast_snooping 1")
    yield
    for name in names:
        fabric.spaces[name].ip("link set dev br0 type bridge mcast_snooping 0")


@contextlib.contextmanager
def _member(fabric: Fabric, family: _Family) -> Iterator[None]:
    """A kernel that is a member of the group."""
    space = fabric.spaces[_MEMBER]
    with space.socket(socket.AF_INET6 if family.is_v6 else socket.AF_INET, socket.SOCK_DGRAM) as one:
        if family.is_v6:
            with space.entered():
                index = socket.if_nametoindex("eth0")
            one.setsockopt(socket.IPPROTO_IPV6, _IPV6_JOIN_GROUP, v6(family.group) + struct.pack("i", index))
        else:
            one.setsockopt(socket.IPPROTO_IP, _IP_ADD_MEMBERSHIP, v4(family.group) + v4(f"10.0.0.{_MEMBER[1:]}"))
        yield


def _heard(fabric: Fabric, router: Tap, frame: bytes) -> list[int]:
    """How many of the frames arrive at each of the other hosts."""
    taps = [Tap(fabric.spaces[host]) for host in _AT]
    for _ in range(_COUNT):
        router.send(frame)
    time.sleep(0.2)
    counts = [sum(one.frame == frame for one in tap.read()) for tap in taps]
    for tap in taps:
        tap.close()
    return counts
