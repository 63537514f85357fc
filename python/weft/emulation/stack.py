"""The hosts' TCP: Linux's settings that follow from a scenario's transport, set in each host's namespace, read back.

Which parameter of `[transport]` is which setting of Linux is the table `settings`; parameters that Linux has no setting
for stay as Linux has them, and a run whose scenario changes one of them says so. The profiles named after ns-3 are no
TCP that Linux could be: hosts then have the `linux` profile, with a warning.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _weft
from .errors import EmulationError
from .namespace import setting
from .plan import octets, seconds
from .requirements import program

_NATIVE = ("linux", "dctcp")
"""Profiles that are Linux's TCP, or can be."""
_CARRIED = frozenset(
    (
        *("mss", "initial_window", "receive_buffer", "send_buffer", "congestion_control", "restart_after_idle", "ecn"),
        *("sack", "dsack", "rack", "tail_loss_probe", "frto", "timestamps", "min_rto", "syn_retries"),
        "delayed_ack_segments",
    )
)
"""Parameters that hosts can be told, see `settings` and `route`."""
_OFFLOADS = ("tso", "gso", "gro", "tx")
"""Switched off on hosts: see `offloads`."""
_MOST_SEGMENTS = 65_535
"""Of a packet that Linux cuts apart, by default."""
_OWN_PORTS = 1_000
"""Ports that programs at the prompt may have, away from those of the flows."""
_ROUTE_PREFIX = "10.0.0.0/8"
"""Where all hosts are."""
_TIMESTAMP_OPTION = 12
"""Bytes of a segment that timestamps take."""


@dataclass(frozen=True)
class Stack:
    """What the hosts of a run are told.

    Attributes:
        settings: Settings below /proc/sys with their values.
        route: What the route to the other hosts carries, as words of `ip route`.
        congestion: The congestion control.
    """

    settings: dict[str, str]
    route: str
    congestion: str


def choose(transport: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> tuple[Stack, list[str]]:
    """The stack for a plan's transport and flows, and warnings.

    Raises:
        EmulationError: This kernel lacks the congestion control.
    """
    profile, parameters, warnings = str(transport["profile"]), dict(transport["parameters"]), []
    profiles = {entry["name"]: entry["parameters"] for entry in json.loads(_weft.profiles())}
    if profile not in _NATIVE:
        warnings.append(f"hosts have Linux's TCP, which cannot be made to be `{profile}`; they run as profile `linux`")
        parameters = dict(profiles["linux"])
    else:
        changed = [name for name, value in parameters.items() if value != profiles[profile][name]]
        ignored = sorted(name for name in changed if name not in _CARRIED)
        if ignored:
            names = ", ".join(f"`transport.{name}`" for name in ignored)
            warnings.append(f"Linux has no setting for {names}: hosts have Linux's own")
    if parameters["mptcp"] != "off":
        raise EmulationError(
            "`weft emulate` has hosts with TCP, not with Multipath TCP (`transport.mptcp`)",
            "`weft run` simulates them; `sudo weft reproduce smoc --emulated` runs the kernel's",
        )
    congestion = str(parameters["congestion_control"])
    available = setting("net.ipv4.tcp_available_congestion_control").read_text(encoding="ascii").split()
    if congestion not in available:
        raise EmulationError(
            f"this kernel has no congestion control `{congestion}`, only {', '.join(sorted(available))}",
            f"`modprobe tcp_{congestion}` where it is a module, or `--set 'transport.congestion_control=\"cubic\"'`",
        )
    return Stack(settings(parameters, flows), route(parameters), congestion), warnings


def settings(parameters: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The settings of Linux (Documentation/networking/ip-sysctl.rst) for a TCP's parameters.

    Beside those that the parameters ask for: no memory of earlier connections, no reverse path filter, no IPv6 (whose
    router solicitations and listener reports would be traffic that the scenario does not have), and own ports of
    programs where no flow has its.
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
        # Linux keeps as much for its own records as for data (tcp_adv_win_scale), hence twice the window.
        "net.ipv4.tcp_rmem": f"4096\t131072\t{2 * receive}",
        "net.ipv4.tcp_wmem": f"4096\t16384\t{send}",
    }


def route(parameters: Mapping[str, Any]) -> str:
    """What a host's route carries: congestion control, initial window, segment size, least timeout, whether ACKs wait.

    The congestion control is the route's because a namespace's default may only be one that the machine allows to
    everybody (`tcp_allowed_congestion_control`).
    """
    option = _TIMESTAMP_OPTION if parameters["timestamps"] else 0
    words = [f"congctl {parameters['congestion_control']}", f"initcwnd {parameters['initial_window']}"]
    words.append(f"advmss {parameters['mss'] + option}")
    words.append(f"rto_min {round(seconds(parameters['min_rto']) * 1e3)}ms")
    if parameters["delayed_ack_segments"] == 1:
        words.append("quickack 1")
    return " ".join(words)


def write(values: Mapping[str, str]) -> dict[str, str]:
    """Change settings of the namespace that the thread is in; returns what they are then.

    Raises:
        EmulationError: The kernel does not take one of them.
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
            raise EmulationError(f"{name} cannot be set to {value!r}: {error.strerror}") from error
        if there[name] != value:
            raise EmulationError(f"{name} is {there[name]!r} after it was set to {value!r}")
    return there


def ip_batch(lines: Sequence[str], failed: str) -> None:
    """Have `ip` do all of `lines` in the namespace that the thread is in.

    Raises:
        EmulationError: It does not; the message begins with `failed`.
    """
    command = [str(program("ip")), "-batch", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EmulationError(f"{failed}: {done.stderr.strip()}")


def route_command(interface: str, address: str, carried: str) -> str:
    """What `ip` is told for the route of a host to all others."""
    return f"route replace {_ROUTE_PREFIX} dev {interface} proto kernel scope link src {address} {carried}"


def route_there(interface: str, wanted: str) -> str:
    """What the route of a host carries, read back, as `route` says it.

    Raises:
        EmulationError: It is not what was wanted.
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
        raise EmulationError(f"the route of {interface} carries `{there}`, not `{wanted}`")
    return there


def offloads(interface: str, *, on: bool = False) -> None:
    """Have an interface of a host send frames as a wire would carry them; with `on`, as Linux does by itself.

    Segmentation in the kernel would put up to 64 kB into what a queue of 100 packets counts as one, and into what an
    exploration races against as one; TCP builds such packets even without the offload, as many segments long as the
    interface takes. Checksums left to a device that there is not would be wrong in frames that switches shorten or
    wrap.

    Raises:
        EmulationError: ethtool or ip refuses.
    """
    value = "on" if on else "off"
    switches = [word for name in _OFFLOADS for word in (name, value)]
    command = [str(program("ethtool")), "-K", interface, *switches]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EmulationError(f"ethtool cannot switch the offloads of {interface} {value}: {done.stderr.strip()}")
    segments = _MOST_SEGMENTS if on else 1
    ip_batch([f"link set dev {interface} gso_max_segs {segments}"], f"{interface} does not take single segments")


def versions() -> dict[str, str]:
    """The kernel, and the programs that shape it, for the record."""
    tc = subprocess.run([str(program("tc")), "-V"], capture_output=True, text=True, check=False).stdout.strip()
    return {"kernel": Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii").strip(), "iproute2": tc}


def _free_ports(flows: Sequence[Mapping[str, Any]]) -> int:
    """The first of a thousand ports that no flow has."""
    used = {int(flow[key]) for flow in flows for key in ("sport", "dport")}
    for first in range(64_000, 1_000, -_OWN_PORTS):
        if not any(first <= port < first + _OWN_PORTS for port in used):
            return first
    return 64_000
