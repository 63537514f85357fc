"""The kernel's Multipath TCP (version 1, RFC 8684) on an emulated host: settings, addresses, what became of subflows.

A host has one link, so its further subflows come from alias addresses on it: the kernel opens one from each endpoint
that is marked `subflow` as soon as a connection is there, as the old out-of-tree kernel's path manager `ndiffports` did
from other ports. Programs that know nothing of it are run by `mptcpize`, which has their sockets made as MPTCP's.
"""

from __future__ import annotations

import ipaddress
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

from .errors import EmulationError
from .namespace import setting
from .requirements import program
from .stack import ip_batch, write

MOST_SUBFLOWS = 8
"""Of a connection: Linux takes at most eight addresses of a namespace (`MPTCP_PM_ADDR_MAX`)."""
WRAPPER = "mptcpize"
"""Of Debian's and Ubuntu's package of that name."""
SETTINGS = {
    "net.mptcp.enabled": "1",
    "net.mptcp.checksum_enabled": "0",
    "net.mptcp.pm_type": "0",
    "net.mptcp.scheduler": "default",
}
"""The kernel's own path manager and scheduler (lowest round-trip time first), no checksums over data."""
_ALIAS_NETWORKS = ipaddress.ip_network("10.0.0.0/16")
"""Where the addresses of hosts are (10.0.0.1 the first); alias n of 10.0.x.y is 10.n.x.y."""
_TOKEN = re.compile(r"\btcp-ulp-mptcp .*\btoken:[0-9a-f]+\(id:\d+\)/([0-9a-f]+)\(id:\d+\)")
"""Of the other end: `ss` says its own first, then the receiver's."""
_ZONE = re.compile(r"%[^:]*")
_COUNTERS = re.compile(r"^MPTcpExt(\w+)\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Subflow:
    """What the sender of a subflow says of it (`ss -ti`).

    Attributes:
        connection: The receiver's token for the connection, 8 hexadecimal digits.
        source: Its address and port, `10.0.0.1:40000`.
        destination: Those of the receiver.
        congestion: Its congestion control.
        acknowledged_bytes: Of its data, options apart.
        retransmissions: Segments sent again.
        rtt_s: Smoothed round-trip time.
    """

    connection: str
    source: str
    destination: str
    congestion: str
    acknowledged_bytes: int
    retransmissions: int
    rtt_s: float


def check() -> None:
    """Refuse a machine without MPTCP.

    Raises:
        EmulationError: The kernel has none, or `mptcpize` is not installed.
    """
    if not setting("net.mptcp.enabled").exists():
        raise EmulationError(
            "this kernel has no MPTCP: there is no setting net.mptcp.enabled",
            "a kernel from 5.6 on with CONFIG_MPTCP",
        )
    if program(WRAPPER) is None:
        raise EmulationError(
            f"missing: {WRAPPER}, with which programs use MPTCP unchanged",
            "`make emulation` installs the package mptcpize (Debian, Ubuntu)",
        )


def aliases(address: str, subflows: int) -> list[str]:
    """The further addresses of a host whose connections are to have so many subflows.

    Raises:
        EmulationError: More than the kernel takes, or the host's address leaves no room for aliases.
    """
    if not 1 <= subflows <= MOST_SUBFLOWS:
        raise EmulationError(f"{subflows} subflows: Linux takes 1 to {MOST_SUBFLOWS} of a connection")
    own = ipaddress.ip_address(address)
    if own not in _ALIAS_NETWORKS:
        raise EmulationError(f"host address {address} is not in {_ALIAS_NETWORKS}: there is no room for aliases")
    return [str(own + (number << 16)) for number in range(1, subflows)]


def configure(interface: str, address: str, subflows: int, *, opens: bool) -> dict[str, str]:
    """Have the namespace that the thread is in use MPTCP; returns its settings, read back.

    Args:
        interface: The host's.
        address: Of the host.
        subflows: How many a connection is to have, the first among them.
        opens: Whether this host opens them, from alias addresses; the other only accepts them.

    Raises:
        EmulationError: The kernel does not do it.
    """
    there = write(SETTINGS)
    lines = [f"mptcp limits set subflows {subflows - 1} add_addr_accepted 0", "mptcp endpoint flush"]
    for alias in aliases(address, subflows) if opens else ():
        lines += [
            f"address replace {alias}/8 dev {interface} noprefixroute",
            f"mptcp endpoint add {alias} dev {interface} subflow",
        ]
    ip_batch(lines, f"{interface} cannot be made to use MPTCP")
    return there


def wrapped(command: list[str]) -> list[str]:
    """A command whose TCP sockets are MPTCP's.

    Raises:
        EmulationError: `mptcpize` is not installed.
    """
    path = program(WRAPPER)
    if path is None:
        check()
        raise EmulationError(f"missing: {WRAPPER}")
    return [path, "run", *command]


def subflows(port: int) -> list[Subflow]:
    """The established subflows to a port, as the sender sees them, in the namespace that the thread is in."""
    command = [str(program("ss")), "-tinOH", "state", "established", f"( dport = :{port} )"]
    return read_subflows(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def read_subflows(text: str) -> list[Subflow]:
    """What `ss -tinOH` prints of sockets, a line each, without those that are no part of an MPTCP connection."""
    found = []
    for line in text.splitlines():
        words = line.split()
        token = _TOKEN.search(line)
        # Two numbers of queues, the two ends, words that stand alone (the last is the congestion control), values.
        if len(words) < 5 or token is None:
            continue
        alone = list(takewhile(lambda word: ":" not in word, words[4:]))
        named = dict(word.split(":", 1) for word in words[4:] if ":" in word)
        found.append(
            Subflow(
                connection=token[1].zfill(8),
                source=_ZONE.sub("", words[2]),
                destination=_ZONE.sub("", words[3]),
                congestion=alone[-1] if alone else "",
                acknowledged_bytes=int(named.get("bytes_acked", "0")),
                retransmissions=int(named.get("retrans", "0/0").rpartition("/")[2]),
                rtt_s=float(named.get("rtt", "0/0").partition("/")[0]) / 1e3,
            )
        )
    return found


def counters() -> Mapping[str, int]:
    """The MPTCP counters of the namespace that the thread is in (`MPTcpExt` of nstat, without that word)."""
    command = [str(program("nstat")), "-asz"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in _COUNTERS.findall(said)}
