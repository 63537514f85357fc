"""What hosts know of each other's addresses.

Where switches are told their routes, every host knows all it sends to: entries that stay. Where switches explore, hosts
ask, and remember for the scheme's `arp_cache` as in the simulator: a flow whose source has not heard of its destination
for that long asks anew. Linux remembers otherwise (an entry is used on, and confirmed by the connections that use it);
so it is told to keep entries, and the one in question is deleted right before a flow for which it would be too old.
What is left: other connections between the two hosts wait for the answer too, a millisecond or two.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
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
_PACKET_TABLE = 1024
"""Entries that Linux keeps for all namespaces together unless it is told otherwise (`gc_thresh3`)."""
_RTM_DELNEIGH = 29
_NLM_F_REQUEST = 1
_NDA_DST = 1


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


def questions(flows: Sequence[Mapping[str, Any]], lifetime_s: float) -> list[tuple[float, str, str]]:
    """When which host has to forget which other, in order of time in seconds.

    The simulator's rule: a flow's source asks if it has not asked for the destination, or been asked by it, within
    `lifetime_s`. The first question of a pair needs no forgetting.
    """
    known_until: dict[tuple[str, str], float] = {}
    forget = []
    for flow in sorted(flows, key=lambda flow: int(flow["start_ps"])):
        start, pair = flow["start_ps"] / 1e12, (flow["src"], flow["dst"])
        until = known_until.get(pair)
        if until is not None and until > start:
            continue
        if until is not None:
            forget.append((start, *pair))
        known_until[pair] = known_until[pair[1], pair[0]] = start + lifetime_s
    return forget


def crowded(flows: Sequence[Mapping[str, Any]], table: int | None) -> str | None:
    """A warning if hosts may know more of each other than the kernel's one table holds; `table`: its size, if known."""
    room = table if table is not None else _PACKET_TABLE
    pairs = {pair for flow in flows for pair in ((flow["src"], flow["dst"]), (flow["dst"], flow["src"]))}
    if len(pairs) <= 0.9 * room:
        return None
    return (
        f"hosts may come to know {len(pairs)} addresses of each other, the kernel keeps {room} for all namespaces"
        f" together and forgets some before their time: `sysctl -w net.ipv4.neigh.default.gc_thresh3={2 * len(pairs)}`"
    )


class Forgetter:
    """Deletes entries from hosts' tables; keeps a socket in each host's namespace, so that none has to be entered."""

    def __init__(
        self, namespaces: Mapping[str, str], addresses: Mapping[str, str], interfaces: Mapping[str, str]
    ) -> None:
        """Open a socket for each host: by name the path of its namespace, its address, its interface."""
        self._addresses = {name: socket.inet_aton(address) for name, address in addresses.items()}
        self._sockets: dict[str, tuple[socket.socket, int]] = {}
        for name, path in namespaces.items():
            with entered(path):
                opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
                self._sockets[name] = (opened, socket.if_nametoindex(interfaces[name]))

    def forget(self, host: str, other: str) -> None:
        """Have a host forget another's address; nothing happens if it did not know it."""
        opened, index = self._sockets[host]
        # struct nlmsghdr, struct ndmsg, one attribute (rtnetlink(7)); nobody waits for the answer.
        body = struct.pack("=BxxxiHBB", socket.AF_INET, index, 0, 0, 0)
        body += struct.pack("=HH4s", 8, _NDA_DST, self._addresses[other])
        opened.send(struct.pack("=IHHII", 16 + len(body), _RTM_DELNEIGH, _NLM_F_REQUEST, 0, 0) + body)

    def close(self) -> None:
        """Close the sockets."""
        for opened, _ in self._sockets.values():
            opened.close()
