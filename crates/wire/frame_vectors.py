"""The ordinary frames of `vectors.json`: TCP segments, ARP, UDP datagrams, neighbour discovery."""

from __future__ import annotations

import struct
from ipaddress import IPv6Address
from typing import Any

from headers import (
    ACK,
    ARP,
    BROADCAST,
    CLIENT,
    CLIENT4,
    CLIENT6,
    CWR,
    ECE,
    FIN,
    IPV4,
    IPV6,
    ISN,
    PSH,
    RST,
    SERVER,
    SERVER4,
    SERVER6,
    SERVICE_VLAN,
    SYN,
    SYN_OPTIONS,
    VLAN,
    ethernet,
    ipv4,
    ipv6,
    mac,
    pad,
    tcp,
    upper_checksum,
)

Vector = dict[str, Any]

SOLICITED = ("33:33:ff:00:00:02", IPv6Address("ff02::1:ff00:2"))
"""The multicast addresses of solicitations about the server."""


def tag_fields(tags: list[tuple[int, int]]) -> list[Vector]:
    """VLAN tags in the file's format."""
    return [{"tpid": f"{tpid:04x}", "tci": tci} for tpid, tci in tags]


def segments() -> dict[str, tuple[bytes, Vector]]:
    """Frames with TCP segments and their content, by name."""
    made: dict[str, tuple[bytes, Vector]] = {}

    def add(name: str, version: int, back: bool, numbers: tuple[int, int, int], **more: Any) -> None:
        hosts, ports = ([CLIENT, SERVER], (49152, 80)) if not back else ([SERVER, CLIENT], (80, 49152))
        both: tuple[Any, Any] = (CLIENT4, SERVER4) if version == 4 else (CLIENT6, SERVER6)
        ends = both[::-1] if back else both
        tags, data, tos = more.get("tags", []), more.get("data", b""), more.get("tos", 0)
        segment = tcp(ends, ports, *numbers, options=more.get("options", SYN_OPTIONS), data=data)
        if version == 4:
            packet = ipv4(*ends, 6, segment, tos=tos, options=more.get("ip_options", b""))
        else:
            protocol, before = more.get("extensions", (6, b""))
            packet = ipv6(*ends, protocol, before + segment, traffic_class=tos, flow_label=more.get("label", 0))
        frame = ethernet(hosts[1], hosts[0], IPV4 if version == 4 else IPV6, packet, tags)
        frame = pad(frame) if more.get("padded", True) else frame
        sequence, acknowledgement, flags = numbers
        addresses = {"source": hosts[0], "source_port": ports[0], "destination": hosts[1], "destination_port": ports[1]}
        ip = {"ip_source": str(ends[0]), "ip_destination": str(ends[1]), "dscp": tos >> 2, "ecn": tos & 3}
        numbered = {"sequence": sequence, "acknowledgement": acknowledgement, "flags": flags}
        made[name] = frame, {"tags": tag_fields(tags), **addresses, **ip, **numbered, "data": data.hex()}

    syn, syn_ack = (ISN, 0, SYN), (0x0BADCAFE, ISN + 1, SYN | ACK)
    add("IPv4 SYN", 4, False, syn)
    add("IPv4 SYN without options, padded", 4, False, syn, options=b"")
    add("IPv4 SYN without options or padding", 4, False, syn, options=b"", padded=False)
    add("IPv4 SYN that asks for ECN", 4, False, (ISN, 0, SYN | ECE | CWR), tos=46 << 2)
    add("IPv4 SYN with IP options", 4, False, syn, ip_options=bytes.fromhex("94040000"))
    add("IPv4 SYN with data (Fast Open)", 4, False, syn, data=b"GET / HTTP/1.0\r\n\r\n")
    add("IPv4 SYN in VLAN 42", 4, False, syn, tags=[(VLAN, 3 << 13 | 42)])
    add("IPv4 SYN with two tags, padded", 4, False, syn, options=b"", tags=[(SERVICE_VLAN, 100), (VLAN, 42)])
    add("IPv4 SYN+ACK", 4, True, syn_ack)
    add("IPv4 data", 4, False, (ISN + 1, 0x0BADCAFF, PSH | ACK), options=b"", data=b"hello", tos=2)
    add("IPv4 FIN", 4, True, (0x0BADCAFF, ISN + 6, FIN | ACK), options=b"")
    add("IPv4 RST", 4, True, (0xFFFFFFFF, 0, RST), options=b"")
    add("IPv6 SYN", 6, False, syn, label=0x98765)
    add("IPv6 SYN in VLAN 42", 6, False, syn, tags=[(VLAN, 42)])
    add("IPv6 SYN+ACK", 6, True, syn_ack, tos=1)
    extensions = bytes([60, 0, 1, 4, 0, 0, 0, 0]) + bytes([44, 0, 1, 4, 0, 0, 0, 0]) + bytes([6, 0, 0, 0, 0, 0, 0, 9])
    add("IPv6 SYN behind extension headers", 6, False, syn, extensions=(0, extensions))
    return made


def arps() -> list[Vector]:
    """ARP packets."""
    made = []
    for name, operation, sender, target, to, tags in [
        ("ARP Request", "request", (CLIENT, CLIENT4), ("00:00:00:00:00:00", SERVER4), BROADCAST, []),
        ("ARP Reply", "reply", (SERVER, SERVER4), (CLIENT, CLIENT4), CLIENT, []),
        ("ARP Request in VLAN 42", "request", (CLIENT, CLIENT4), (SERVER, SERVER4), BROADCAST, [(VLAN, 42)]),
    ]:
        start = struct.pack("!HHBBH", 1, IPV4, 6, 4, 1 if operation == "request" else 2)
        packet = start + mac(sender[0]) + sender[1].packed + mac(target[0]) + target[1].packed
        frame = pad(ethernet(to, sender[0], ARP, packet, tags))
        who = {"sender": sender[0], "sender_ip": str(sender[1]), "target": target[0], "target_ip": str(target[1])}
        made.append({"name": name, "frame": frame.hex(), "operation": operation, **who})
    return made


def datagram(ports: tuple[int, int], data: bytes, length: int | None = None) -> bytes:
    """A UDP datagram without checksum."""
    return struct.pack("!HHHH", *ports, 8 + len(data) if length is None else length, 0) + data


def datagrams() -> list[Vector]:
    """Frames with UDP datagrams."""
    made = []
    for name, whole, data in [
        ("UDP", datagram((49152, 53), b"question"), b"question"),
        ("UDP without data", datagram((0, 9), b""), b""),
        ("UDP that ends before the packet", datagram((1, 2), b"data and more", 12), b"data"),
        ("UDP cut off", datagram((1, 2), b"da", 12), b"da"),
    ]:
        frame = pad(ethernet(SERVER, CLIENT, IPV4, ipv4(CLIENT4, SERVER4, 17, whole), []))
        ports = dict(zip(("source_port", "destination_port"), struct.unpack("!HH", whole[:4]), strict=True))
        made.append({"name": name, "frame": frame.hex(), **ports, "data": data.hex()})
    return made


def neighbor(destination: tuple[str, IPv6Address], kind: int, option: bytes, hop_limit: int = 255) -> bytes:
    """A frame with a message of neighbour discovery about the server, from the client (135) or the server (136)."""
    source = (CLIENT, CLIENT6) if kind == 135 else (SERVER, SERVER6)
    flags = 0 if kind == 135 else 0x60000000
    body = struct.pack("!I", flags) + SERVER6.packed + option
    check = upper_checksum(source[1].packed, destination[1].packed, 58, struct.pack("!BBH", kind, 0, 0) + body)
    message = struct.pack("!BBH", kind, 0, check) + body
    packet = ipv6(source[1], destination[1], 58, message, hop_limit=hop_limit)
    return ethernet(destination[0], source[0], IPV6, packet, [])


def neighbors() -> list[Vector]:
    """Messages of neighbour discovery."""
    made = []
    for name, operation, frame in [
        ("Neighbor Solicitation", "solicitation", neighbor(SOLICITED, 135, b"\1\1" + mac(CLIENT))),
        ("Neighbor Advertisement", "advertisement", neighbor((CLIENT, CLIENT6), 136, b"\2\1" + mac(SERVER))),
        ("Neighbor Solicitation without option", "solicitation", neighbor((SERVER, SERVER6), 135, b"")),
    ]:
        made.append({"name": name, "frame": frame.hex(), "operation": operation, "target": str(SERVER6)})
    return made
