"""The kernel's Multipath TCP (version 1, RFC 8684) on an emulated host: settings, addresses, state of subflows.

A host has one link, so its further subflows use alias addresses on it: for each new connection, the kernel opens one
from each endpoint marked `subflow`, much as the path manager `ndiffports` of the old out-of-tree kernel did from other
ports. `mptcpize` makes unmodified programs use MPTCP sockets.
"""

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
"""Maximum per connection: Linux allows at most eight addresses per namespace (`MPTCP_PM_ADDR_MAX`)."""
WRAPPER = "mptcpize"
"""The program, from the Debian and Ubuntu package of that name."""
SETTINGS = {
    "net.mptcp.enabled": "1",
    "net.mptcp.checksum_enabled": "0",
    "net.mptcp.pm_type": "0",
    "net.mptcp.scheduler": "default",
}
"""The in-kernel path manager and scheduler (lowest round-trip time first), no data checksums."""
_ALIAS_NETWORKS = ipaddress.ip_network("10.0.0.0/16")
"""Network of the hosts' addresses (10.0.0.1 is the first); alias n of 10.0.x.y is 10.n.x.y."""
_TOKEN = re.compile(r"\btcp-ulp-mptcp .*\btoken:[0-9a-f]+\(id:\d+\)/([0-9a-f]+)\(id:\d+\)")
"""The receiver's token: `ss` prints the sender's first, then the receiver's."""
_ZONE = re.compile(r"%[^:]*")
_COUNTERS = re.compile(r"^MPTcpExt(\w+)\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Subflow:
    """State of a subflow at its sender (`ss -ti`); its ends are as in `10.0.0.1:40000`.

    `connection` is the receiver's token for the connection, 8 hexadecimal digits.
    """

    connection: str
    source: str
    destination: str
    congestion: str
    acknowledged_bytes: int
    retransmissions: int
    rtt_s: float


def check() -> None:
    """Check that this machine supports MPTCP.

    Raises `EmulationError` if the kernel does not support it, or `mptcpize` is not installed.
    """
    if not setting("net.mptcp.enabled").exists():
        raise EmulationError(
            "this kernel has no MPTCP (net.mptcp.enabled does not exist)",
            "a kernel >= 5.6 with CONFIG_MPTCP",
        )
    if program(WRAPPER) is None:
        raise EmulationError(
            f"missing: {WRAPPER}, which runs unmodified programs with MPTCP",
            "`make emulation` installs the package mptcpize (Debian, Ubuntu)",
        )


def aliases(address: str, subflows: int) -> list[str]:
    """The alias addresses of a host for the given number of subflows per connection.

    Raises `EmulationError` if more than the kernel allows, or the host's address leaves no room for aliases.
    """
    if not 1 <= subflows <= MOST_SUBFLOWS:
        raise EmulationError(f"{subflows} subflows: Linux supports 1 to {MOST_SUBFLOWS} per connection")
    own = ipaddress.ip_address(address)
    if own not in _ALIAS_NETWORKS:
        raise EmulationError(f"host address {address} is not in {_ALIAS_NETWORKS}: no room for alias addresses")
    return [str(own + (number << 16)) for number in range(1, subflows)]


def configure(interface: str, address: str, subflows: int, *, opens: bool) -> dict[str, str]:
    """Enable MPTCP in the thread's current namespace; returns the settings, read back.

    With `opens`, the host opens so many subflows per connection, including the first, from alias addresses; otherwise
    it only accepts them. Raises `EmulationError` if the kernel rejects the configuration.
    """
    there = write(SETTINGS)
    lines = [f"mptcp limits set subflows {subflows - 1} add_addr_accepted 0", "mptcp endpoint flush"]
    for alias in aliases(address, subflows) if opens else ():
        lines += [
            f"address replace {alias}/8 dev {interface} noprefixroute",
            f"mptcp endpoint add {alias} dev {interface} subflow",
        ]
    ip_batch(lines, f"cannot enable MPTCP on {interface}")
    return there


def wrapped(command: list[str]) -> list[str]:
    """The command, run with MPTCP sockets instead of TCP sockets.

    Raises `EmulationError` if the kernel has no MPTCP, or `mptcpize` is not installed.
    """
    check()
    return [str(program(WRAPPER)), "run", *command]


def subflows(port: int) -> list[Subflow]:
    """The established subflows to a port, from the sender's view, in the thread's current namespace."""
    command = [str(program("ss")), "-tinOH", "state", "established", f"( dport = :{port} )"]
    return read_subflows(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def read_subflows(text: str) -> list[Subflow]:
    """Parse the output of `ss -tinOH`, one line per socket, skipping those without MPTCP."""
    found = []
    for line in text.splitlines():
        words = line.split()
        token = _TOKEN.search(line)
        # Two queue sizes, the two ends, words without a value (the last is the congestion control), values.
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
    """The MPTCP counters of the thread's current namespace (nstat's, without the prefix `MPTcpExt`)."""
    command = [str(program("nstat")), "-asz"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in _COUNTERS.findall(said)}
