"""The hosts' neighbour tables.

With configured routes, hosts have permanent entries for all their peers. With exploring switches, hosts use ARP and
cache replies for the scheme's `arp_cache`, as in the simulator: a flow whose source has not learned about its
destination within that time sends a new request. Linux caches differently (connections confirm the entries they use);
so it is configured to keep entries, and an entry is deleted right before a flow for which it would be too old. One
difference remains: other connections between the two hosts also wait for the reply, a millisecond or two.

The kernel has one table for all namespaces, including this machine's own, and evicts entries or refuses new ones beyond
1024. So an entry is marked as externally learned (`NTF_EXT_LEARNED`) soon after its creation: these do not count.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import EmulationError
from .namespace import entered

SETTINGS = {
    # One hour each, in milliseconds and seconds: the kernel does not revalidate entries on its own.
    "net.ipv4.neigh.{dev}.base_reachable_time_ms": "3600000",
    "net.ipv4.neigh.{dev}.delay_first_probe_time": "3600",
    "net.ipv4.neigh.{dev}.gc_stale_time": "3600",
}
"""Settings that keep neighbour entries in exploring fabrics; set before the interfaces are created."""
LEAD_S = 0.002
"""Seconds before a flow at which an entry that is too old is deleted."""
LEARNT_S = 0.5
"""Seconds after a flow's start at which its hosts are assumed to know each other."""
ACQUAINT_S = 30.0
"""Seconds in which hosts must know each other before a run that starts warm."""
_DISCARD = 9
"""UDP port of the datagrams that make hosts known."""
_AT_ONCE = 200
"""Pairs that become known together, well below the kernel's limit of new entries."""
_RTM_NEWNEIGH = 28
_RTM_DELNEIGH = 29
_NLM_F_REQUEST = 0x1
_NLM_F_REPLACE = 0x100
_NDA_DST = 1
_NDA_LLADDR = 2
_NUD_REACHABLE = 0x2
_NTF_EXT_LEARNED = 0x10
_ATF_COM = 0x2
"""The flag of a complete entry in the kernel's table of addresses."""


def permanent(flows: Sequence[Mapping[str, Any]], macs: Mapping[str, str], addresses: Mapping[str, str]) -> Any:
    """For each host, `ip -batch` lines with entries for all hosts it has flows with; `{dev}` is its interface."""
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
    """Deletes a host's entry for another at a time in seconds, or marks it as kept."""

    at_s: float
    keeps: bool
    host: str
    other: str


def changes(flows: Sequence[Mapping[str, Any]], lifetime_s: float) -> list[Change]:
    """The changes, in order of time.

    The simulator's rule: a flow's source sends a request if it has neither sent one for the destination nor received
    one from it within `lifetime_s`. The first request of a pair needs no deletion; after each, both know each other.
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


def acquaint(
    flows: Sequence[Mapping[str, Any]],
    namespaces: Mapping[str, str],
    addresses: Mapping[str, str],
    neighbour_tables: NeighbourTables,
) -> None:
    """Before a run that starts warm: the source of each flow sends its destination a datagram.

    So the two hosts resolve each other's address, which they then keep, and the switches learn the way to both. On a
    busy machine this takes longer: hosts that do not know each other yet send again. Raises `EmulationError` if hosts
    do not know each other after `ACQUAINT_S`.
    """
    pairs = sorted({(flow["src"], flow["dst"]) for flow in flows})
    for first in range(0, len(pairs), _AT_ONCE):
        batch = missing = pairs[first : first + _AT_ONCE]
        until = time.monotonic() + ACQUAINT_S
        while missing:
            for host, other in missing:
                with entered(namespaces[host]), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
                    opened.sendto(b"", (addresses[other], _DISCARD))
            time.sleep(LEARNT_S)
            missing = _unresolved(missing, namespaces, addresses)
            if missing and time.monotonic() > until:
                host, other = missing[0]
                raise EmulationError(
                    f"the run starts warm, but {len(missing)} pairs of hosts, such as {host} and {other}, "
                    f"have not resolved each other's address in {ACQUAINT_S:g} s: "
                    "is there a path between them, or is the machine busy?"
                )
        for host, other in batch:
            for one, another in ((host, other), (other, host)):
                neighbour_tables.change(Change(0.0, True, one, another))


def _unresolved(
    pairs: Sequence[tuple[str, str]], namespaces: Mapping[str, str], addresses: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The pairs of which a host has no complete entry for the other."""
    known = {host: _known(namespaces[host]) for host in {host for pair in pairs for host in pair}}
    return [(a, b) for a, b in pairs if addresses[b] not in known[a] or addresses[a] not in known[b]]


def _known(namespace: str) -> set[str]:
    """The addresses with a complete entry in a namespace."""
    with entered(namespace):
        # The columns: IP address, HW type, flags, HW address, mask, device.
        _, *lines = Path("/proc/thread-self/net/arp").read_text(encoding="ascii").splitlines()
    entries = [line.split() for line in lines]
    return {entry[0] for entry in entries if int(entry[2], 16) & _ATF_COM}


class NeighbourTables:
    """Changes neighbour entries; keeps a socket open in each host's namespace, to avoid entering it each time."""

    def __init__(
        self,
        namespaces: Mapping[str, str],
        addresses: Mapping[str, str],
        macs: Mapping[str, str],
        interfaces: Mapping[str, str],
    ) -> None:
        """Open a socket for each host; the arguments map host names to namespace paths, addresses and interfaces."""
        self._addresses = {name: socket.inet_aton(address) for name, address in addresses.items()}
        self._macs = {name: bytes.fromhex(mac.replace(":", "")) for name, mac in macs.items()}
        self._sockets: dict[str, tuple[socket.socket, int]] = {}
        for name, path in namespaces.items():
            with entered(path):
                opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
                self._sockets[name] = (opened, socket.if_nametoindex(interfaces[name]))

    def change(self, change: Change) -> None:
        """Apply a change; without effect if the host has no such entry."""
        address = _attribute(_NDA_DST, self._addresses[change.other])
        if change.keeps:
            mac = _attribute(_NDA_LLADDR, self._macs[change.other])
            self._send(change.host, _RTM_NEWNEIGH, _NLM_F_REPLACE, (_NUD_REACHABLE, _NTF_EXT_LEARNED), address + mac)
        else:
            self._send(change.host, _RTM_DELNEIGH, 0, (0, 0), address)

    def _send(self, host: str, kind: int, flags: int, state: tuple[int, int], attributes: bytes) -> None:
        """Send a neighbour message (rtnetlink(7): nlmsghdr, ndmsg, attributes) without waiting for a reply."""
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
