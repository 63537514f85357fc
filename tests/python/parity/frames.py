"""Frames as bytes: valid and invalid ones, as sent by hosts."""

from __future__ import annotations

import ipaddress
import struct

BROADCAST = "ff:ff:ff:ff:ff:ff"
IPV4, ARP, IPV6 = 0x0800, 0x0806, 0x86DD
UDP, TCP, ICMP6, VRRP = 17, 6, 58, 112
REQUEST, REPLY = 1, 2


def mac(text: str) -> bytes:
    """The six bytes of an address."""
    return bytes.fromhex(text.replace(":", ""))


def v4(text: str) -> bytes:
    """The four bytes of an address."""
    return ipaddress.IPv4Address(text).packed


def v6(text: str) -> bytes:
    """The sixteen bytes of an address."""
    return ipaddress.IPv6Address(text).packed


def ether(to: str, source: str, kind: int, payload: bytes, tags: tuple[tuple[int, int], ...] = ()) -> bytes:
    """A frame, with VLAN tags as pairs of TPID and TCI, without padding."""
    between = b"".join(struct.pack("!HH", tpid, tci) for tpid, tci in tags)
    return mac(to) + mac(source) + between + struct.pack("!H", kind) + payload


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def arp(operation: int, sender: tuple[str, str], target: tuple[str, str], *, to: str = BROADCAST) -> bytes:
    """An ARP frame; sender and target are pairs of MAC and IPv4 address."""
    body = struct.pack("!HHBBH", 1, IPV4, 6, 4, operation)
    body += mac(sender[0]) + v4(sender[1]) + mac(target[0]) + v4(target[1])
    return ether(to, sender[0], ARP, body + bytes(18))


def gratuitous(operation: int, address: tuple[str, str]) -> bytes:
    """A gratuitous ARP Request or Reply (RFC 5227)."""
    target = "00:00:00:00:00:00" if operation == REQUEST else BROADCAST
    return arp(operation, address, (target, address[1]))


def ipv4(source: str, to: str, protocol: int, payload: bytes, *, options: bytes = b"", flags: int = 0) -> bytes:
    """A packet; `flags` is the field with flags and fragment offset."""
    words = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH", 0x40 | words, 0, words * 4 + len(payload), 7, flags, 64, protocol, 0)
    head += v4(source) + v4(to) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(source: str, to: str, following: int, payload: bytes, *, hops: int = 64) -> bytes:
    """A packet; extension headers are part of `payload`."""
    return struct.pack("!IHBB", 6 << 28, len(payload), following, hops) + v6(source) + v6(to) + payload


def udp(data: bytes, *, source: int = 4000, to: int = 4001) -> bytes:
    """A datagram without a checksum, which is not checked on the way."""
    return struct.pack("!HHHH", source, to, 8 + len(data), 0) + data


def syn(data: bytes, *, source: int = 4000, to: int = 80) -> bytes:
    """A SYN with data and without a checksum."""
    return struct.pack("!HHIIBBHHH", source, to, 1, 0, 0x50, 2, 64240, 0, 0) + data


def icmp6(source: str, to: str, kind: int, body: bytes) -> bytes:
    """An ICMPv6 message in its packet, with its checksum, hop limit 255."""
    message = struct.pack("!BBH", kind, 0, 0) + body
    pseudo = v6(source) + v6(to) + struct.pack("!II", len(message), ICMP6)
    message = message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]
    return ipv6(source, to, ICMP6, message, hops=255)


def solicited_group(address: str) -> tuple[str, str]:
    """The solicited-node group of an address: MAC and IPv6 address (RFC 4291, 2.7.1)."""
    low = v6(address)[13:]
    group = ipaddress.IPv6Address(v6("ff02::1:ff00:0")[:13] + low)
    return "33:33:ff:" + ":".join(f"{byte:02x}" for byte in low), str(group)


def solicitation(source: tuple[str, str], target: str) -> bytes:
    """A Neighbour Solicitation; from `::` it is Duplicate Address Detection."""
    group_mac, group = solicited_group(target)
    option = b"" if source[1] == "::" else b"\x01\x01" + mac(source[0])
    return ether(group_mac, source[0], IPV6, icmp6(source[1], group, 135, bytes(4) + v6(target) + option))


def advertisement(source: tuple[str, str]) -> bytes:
    """An unsolicited Neighbour Advertisement to all nodes."""
    body = struct.pack("!I", 0x20000000) + v6(source[1]) + b"\x02\x01" + mac(source[0])
    return ether("33:33:00:00:00:01", source[0], IPV6, icmp6(source[1], "ff02::1", 136, body))


def virtual_router(number: int) -> str:
    """The MAC address of a virtual router for IPv4 (RFC 9568, 7.3)."""
    return f"00:00:5e:00:01:{number:02x}"


def vrrp(router: tuple[str, str]) -> bytes:
    """An advertisement of VRRP version 3 by the host that has the address of a virtual router now (RFC 9568, 5.2)."""
    source, group = "192.0.2.1", "224.0.0.18"
    body = struct.pack("!BBBBHH", 0x31, mac(router[0])[5], 200, 1, 100, 0) + v4(router[1])
    pseudo = v4(source) + v4(group) + struct.pack("!BBH", 0, VRRP, len(body))
    body = body[:6] + struct.pack("!H", checksum(pseudo + body)) + body[8:]
    return ether("01:00:5e:00:00:12", router[0], IPV4, ipv4(source, group, VRRP, body))
