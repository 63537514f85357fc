"""Genuine and forged address announcements of a host; for use in a jail."""

from __future__ import annotations

import socket
import struct

from lab import run_in
from segments import checksum, octets


def with_ipv6(net, host, number):
    """Give a host an IPv6 address; returns it."""
    device = net.interface(host)
    for which in ("all", device):
        run_in(net, host, f"sysctl -qw net.ipv6.conf.{which}.disable_ipv6=0")
    run_in(net, host, f"ip address add fd00::{number}/64 dev {device} nodad")
    return f"fd00::{number}"


def arp_reply(source, target, says, mac=None):
    """An ARP reply to one host, or to all, that claims `says` is at `mac` (default: the sender's)."""
    (to, to_ip), own = (octets(target[0]), socket.inet_aton(target[1])), octets(source)
    claimed = octets(mac or source) + socket.inet_aton(says)
    return to + own + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, 2) + claimed + to + to_ip + bytes(18)


def advertisement(source, target, says, mac=None):
    """A Neighbour Advertisement to one host that claims `says` is at `mac`; None omits the link-layer address."""
    at, to = (socket.inet_pton(socket.AF_INET6, one) for one in (says, target[1]))
    # Flags: solicited, override.
    message = struct.pack("!BBHI", 136, 0, 0, 0x60000000) + at
    message += b"" if mac is None else struct.pack("!BB", 2, 1) + octets(mac)
    total = checksum(at + to + struct.pack("!II", len(message), 58) + message)
    message = message[:2] + struct.pack("!H", total) + message[4:]
    header = struct.pack("!IHBB", 0x60000000, len(message), 58, 255) + at + to
    return octets(target[0]) + octets(source) + struct.pack("!H", 0x86DD) + header + message
