"""The ordinary headers, Ethernet to TCP, and the stations of the test vectors, with Python's standard library only."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address, IPv6Address
from typing import Any

IPV4, ARP, VLAN, IPV6, SERVICE_VLAN = 0x0800, 0x0806, 0x8100, 0x86DD, 0x88A8
FIN, SYN, RST, PSH, ACK, ECE, CWR = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80

BROADCAST = "ff:ff:ff:ff:ff:ff"
CLIENT, SERVER, SWITCH = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:77:00:00:00:07"
CLIENT4, SERVER4 = IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")
CLIENT6, SERVER6 = IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2")
ISN = 0x1A2B3C4D
SYN_OPTIONS = bytes.fromhex("020405b4 0402080a 00000001 00000000 01030307")
"""Maximum segment size 1460, SACK permitted, timestamps, window scale 7, as sent by Linux."""

MIN_FRAME = 60


def mac(address: str) -> bytes:
    """The six bytes of a MAC address."""
    return bytes.fromhex(address.replace(":", ""))


def pad(frame: bytes) -> bytes:
    """The frame padded to the Ethernet minimum, without frame check sequence."""
    return frame.ljust(MIN_FRAME, b"\0")


def ethernet(destination: str, source: str, ethertype: int, payload: bytes, tags: list[tuple[int, int]]) -> bytes:
    """A frame; `tags` are (TPID, TCI), the outer one first."""
    between = b"".join(struct.pack("!HH", *tag) for tag in tags)
    return mac(destination) + mac(source) + between + struct.pack("!H", ethertype) + payload


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def upper_checksum(source: bytes, destination: bytes, protocol: int, data: bytes) -> int:
    """The checksum of TCP or ICMPv6, over the pseudo-header too (RFC 9293, section 3.1; RFC 8200, section 8.1)."""
    layout = "!BBH" if len(source) == 4 else "!I3xB"
    rest = (0, protocol, len(data)) if len(source) == 4 else (len(data), protocol)
    return checksum(source + destination + struct.pack(layout, *rest) + data)


def ipv4(source: IPv4Address, destination: IPv4Address, protocol: int, payload: bytes, **fields: Any) -> bytes:
    """An IPv4 packet; `fields` are tos, fragment (flags and offset) and options."""
    options: bytes = fields.get("options", b"")
    words = 5 + len(options) // 4
    length = 4 * words + len(payload)
    fragment = fields.get("fragment", 0x4000)
    start = struct.pack("!BBHHHBB", 4 << 4 | words, fields.get("tos", 0), length, 0, fragment, 64, protocol)
    ends = source.packed + destination.packed + options
    return start + struct.pack("!H", checksum(start + b"\0\0" + ends)) + ends + payload


def ipv6(source: IPv6Address, destination: IPv6Address, protocol: int, payload: bytes, **fields: Any) -> bytes:
    """An IPv6 packet; `fields` are traffic_class, flow_label and hop_limit."""
    first = 6 << 28 | fields.get("traffic_class", 0) << 20 | fields.get("flow_label", 0)
    start = struct.pack("!IHBB", first, len(payload), protocol, fields.get("hop_limit", 64))
    return start + source.packed + destination.packed + payload


def tcp(
    ends: tuple[Any, Any], ports: tuple[int, int], sequence: int, acknowledgement: int, flags: int, **more: bytes
) -> bytes:
    """A TCP segment between two IP addresses; `more` are options and data."""
    options, data = more.get("options", b""), more.get("data", b"")
    offset = 5 + len(options) // 4
    numbers = struct.pack("!HHIIBBH", *ports, sequence, acknowledgement, offset << 4, flags, 64240)
    check = upper_checksum(ends[0].packed, ends[1].packed, 6, numbers + b"\0" * 4 + options + data)
    return numbers + struct.pack("!HH", check, 0) + options + data
