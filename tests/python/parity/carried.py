"""Frames of all kinds: each arrives as often as behind a bridge, at the same hosts, byte for byte."""

from __future__ import annotations

import contextlib
import struct
from collections import Counter
from collections.abc import Callable
from typing import Any

from waiting import NeverError, paced, until

from .cell import Cell
from .fabric import Fabric
from .frames import (
    ARP,
    BROADCAST,
    IPV4,
    IPV6,
    REPLY,
    REQUEST,
    TCP,
    UDP,
    advertisement,
    arp,
    ether,
    gratuitous,
    icmp6,
    ipv4,
    ipv6,
    mac,
    solicitation,
    syn,
    udp,
    v6,
)
from .stations import Address, address, introduce
from .tap import Tap

_A, _B = address(1), address(2)
_A6, _B6 = "fd00:aa::1", "fd00:aa::2"
_REPEATS = 3
Kind = Callable[[bytes], bytes]
"""From an 18-byte mark, which identifies a frame, to the frame or a part of it; `bytes` is the mark alone."""
Tags = tuple[tuple[int, int], ...]


def _frame(to: str, kind: int, body: Kind, tags: Tags = ()) -> Kind:
    return lambda mark: ether(to, _A[0], kind, body(mark), tags)


def _to(to: str, kind: int, head: bytes = b"", tags: Tags = ()) -> Kind:
    return _frame(to, kind, lambda mark: head + mark + bytes(40), tags)


def _ip(protocol: int, body: Kind, tags: Tags = (), to: Address = _B, **more: Any) -> Kind:
    return _frame(to[0], IPV4, lambda mark: ipv4(_A[1], to[1], protocol, body(mark), **more), tags)


def _ip6(following: int, body: Kind, tags: Tags = (), to: Address = (_B[0], _B6)) -> Kind:
    return _frame(to[0], IPV6, lambda mark: ipv6(_A6, to[1], following, body(mark)), tags)


def _damaged(damage: Callable[[bytes], bytes]) -> Kind:
    """A datagram over IPv4, damaged."""
    return _frame(_B[0], IPV4, lambda mark: damage(ipv4(_A[1], _B[1], UDP, udp(mark))))


def _flagged(flags: int) -> Kind:
    """A segment over IPv4 with these flags."""
    return _ip(TCP, lambda mark: syn(mark)[:13] + bytes([flags]) + syn(mark)[14:])


def _options(following: int) -> bytes:
    return struct.pack("!BBBB", following, 0, 1, 4) + bytes(4)


def _routing(following: int) -> bytes:
    return struct.pack("!BBBBI", following, 2, 4, 0, 0) + bytes(16)


def _fragment(following: int, offset: int, more: bool, number: int = 77) -> bytes:
    return struct.pack("!BBHI", following, 0, offset | more, number)


def _cut(kind: Kind, length: int) -> Kind:
    return lambda mark: kind(mark)[:length]


_C, _S = (0x8100, 7), (0x88A8, 9)
_TAGS = {
    "untagged": (),
    "priority tag": ((0x8100, 0xE000),),
    "one tag": (_C,),
    "two tags": (_S, _C),
    "two C-tags": (_C, (0x8100, 8)),
}
_GROUPS = {
    "mDNS": ("01:00:5e:00:00:fb", "224.0.0.251"),
    "all hosts": ("01:00:5e:00:00:01", "224.0.0.1"),
    "OSPF": ("01:00:5e:00:00:05", "224.0.0.5"),
    "SSDP": ("01:00:5e:7f:ff:fa", "239.255.255.250"),
    "a group": ("01:00:5e:01:02:03", "239.1.2.3"),
}
_GROUPS6 = {
    "mDNS": ("33:33:00:00:00:fb", "ff02::fb"),
    "all nodes": ("33:33:00:00:00:01", "ff02::1"),
    "all routers": ("33:33:00:00:00:02", "ff02::2"),
    "MLD": ("33:33:00:00:00:16", "ff02::16"),
    "a group": ("33:33:00:00:12:34", "ff0e::1234"),
}

KNOWN: dict[str, dict[str, Kind]] = {
    "VLAN tags": {
        f"{what}, {name}": kind
        for name, tags in _TAGS.items()
        for what, kind in {
            "IPv4": _ip(UDP, udp, tags),
            "IPv6": _ip6(UDP, udp, tags),
            "SYN": _ip(TCP, syn, tags),
            "SYN of IPv6": _ip6(TCP, syn, tags),
            "unknown EtherType": _to(_B[0], 0x88B5, tags=tags),
        }.items()
    },
    "IPv6 extension headers": {
        "hop-by-hop": _ip6(0, lambda mark: _options(UDP) + udp(mark)),
        "routing": _ip6(43, lambda mark: _routing(UDP) + udp(mark)),
        "destination options": _ip6(60, lambda mark: _options(UDP) + udp(mark)),
        "all, SYN": _ip6(0, lambda mark: _options(43) + _routing(60) + _options(TCP) + syn(mark)),
        "hop-by-hop, SYN": _ip6(0, lambda mark: _options(TCP) + syn(mark)),
        "destination options, SYN": _ip6(60, lambda mark: _options(TCP) + syn(mark)),
        "fragment header, whole, SYN": _ip6(44, lambda mark: _fragment(TCP, 0, False) + syn(mark)),
        "authentication": _ip6(51, lambda mark: struct.pack("!BBHII", UDP, 4, 0, 1, 1) + bytes(12) + udp(mark)),
        "ESP": _ip6(50, lambda mark: struct.pack("!II", 1, 1) + mark + bytes(16)),
        "no next header": _ip6(59, bytes),
        "unknown protocol": _ip6(253, bytes),
        "truncated header": _ip6(0, lambda mark: b"\x06\x09" + mark),
    },
    "fragments": {
        "IPv4, first": _ip(UDP, udp, flags=0x2000),
        "IPv4, middle": _ip(UDP, bytes, flags=0x2000 | 185),
        "IPv4, last": _ip(UDP, bytes, flags=370),
        "IPv4, first of a SYN": _ip(TCP, syn, flags=0x2000),
        "IPv4, later one of TCP": _ip(TCP, bytes, flags=185),
        "IPv6, first": _ip6(44, lambda mark: _fragment(UDP, 0, True) + udp(mark)),
        "IPv6, last": _ip6(44, lambda mark: _fragment(UDP, 1448, False) + mark),
        "IPv6, first of a SYN": _ip6(44, lambda mark: _fragment(TCP, 0, True) + syn(mark)),
    },
    "other protocols": {
        "IPv4 options": _ip(UDP, udp, options=bytes([148, 4, 0, 0])),
        "IPv4 options, SYN": _ip(TCP, syn, options=bytes([148, 4, 0, 0])),
        "GRE": _ip(47, bytes),
        "SCTP": _ip(132, bytes),
        "ICMP": _ip(1, lambda mark: b"\x08\0\0\0\0\1\0\1" + mark),
        "unicast ARP Request": lambda mark: arp(REQUEST, _A, (_B[0], _B[1]), to=_B[0])[:42] + mark,
        "unicast NS": _frame(
            _B[0], IPV6, lambda mark: icmp6(_A6, _B6, 135, bytes(4) + v6(_B6) + b"\1\1" + mac(_A[0])) + mark
        ),
        "RARP": _to(_B[0], 0x8035),
        "MPLS": _to(_B[0], 0x8847),
        "PPPoE discovery": _to(_B[0], 0x8863),
        "PPPoE session": _to(_B[0], 0x8864),
        "802.1X to a station": _to(_B[0], 0x888E),
        "FCoE": _to(_B[0], 0x8906),
        "PTP": _to(_B[0], 0x88F7),
        "local experimental": _to(_B[0], 0x88B6),
        "EtherType 0xffff": _to(_B[0], 0xFFFF),
        "LLC": lambda mark: ether(_B[0], _A[0], 3 + 18, b"\x42\x42\x03" + mark),
        "SNAP": lambda mark: ether(_B[0], _A[0], 8 + 18, b"\xaa\xaa\x03\0\0\0\x88\xb5" + mark),
        "three VLAN tags": _to(_B[0], 0x88B5, tags=(_S, _C, _C)),
    },
    "runts": {
        **{
            f"{length} bytes, {name}": _cut(_to(_B[0], kind), length)
            for length in (14, 15, 20, 34, 46, 59)
            for name, kind in (("IPv4", IPV4), ("IPv6", IPV6), ("ARP", ARP), ("unknown EtherType", 0x88B5))
        },
        "IPv4 header only": _cut(_ip(UDP, udp), 34),
        "truncated UDP header": _cut(_ip(UDP, udp), 38),
        "truncated TCP header": _cut(_ip(TCP, syn), 40),
        "IPv6 header only": _cut(_ip6(TCP, syn), 54),
    },
    "invalid IP packets": {
        "IPv4, version 5": _damaged(lambda packet: b"\x55" + packet[1:]),
        "IPv4, short header length": _damaged(lambda packet: b"\x43" + packet[1:]),
        "IPv4, longer than the frame": _cut(_ip(UDP, lambda mark: udp(mark + bytes(500))), 74),
        "IPv4, truncated SYN": _frame(_B[0], IPV4, lambda mark: ipv4(_A[1], _B[1], TCP, syn(mark))[:30] + mark),
        "IPv4, wrong checksum": _damaged(lambda packet: packet.replace(b"\x40\x11", b"\x3f\x11", 1)),
        "IPv6, version 4": _frame(_B[0], IPV6, lambda mark: b"\x40" + ipv6(_A6, _B6, UDP, udp(mark))[1:]),
        "SYN with FIN": _flagged(0x03),
        "SYN with RST": _flagged(0x06),
        "segment without flags": _flagged(0),
    },
}


def _dhcp(mark: bytes) -> bytes:
    return ipv4("0.0.0.0", _ALL[1], UDP, udp(mark + bytes(230), source=68, to=67))


_ALL = (BROADCAST, "255.255.255.255")
_NOBODY = "00:00:00:00:00:00"
_QUESTION = arp(REQUEST, _A, (_NOBODY, "10.0.99.99"))[:42]
GROUPS: dict[str, dict[str, Kind]] = {
    "multicast": {
        **{f"IPv4, {name}": _ip(UDP, udp, to=to) for name, to in _GROUPS.items()},
        **{f"IPv6, {name}": _ip6(UDP, udp, to=to) for name, to in _GROUPS6.items()},
        "IGMP": _ip(2, bytes, to=("01:00:5e:00:00:16", "224.0.0.22"), options=bytes([148, 4, 0, 0])),
        "MLD with hop-by-hop": _frame(
            _GROUPS6["MLD"][0],
            IPV6,
            lambda mark: ipv6("fe80::1", "ff02::16", 0, _options(58) + b"\x8f\0" + mark, hops=1),
        ),
        "fragment": _ip(UDP, bytes, to=_GROUPS["a group"], flags=0x2000 | 185),
        "one tag": _ip(UDP, udp, (_C,), _GROUPS["mDNS"]),
        "two tags": _ip6(UDP, udp, (_S, _C), _GROUPS6["mDNS"]),
        "PTP": _to("01:1b:19:00:00:00", 0x88F7),
        "CDP": lambda mark: ether("01:00:0c:cc:cc:cc", _A[0], 8 + 18, b"\xaa\xaa\x03\0\0\x0c\x20\0" + mark),
        "IS-IS": lambda mark: ether("01:80:c2:00:00:14", _A[0], 3 + 18, b"\xfe\xfe\x03" + mark),
        "MVRP": _to("01:80:c2:00:00:21", 0x88F5),
        "unknown EtherType": _to("03:00:00:00:00:01", 0x88B5),
        "runt": _cut(_to("01:00:5e:00:00:fb", IPV4), 20),
    },
    "broadcast": {
        "UDP": _ip(UDP, udp, to=_ALL),
        "UDP, one tag": _ip(UDP, udp, (_C,), _ALL),
        "DHCP": _frame(BROADCAST, IPV4, _dhcp),
        "ARP Request": lambda mark: _QUESTION + mark,
        "ARP Request, one tag": _frame(BROADCAST, ARP, lambda mark: _QUESTION[14:] + mark, (_C,)),
        "ARP Request, two tags": _frame(BROADCAST, ARP, lambda mark: _QUESTION[14:] + mark, (_S, _C)),
        "ARP probe": lambda mark: arp(REQUEST, (_A[0], "0.0.0.0"), (_NOBODY, "10.0.99.98"))[:42] + mark,
        "ARP Reply": lambda mark: arp(REPLY, _A, (BROADCAST, "10.0.99.99"))[:42] + mark,
        "RARP": _to(BROADCAST, 0x8035),
        "Wake-on-LAN": _to(BROADCAST, 0x0842, b"\xff" * 6),
        "unknown EtherType": _to(BROADCAST, 0x88B5),
        "LLC": lambda mark: ether(BROADCAST, _A[0], 3 + 18, b"\x42\x42\x03" + mark),
        "runt of IPv4": _cut(_to(BROADCAST, IPV4), 20),
        "runt of ARP": _cut(_to(BROADCAST, ARP), 30),
    },
    "gratuitous ARP and Neighbour Advertisements": {
        "ARP Request": lambda mark: gratuitous(REQUEST, _A)[:42] + mark,
        "ARP Reply": lambda mark: gratuitous(REPLY, _A)[:42] + mark,
        "ARP announcement, one tag": _frame(BROADCAST, ARP, lambda mark: gratuitous(REQUEST, _A)[14:42] + mark, (_C,)),
        "unsolicited NA": lambda mark: advertisement((_A[0], _A6)) + mark,
        "NS": lambda mark: solicitation((_A[0], _A6), "fd00:aa::77") + mark,
        "NS of DAD": lambda mark: solicitation((_A[0], "::"), "fd00:aa::78") + mark,
        "RS": lambda mark: ether("33:33:00:00:00:02", _A[0], IPV6, icmp6("fe80::1", "ff02::2", 133, bytes(4)) + mark),
        "RA": lambda mark: ether("33:33:00:00:00:01", _A[0], IPV6, icmp6("fe80::1", "ff02::1", 134, bytes(12)) + mark),
    },
    "unicast to an unknown station": {
        "IPv4": _ip(UDP, udp, to=("02:bb:00:00:00:01", "10.0.99.1")),
        "IPv6": _ip6(UDP, udp, to=("02:bb:00:00:00:02", "fd00:aa::99")),
        "one tag": _ip(UDP, udp, (_C,), ("02:bb:00:00:00:03", "10.0.99.1")),
        "SYN": _ip(TCP, syn, to=("02:bb:00:00:00:04", "10.0.99.1")),
        "unknown EtherType": _to("02:bb:00:00:00:05", 0x88B5),
    },
}
NOWHERE: dict[str, dict[str, Kind]] = {
    # The receiving machine's kernel drops them before any switch sees them.
    "runts of a VLAN tag": {
        "tag only": _cut(_to(_B[0], 0x88B5, tags=(_C,)), 18),
        "truncated tag": _cut(_to(_B[0], 0x88B5, tags=(_C,)), 16),
    },
    "invalid addresses": {
        "group source": lambda mark: ether(_B[0], "03:00:00:00:00:01", 0x88B5, mark),
        "broadcast source": lambda mark: ether(_B[0], BROADCAST, 0x88B5, mark),
        "broadcast source, broadcast": lambda mark: ether(BROADCAST, BROADCAST, 0x88B5, mark),
        "no source": lambda mark: ether(_B[0], "00:00:00:00:00:00", 0x88B5, mark),
        "to itself": lambda mark: ether(_A[0], _A[0], 0x88B5, mark),
    },
    "LLDP and other link-local frames": {
        "pause": _to("01:80:c2:00:00:01", 0x8808),
        "LACP": _to("01:80:c2:00:00:02", 0x8809),
        "802.1X": _to("01:80:c2:00:00:03", 0x888E),
        "LLDP": _to("01:80:c2:00:00:0e", 0x88CC),
    },
}
SPANNING_TREE: dict[str, Kind] = {
    "STP": lambda mark: ether("01:80:c2:00:00:00", _A[0], 3 + 18, b"\x42\x42\x03" + mark),
}
OWN: dict[str, Kind] = {
    "Hello to a station": _to(_B[0], 0xFF70),
    "Path frame to a station": _to(_B[0], 0xFFAF),
    "Path frame to all": _to(BROADCAST, 0xFFAF),
}
_JUMBO = bytes(8900)
JUMBO: dict[str, Kind] = {
    "UDP": _ip(UDP, lambda mark: udp(mark + _JUMBO)),
    "UDP of IPv6": _ip6(UDP, lambda mark: udp(mark + _JUMBO)),
    "SYN": _ip(TCP, lambda mark: syn(mark + _JUMBO)),
    "one tag": _ip(UDP, lambda mark: udp(mark + _JUMBO), (_C,)),
    "two tags": _ip(UDP, lambda mark: udp(mark + _JUMBO), (_S, _C)),
    "unknown EtherType": _to(_B[0], 0x88B5, _JUMBO),
}
_HOSTS = ("h1", "h2", "h3", "h4")
_LOST_S = 3.0
"""Seconds after which a frame counts as lost."""
_TO_B, _TO_ALL, _TO_NONE = [0, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0]


def measure(fabric: Fabric) -> dict[str, Cell]:
    """One row per group of kinds."""
    taps = {host: Tap(fabric.spaces[host]) for host in _HOSTS}
    cells = {}
    for kinds, should in ((KNOWN, _TO_B), (GROUPS, _TO_ALL), (NOWHERE, _TO_NONE)):
        for row, of_row in kinds.items():
            cells[row] = _row(taps, dict.fromkeys(of_row, should), of_row)
    cells["STP"] = _row(taps, {"STP": _TO_ALL}, SPANNING_TREE)
    own = {name: _TO_ALL if name.endswith("all") else _TO_B for name in OWN}
    cells["Weft's own EtherTypes, from hosts"] = _row(taps, own, OWN)
    for host in _HOSTS:
        fabric.spaces[host].ip("link set dev eth0 mtu 9000")
    cells["jumbo frames"] = _row(taps, dict.fromkeys(JUMBO, _TO_B), JUMBO)
    for host in _HOSTS:
        fabric.spaces[host].ip("link set dev eth0 mtu 1500")
    for tap in taps.values():
        tap.close()
    return cells


def _row(taps: dict[str, Tap], should: dict[str, list[int]], kinds: dict[str, Kind]) -> Cell:
    cell = Cell()
    sent: dict[str, list[bytes]] = {}
    arrived: dict[str, Counter[bytes]] = {host: Counter() for host in _HOSTS}
    for name, kind in kinds.items():
        # Refresh both stations, so that only frames to groups or unknown stations are flooded.
        introduce((taps["h1"], _A), (taps["h3"], _B), patience=0.5)
        for tap in taps.values():
            tap.listen(0.01)
        sent[name] = [kind(struct.pack("!I", 0x57EF0000 + at) + bytes(14)) for at in range(_REPEATS)]
        for _, frame in zip(paced(0.005), sent[name], strict=False):
            taps["h1"].send(frame)
        # Whatever else arrives does so before a frame that is sent later to all.
        mark = ether(BROADCAST, _A[0], 0x88B7, b"after " + sent[name][0][:40])

        def read_all(name: str = name, mark: bytes = mark) -> bool:
            for host, tap in taps.items():
                arrived[host].update(heard.frame for heard in tap.read())
            due = all(
                arrived[host][frame] >= wanted
                for host, wanted in zip(_HOSTS, should[name], strict=True)
                for frame in set(sent[name])
            )
            return due and all(arrived[host][mark] for host in _HOSTS[1:])

        taps["h1"].send(mark)
        with contextlib.suppress(NeverError):  # Then some are lost, which is recorded.
            until(name, read_all, patience_s=_LOST_S)
        found = [sum(arrived[host][frame] for frame in set(sent[name])) / _REPEATS for host in _HOSTS]
        cell.fact(name, [round(count, 2) for count in found], should[name])
        for counter in arrived.values():
            counter.clear()
    return cell
