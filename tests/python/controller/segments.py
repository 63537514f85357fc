"""SYNs with arbitrary options, as Ethernet frames."""

from __future__ import annotations

import socket
import struct


def syn(macs, addresses, ports, option):
    """A SYN from the first to the second of each pair; `option` holds the TCP options, which are padded here."""
    option += b"\x01" * (-len(option) % 4)
    source, destination = (socket.inet_aton(address) for address in addresses)
    tcp = struct.pack("!HHIIBBHHH", *ports, 7, 0, (20 + len(option)) // 4 << 4, 2, 8192, 0, 0) + option
    pseudo = source + destination + struct.pack("!BBH", 0, 6, len(tcp)) + tcp
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0, source, destination)
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return b"".join(map(octets, reversed(macs))) + b"\x08\x00" + ip + tcp


def octets(mac):
    """A MAC address as bytes."""
    return bytes.fromhex(mac.replace(":", ""))


def checksum(data):
    """The Internet checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    words = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return ~words & 0xFFFF
