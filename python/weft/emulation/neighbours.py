"""What hosts know of each other's addresses.

Where switches are told their routes, every host knows all it sends to: entries that stay. Where switches explore, hosts
ask, and remember for the scheme's `arp_cache` as in the simulator: a flow whose source has not heard of its destination
for that long asks anew. Linux remembers otherwise (an entry is used on, and confirmed by the connections that use it);
so it is told to keep entries, and the one in question is deleted right before a flow for which it would be too old.
What is left: other connections between the two hosts wait for the answer too, a millisecond or two.

The kernel has one table for the hosts of all namespaces, this machine's own among them, and forgets entries, or refuses
new ones, once there are 1024. So an entry is marked as kept by somebody (`NTF_EXT_LEARNED`) soon after it has come
about: such ones do not count.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .namespace import entered

SETTINGS = {
    # Milliseconds, then seconds, each an hour: entries are not asked for again by themselves.
    "net.ipv4.neigh.{dev}.base_reachable_time_ms": "3600000",
    "net.ipv4.neigh.{dev}.delay_first_probe_time": "3600",
    "net.ipv4.neigh.{dev}.gc_stale_time": "3600",
}
"""How the hosts of an exploring fabric are told not to forget by themselves; before their interfaces are made."""
LEAD_S = 0.002
"""How long before a flow an entry that is too old is deleted, in seconds."""
LEARNT_S = 0.5
"""How long after a flow's start its hosts are taken to know each other, in seconds."""
_RTM_NEWNEIGH = 28
_RTM_DELNEIGH = 29
_NLM_F_REQUEST = 0x1
_NLM_F_REPLACE = 0x100
_NDA_DST = 1
_NDA_LLADDR = 2
_NUD_REACHABLE = 0x2
_NTF_EXT_LEARNED = 0x10


def permanent(flows: Sequence[Mapping[str, Any]], macs: Mapping[str, str], addresses: Mapping[str, str]) -> Any:
    """For each host, lines of `ip -batch` with entries for all hosts it has flows with; `{dev}` is its interface."""
    partners: dict[str, set[str]] = {}
    for flow in flows:
        partners.setdefault(flow["src"], set()).add(flow["dst"])
        partners.setdefault(flow["dst"], set()).add(flow["src"])
    return {
        host: [
            f"neigh replace {addresses[other]} lladdr {macs[other]} dev {{dev}} nud permanent"
            for other in sorted(others)
        ]
        for host, others in partners.items()
    }


@dataclass(frozen=True, order=True)
class Change:
    """At a time in seconds a host is to forget another's address, or what it has learnt of it is to be kept."""

    at_s: float
    keeps: bool
    host: str
    other: str


def changes(flows: Sequence[Mapping[str, Any]], lifetime_s: float) -> list[Change]:
    """What is to be changed, in order of time.

    The simulator's rule: a flow's source asks if it has not asked for the destination, or been asked by it, within
    `lifetime_s`. The first question of a pair needs no forgetting; after each, both know each other.
    """
    known_until: dict[tuple[str, str], float] = {}
    found = []
    for flow in sorted(flows, key=lambda flow: int(flow["start_ps"])):
        start, (host, other) = flow["start_ps"] / 1e12, (flow["src"], flow["dst"])
        until = known_until.get((host, other))
        if until is not None and until > start:
            continue
        if until is not None:
            found.append(Change(start - LEAD_S, False, host, other))
        found += [Change(start + LEARNT_S, True, *pair) for pair in ((host, other), (other, host))]
        known_until[host, other] = known_until[other, host] = start + lifetime_s
    return sorted(found)


class Memories:
    """Changes what hosts know; keeps a socket in each host's namespace, so that none has to be entered."""

    def __init__(
        self,
        namespaces: Mapping[str, str],
        addresses: Mapping[str, str],
        macs: Mapping[str, str],
        interfaces: Mapping[str, str],
    ) -> None:
        """Open a socket for each host: by name the path of its namespace, its addresses, its interface."""
        self._addresses = {name: socket.inet_aton(address) for name, address in addresses.items()}
        self._macs = {name: bytes.fromhex(mac.replace(":", "")) for name, mac in macs.items()}
        self._sockets: dict[str, tuple[socket.socket, int]] = {}
        for name, path in namespaces.items():
            with entered(path):
                opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
                self._sockets[name] = (opened, socket.if_nametoindex(interfaces[name]))

    def change(self, change: Change) -> None:
        """Carry a change out; nothing happens if the host does not know the other."""
        address = _attribute(_NDA_DST, self._addresses[change.other])
        if change.keeps:
            mac = _attribute(_NDA_LLADDR, self._macs[change.other])
            self._send(change.host, _RTM_NEWNEIGH, _NLM_F_REPLACE, (_NUD_REACHABLE, _NTF_EXT_LEARNED), address + mac)
        else:
            self._send(change.host, _RTM_DELNEIGH, 0, (0, 0), address)

    def _send(self, host: str, kind: int, flags: int, state: tuple[int, int], attributes: bytes) -> None:
        """A message about a neighbour (rtnetlink(7): nlmsghdr, ndmsg, attributes); nobody waits for the answer."""
        opened, index = self._sockets[host]
        body = struct.pack("=BxxxiHBB", socket.AF_INET, index, *state, 0) + attributes
        opened.send(struct.pack("=IHHII", 16 + len(body), kind, _NLM_F_REQUEST | flags, 0, 0) + body)

    def close(self) -> None:
        """Close the sockets."""
        for opened, _ in self._sockets.values():
            opened.close()


def _attribute(kind: int, value: bytes) -> bytes:
    padding = b"\0" * (-len(value) % 4)
    return struct.pack("=HH", 4 + len(value), kind) + value + padding
