"""The plan of one run, as the engine writes it: hosts, switches, links, flows, events.

Numbers are those of the plan: ports from 0 in the order of a node's links, times in picoseconds. Linux interface names
follow from them (`Plan.interface`), so results, logs and `ip link` use the same names.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from .. import _weft
from ..catalogue import schemes

_SCHEMES = {scheme["name"]: scheme for scheme in schemes()}
"""The engine's descriptors of the schemes."""
SCHEMES = tuple(name for name, scheme in _SCHEMES.items() if scheme["linux_mode"])
"""Schemes that `weft-switchd` supports."""

FRAMING = _weft.FRAMING
HEADER = 14
"""Bytes of an Ethernet header, which Linux counts in addition to the IP packet."""
MTU = _weft.MTU
"""Maximum packet size of hosts in bytes."""
TAG: int = _SCHEMES["tag_forward"]["tag_bytes"]
"""Bytes that Tag-and-Forward adds to frames between switches."""
_LONGEST_NAME = 9
"""Maximum length of a node's name, to leave room for `-eth` and a port in an interface name (15)."""


@dataclass(frozen=True)
class End:
    """One end of a link, with the direction that leaves it; the rate includes framing (`FRAMING`).

    A queue is limited in packets, or else in bytes; `special` are its further options (marking, several queues).
    """

    node: str
    port: int
    rate_bps: int
    delay_ps: int
    queue_packets: int | None
    queue_bytes: int | None
    special: dict[str, Any]
    overhead: str

    @classmethod
    def from_json(cls, end: dict[str, Any]) -> Self:
        """An end as the engine writes it."""
        queue = end.get("queue")
        special = {key: value for key, value in queue.items() if key != "limit"} if isinstance(queue, dict) else {}
        names = ("node", "port", "rate_bps", "delay_ps", "queue_packets", "queue_bytes", "overhead")
        return cls(**{name: end[name] for name in names}, special=special)

    @property
    def full_frame_ps(self) -> int:
        """Transmission time of a full frame, in picoseconds."""
        return (MTU + FRAMING[self.overhead]) * 8 * 10**12 // self.rate_bps


@dataclass(frozen=True)
class Cable:
    """A full-duplex link: one direction from each end."""

    a: End
    b: End
    up: bool

    @property
    def ends(self) -> tuple[End, End]:
        """Both ends."""
        return self.a, self.b

    @property
    def directions(self) -> tuple[tuple[End, End], tuple[End, End]]:
        """Both directions: the sending end, and the receiving one."""
        return (self.a, self.b), (self.b, self.a)


@dataclass(frozen=True)
class Host:
    """A host: its name, MAC address and IPv4 address with the length of the prefix."""

    name: str
    mac: str
    address: str
    prefix: int


@dataclass(frozen=True)
class SwitchNode:
    """A switch: name, id (from which its hash key derives), tier (1 next to the hosts), pod if any, number of ports."""

    name: str
    id: str
    tier: int
    pod: int | None
    ports: int


_SWITCH = ("name", "id", "tier", "pod", "ports")

Routes = dict[str, dict[str, list[int]]]
"""For each switch, for each host, the ports of the next hops in order."""


@dataclass(frozen=True)
class Event:
    """Links that go down (`up` false) or come up at a time, or that change otherwise (`up` is `None`)."""

    at_ps: int
    change: str
    target: str
    up: bool | None
    cables: list[int]


@dataclass(frozen=True)
class Reroute:
    """The next hops from a time on."""

    at_ps: int
    routes: Routes


@dataclass(frozen=True)
class Plan:
    """Everything one run needs; `text` is the JSON it was read from."""

    text: str
    hosts: list[Host]
    switches: list[SwitchNode]
    cables: list[Cable]
    events: list[Event]
    reroutes: list[Reroute]
    id: str
    """Id of the sweep point."""
    label: str
    """Label of the sweep point."""
    scheme: str
    params: dict[str, Any]
    """The scheme's parameters, all of them."""
    flows: list[dict[str, Any]]
    """The flows, in the format of a workload."""
    flows_waiting: int
    """The number of flows that start after others."""
    transport: dict[str, Any]
    """The TCP: `profile`, `congestion`, `parameters`."""
    warm: bool
    """Whether hosts know each other, and switches the hosts, before the first flow."""
    duration_ps: int
    """Time during which flows start."""
    limit_ps: int
    """Time limit of the run."""
    interval_ps: int
    """Sampling interval."""
    window_ps: tuple[int, int]
    """The measurement window."""
    routes: Routes | None
    """Initial next hops, for schemes with configured next hops."""
    weights: Routes | None
    """Their weights in the same order, for `wcmp`."""
    shares_buffer: bool
    """Whether the queues of a switch share one buffer."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The plan that the engine wrote."""
        data = json.loads(text)
        run, measure = data["run"], data["measure"]
        return cls(
            text,
            [Host(host["name"], host["mac"], host["address"], host["prefix"]) for host in data["hosts"]],
            [SwitchNode(**{name: switch[name] for name in _SWITCH}) for switch in data["switches"]],
            [Cable(End.from_json(link["a"]), End.from_json(link["b"]), link["up"]) for link in data["links"]],
            [
                Event(event["at_ps"], event["change"], event["target"], event["up"], event["links"])
                for event in data["events"]
            ],
            [Reroute(reroute["at_ps"], reroute["routes"]) for reroute in data["reroutes"]],
            id=data["id"],
            label=data["label"],
            scheme=data["scheme"]["name"],
            params=data["scheme"]["params"],
            flows=data["flows"],
            flows_waiting=data.get("flows_waiting", 0),
            transport=data["transport"],
            warm=run.get("warm", False),
            duration_ps=run["duration_ps"],
            limit_ps=run["limit_ps"],
            interval_ps=measure["interval_ps"],
            window_ps=tuple(measure["window_ps"]),
            routes=data.get("routes"),
            weights=data.get("weights"),
            shares_buffer="buffer_bytes" in data,
        )

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """The plan in a file."""
        return cls.from_json(path.read_text(encoding="utf-8"))

    @property
    def mode(self) -> str | None:
        """The mode of `weft-switchd` for the scheme; None if there is none."""
        mode: str | None = _SCHEMES[self.scheme]["linux_mode"]
        return mode

    @property
    def explores(self) -> bool:
        """Whether the switches explore paths, and the hosts use ARP."""
        return bool(_SCHEMES[self.scheme]["explores"])

    @property
    def tags(self) -> bool:
        """Whether the switches get gates and rules from a control plane, and tag frames."""
        return bool(_SCHEMES[self.scheme]["tag_bytes"])

    @cached_property
    def host_names(self) -> frozenset[str]:
        """The names of the hosts."""
        return frozenset(host.name for host in self.hosts)

    @cached_property
    def linux_names(self) -> dict[str, str]:
        """Linux names of the nodes: their names, or `n` and a number if some name is unsuitable for interfaces."""
        nodes = [*(host.name for host in self.hosts), *(switch.name for switch in self.switches)]
        fits = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{_LONGEST_NAME - 1}}}")
        if all(fits.fullmatch(name) for name in nodes):
            return {name: name for name in nodes}
        return {name: f"n{number}" for number, name in enumerate(nodes)}

    def interface(self, end: End) -> str:
        """The interface of an end of a link, e.g. `l0-eth3`."""
        return f"{self.linux_names[end.node]}-eth{end.port}"

    def ports(self, node: str) -> list[End]:
        """The ends of links at a node, in order of port."""
        ends = (end for cable in self.cables for end in cable.ends if end.node == node)
        return sorted(ends, key=lambda end: end.port)

    def roles(self, switch: str, other_role: str) -> dict[int, str]:
        """The role of each port whose link is up: `host`, or `other_role` if it leads to a switch."""
        roles = {}
        for cable in self.cables:
            for end, other in cable.directions:
                if end.node == switch and cable.up:
                    roles[end.port] = "host" if other.node in self.host_names else other_role
        return roles

    def link_name(self, cable: Cable, leaving: End) -> str:
        """The name in results of the direction of a link that leaves an end: `e0->a1`."""
        other = cable.b if leaving is cable.a else cable.a
        return f"{leaving.node}->{other.node}"

    def stations(self, routes: Routes | None, switch: str) -> dict[str, list[int]] | None:
        """A switch's next hops by the hosts' MAC addresses; None for schemes that find their own."""
        if not _SCHEMES[self.scheme]["next_hops"]:
            return None
        macs = {host.name: host.mac for host in self.hosts}
        return {macs[host]: ports for host, ports in (routes or {}).get(switch, {}).items()}


def seconds(text: str) -> float:
    """A time as the engine writes it, e.g. `"200 ms"`, in seconds."""
    value, unit = text.split()
    return float(value) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


def octets(text: str) -> int:
    """A size as the engine writes it, e.g. `"3.145728 MB"`, in bytes."""
    value, unit = text.split()
    return round(float(value) * {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit])
