"""The hosts' TCP: Linux settings derived from a scenario's transport, written in each host's namespace and read back.

`settings` maps parameters of `[transport]` to Linux settings; parameters without a Linux setting keep Linux's
behaviour, with a warning if the scenario changes them. Linux cannot behave like the profiles named after ns-3: hosts
then use the `linux` profile, with a warning.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..catalogue import profiles
from .errors import EmulationError
from .namespace import setting
from .plan import octets, seconds
from .requirements import program

_NATIVE = ("linux", "dctcp")
"""Profiles that Linux's TCP can implement."""
_CARRIED = frozenset(
    (
        *("mss", "initial_window", "receive_buffer", "send_buffer", "congestion_control", "restart_after_idle", "ecn"),
        *("sack", "dsack", "rack", "tail_loss_probe", "frto", "timestamps", "min_rto", "syn_retries"),
        "delayed_ack_segments",
    )
)
"""Parameters that can be set on hosts, see `settings` and `route`."""
_OFFLOADS = ("tso", "gso", "gro", "tx")
"""Disabled on hosts, see `offloads`."""
_MOST_SEGMENTS = 65_535
"""Largest number of segments in a packet, by default."""
_OWN_PORTS = 1_000
"""Number of ephemeral ports for programs at the prompt, apart from those of the flows."""
_ROUTE_PREFIX = "10.0.0.0/8"
"""Network of all hosts."""
_TIMESTAMP_OPTION = 12
"""Bytes of the timestamps option in a segment."""


@dataclass(frozen=True)
class Stack:
    """The TCP of hosts: settings below /proc/sys, a route's attributes for `ip route`, congestion control."""

    settings: dict[str, str]
    route: str
    congestion: str


def choose(transport: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> tuple[Stack, list[str]]:
    """The stack for a plan's transport and flows, and warnings.

    Raises `EmulationError` if the hosts do not use TCP, or this kernel lacks the congestion control.
    """
    if transport.get("congestion", "") is None:
        raise EmulationError(
            f"`weft emulate` runs Linux's TCP, and `transport.protocol` is `{transport['profile']}`",
            "`weft run` simulates it; remove `transport.protocol` to emulate the same flows over TCP",
        )
    profile, parameters, warnings = str(transport["profile"]), dict(transport["parameters"]), []
    own = {entry["name"]: entry["parameters"] for entry in profiles()}
    if profile not in _NATIVE:
        warnings.append(f"hosts use Linux's TCP, which cannot behave like `{profile}`: using profile `linux`")
        parameters = dict(own["linux"])
    else:
        changed = [name for name, value in parameters.items() if value != own[profile][name]]
        ignored = sorted(name for name in changed if name not in _CARRIED)
        if ignored:
            names = ", ".join(f"`transport.{name}`" for name in ignored)
            warnings.append(f"Linux has no setting for {names}: hosts use Linux's behaviour")
    if parameters["mptcp"] != "off":
        raise EmulationError(
            "`weft emulate` does not support Multipath TCP (`transport.mptcp`)",
            "`weft run` simulates them; `sudo weft reproduce smoc --emulated` runs the kernel's",
        )
    congestion = str(parameters["congestion_control"])
    available = setting("net.ipv4.tcp_available_congestion_control").read_text(encoding="ascii").split()
    if congestion not in available:
        raise EmulationError(
            f"this kernel has no congestion control `{congestion}`, only {', '.join(sorted(available))}",
            f"`modprobe tcp_{congestion}` if it is a module, or `--set 'transport.congestion_control=\"cubic\"'`",
        )
    return Stack(settings(parameters, flows), route(parameters), congestion), warnings


def settings(parameters: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Linux settings (Documentation/networking/ip-sysctl.rst) for TCP parameters.

    In addition: no cached metrics of earlier connections, no reverse path filter, no IPv6 (whose router solicitations
    and listener reports would be traffic outside the scenario), and an ephemeral port range that no flow uses.
    """

    def switch(name: str, on: int = 1) -> str:
        return str(on if parameters[name] else 0)

    receive, send = (octets(parameters[name]) for name in ("receive_buffer", "send_buffer"))
    first = _free_ports(flows)
    return {
        "net.ipv6.conf.all.disable_ipv6": "1",
        "net.ipv6.conf.default.disable_ipv6": "1",
        "net.ipv4.conf.all.rp_filter": "0",
        "net.ipv4.conf.default.rp_filter": "0",
        "net.ipv4.ip_local_port_range": f"{first}\t{first + _OWN_PORTS - 1}",
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_ecn": "0" if parameters["ecn"] == "off" else "1",
        "net.ipv4.tcp_sack": switch("sack"),
        "net.ipv4.tcp_dsack": switch("dsack"),
        "net.ipv4.tcp_recovery": switch("rack"),
        "net.ipv4.tcp_early_retrans": switch("tail_loss_probe", 3),
        "net.ipv4.tcp_frto": switch("frto", 2),
        "net.ipv4.tcp_timestamps": switch("timestamps"),
        "net.ipv4.tcp_slow_start_after_idle": switch("restart_after_idle"),
        "net.ipv4.tcp_syn_retries": str(parameters["syn_retries"]),
        # Linux reserves half of the buffer for overhead (tcp_adv_win_scale), hence twice the window.
        "net.ipv4.tcp_rmem": f"4096\t131072\t{2 * receive}",
        "net.ipv4.tcp_wmem": f"4096\t16384\t{send}",
    }


def route(parameters: Mapping[str, Any]) -> str:
    """Attributes of a host's route: congestion control, initial window, MSS, minimum RTO, delayed ACKs.

    The congestion control is set on the route because a namespace's default is restricted to
    `tcp_allowed_congestion_control`.
    """
    option = _TIMESTAMP_OPTION if parameters["timestamps"] else 0
    words = [f"congctl {parameters['congestion_control']}", f"initcwnd {parameters['initial_window']}"]
    words.append(f"advmss {parameters['mss'] + option}")
    words.append(f"rto_min {round(seconds(parameters['min_rto']) * 1e3)}ms")
    if parameters["delayed_ack_segments"] == 1:
        words.append("quickack 1")
    return " ".join(words)


def write(values: Mapping[str, str]) -> dict[str, str]:
    """Change settings of the thread's current namespace; returns the values read back.

    Raises `EmulationError` if the kernel rejects one of them.
    """
    there = {}
    for name, value in values.items():
        file = setting(name)
        if not file.exists() and name.startswith("net.ipv6."):
            continue
        try:
            file.write_text(value, encoding="ascii")
            there[name] = file.read_text(encoding="ascii").strip()
        except OSError as error:
            raise EmulationError(f"cannot set {name} to {value!r}: {error.strerror}") from error
        if there[name] != value:
            raise EmulationError(f"{name} is {there[name]!r} after setting it to {value!r}")
    return there


def ip_batch(lines: Sequence[str], failed: str) -> None:
    """Run `lines` with `ip -batch` in the thread's current namespace.

    Raises `EmulationError` if it failed; the message starts with `failed`.
    """
    if not lines:
        return
    command = [str(program("ip")), "-batch", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EmulationError(f"{failed}: {done.stderr.strip()}")


def route_command(interface: str, address: str, carried: str) -> str:
    """The `ip` command for a host's route to all others."""
    return f"route replace {_ROUTE_PREFIX} dev {interface} proto kernel scope link src {address} {carried}"


def route_there(interface: str, wanted: str) -> str:
    """Attributes of a host's route, read back, in the format of `route`.

    Raises `EmulationError` if they differ from `wanted`.
    """
    command = [str(program("ip")), "-j", "route", "show", "dev", interface]
    routes = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    metrics = routes[0].get("metrics", [{}])[0] if routes else {}
    names = {"congestion": "congctl", "initcwnd": "initcwnd", "advmss": "advmss", "rto_min": "rto_min"}
    there = " ".join(f"{word} {metrics[key]}" for key, word in names.items() if key in metrics)
    # ip prints a time without its unit in JSON: milliseconds.
    there += "ms" if "rto_min" in metrics else ""
    there += " quickack 1" if metrics.get("quickack") else ""
    if there != wanted:
        raise EmulationError(f"the route of {interface} has `{there}`, expected `{wanted}`")
    return there


def offloads(interface: str, *, on: bool = False) -> None:
    """Disable offloads on a host's interface, so that it sends frames as on a wire; `on` restores Linux's default.

    With segmentation offload, a packet of up to 64 kB would count as one in a queue of 100 packets and in explorations.
    TCP builds such packets even without the offload, as long as the interface accepts; so it accepts single segments.
    With checksum offload, checksums would be wrong in frames that switches shorten or wrap. Raises `EmulationError` if
    ethtool or ip fails.
    """
    value = "on" if on else "off"
    switches = [word for name in _OFFLOADS for word in (name, value)]
    command = [str(program("ethtool")), "-K", interface, *switches]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EmulationError(f"ethtool cannot turn the offloads of {interface} {value}: {done.stderr.strip()}")
    segments = _MOST_SEGMENTS if on else 1
    ip_batch([f"link set dev {interface} gso_max_segs {segments}"], f"{interface} does not take single segments")


def versions() -> dict[str, str]:
    """Versions of the kernel and of iproute2, for the results."""
    tc = subprocess.run([str(program("tc")), "-V"], capture_output=True, text=True, check=False).stdout.strip()
    return {"kernel": Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip(), "iproute2": tc}


def _free_ports(flows: Sequence[Mapping[str, Any]]) -> int:
    """The first of a thousand ports that no flow uses."""
    used = {int(flow[key]) for flow in flows for key in ("sport", "dport")}
    for first in range(64_000, 1_000, -_OWN_PORTS):
        if not any(first <= port < first + _OWN_PORTS for port in used):
            return first
    return 64_000
