"""What a host says that is not so: that it has another's address; to be used in a jail."""

from __future__ import annotations

import socket
import struct

from benches.controller.lab import run_in
from segments import checksum


def with_ipv6(net, host, number):
    """Give a host an IPv6 address, which is returned."""
    device = net.interface(host)
    for which in ("all", device):
        run_in(net, host, f"sysctl -qw net.ipv6.conf.{which}.disable_ipv6=0")
    run_in(net, host, f"ip address add fd00::{number}/64 dev {device} nodad")
    return f"fd00::{number}"


def octets(mac):
    """A MAC address as bytes."""
    return bytes.fromhex(mac.replace(":", ""))


def arp_reply(sender, to, claimed, target):
    """An ARP reply by which `sender` says to have the IPv4 address `claimed`."""
    head = octets(to) + octets(sender) + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, 2)
    ends = octets(sender) + socket.inet_aton(claimed) + octets(to) + socket.inet_aton(target)
    return (head + ends).ljust(60, b"\0")


def advertisement(sender, to, claimed, target):
    """A Neighbour Advertisement, with the override flag, by which `sender` says to have the IPv6 address `claimed`."""
    own, there = (socket.inet_pton(socket.AF_INET6, address) for address in (claimed, target))
    said = struct.pack("!BBHI", 136, 0, 0, 0x60000000) + own + struct.pack("!BB", 2, 1) + octets(sender)
    said = said[:2] + struct.pack("!H", checksum(own + there + struct.pack("!IxxxB", len(said), 58) + said)) + said[4:]
    head = octets(to) + octets(sender) + struct.pack("!HIHBB", 0x86DD, 6 << 28, len(said), 58, 255)
    return head + own + there + said
