"""Link measurements over time and in total.

The counters are tc's: bytes and frames sent, drops and backlog of all interfaces in one listing, so that a sample costs
one process. Linux counts 14 bytes per frame in addition to the IP packet; a scenario's link also carries preamble,
frame check sequence and gap, which are added here so that utilisation means the same as in a simulation.
"""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .namespace import entered
from .plan import FRAMING, HEADER, End, Plan
from .requirements import program


@dataclass(frozen=True)
class Counters:
    """Counters of a link direction since it was shaped; bytes include the scenario's framing."""

    bytes: int
    packets: int
    drops: int
    backlog_bytes: int
    backlog_packets: int


class Links:
    """The directed links of a network: reads their counters and computes series."""

    def __init__(self, plan: Plan, namespaces: Mapping[str, str]) -> None:
        """Takes the hosts' namespaces; switches are in the thread's current one."""
        self._plan = plan
        self._namespaces = namespaces
        self._ends: dict[str, tuple[str, End]] = {}
        for cable in plan.cables:
            for end in cable.ends:
                self._ends[plan.interface(end)] = (plan.link_name(cable, end), end)
        self._last: dict[str, Counters] = {}
        self._zero: dict[str, Counters] = {}
        self._most: dict[str, int] = {}
        self._marks: list[tuple[int, dict[str, Counters]]] = []

    def begin(self) -> None:
        """Start counting."""
        self._zero = self._read(everywhere=True)
        self._last = {name: counters for name, counters in self._zero.items() if self._of_switch(name)}

    def sample(self, time_ps: int, since_ps: int) -> list[dict[str, Any]]:
        """Rows of `series` since the last sample, for links that leave switches and are not idle."""
        now = self._read(everywhere=False)
        rows = []
        for interface, counters in now.items():
            name, end = self._ends[interface]
            last = self._last.get(interface, counters)
            sent = counters.bytes - last.bytes
            room = end.rate_bps / 8 * (time_ps - since_ps) / 1e12
            values = {
                "link_utilisation": min(sent / room, 1.0) if room > 0 else 0.0,
                "queue_bytes": counters.backlog_bytes,
                "queue_packets": counters.backlog_packets,
                "drops": counters.drops - last.drops,
            }
            self._most[name] = max(self._most.get(name, 0), counters.backlog_bytes)
            if any(values.values()):
                rows += [
                    {"time_ps": time_ps, "metric": metric, "entity": name, "value": float(value)}
                    for metric, value in values.items()
                ]
        self._last = now
        return rows

    def mark(self, clock_ps: Callable[[], int]) -> None:
        """Read the counters at an end of the measurement window, with the time of the reading."""
        before = clock_ps()
        counters = self._read(everywhere=True)
        self._marks.append(((before + clock_ps()) // 2, counters))

    def window_ps(self) -> tuple[int, int]:
        """Times of the readings at both ends of the window; the planned times if the run ended earlier."""
        read = tuple(time for time, _ in self._marks)
        start, end = read + self._plan.window_ps[len(read) :]
        return start, end

    def totals(self) -> list[dict[str, Any]]:
        """For each directed link, in the plan's order: traffic since `begin`, and within the window."""
        now = self._read(everywhere=True)
        start, end = ([counters for _, counters in self._marks] + [now, now])[:2]
        rows = []
        for interface, (name, _) in self._ends.items():
            counters, zero = now[interface], self._zero[interface]
            source, _, target = name.partition("->")
            rows.append(
                {
                    "from": source,
                    "to": target,
                    "interface": interface,
                    "bytes": counters.bytes - zero.bytes,
                    "window_bytes": end[interface].bytes - start[interface].bytes,
                    "packets": counters.packets - zero.packets,
                    "drops": counters.drops - zero.drops,
                    "max_queue_bytes": self._most.get(name, 0),
                }
            )
        return rows

    def _of_switch(self, interface: str) -> bool:
        return self._ends[interface][1].node not in self._plan.host_names

    def _read(self, *, everywhere: bool) -> dict[str, Counters]:
        listing = _listing()
        if everywhere:
            for path in self._namespaces.values():
                with entered(path):
                    listing += _listing()
        return counters_of(listing, {interface: end for interface, (_, end) in self._ends.items()})


def counters_of(listing: list[dict[str, Any]], ends: Mapping[str, End]) -> dict[str, Counters]:
    """The counters of each interface, from tc: HTB's for traffic sent, the queue's for backlog and drops."""
    roots = {entry["dev"]: entry for entry in listing if entry.get("root") and entry["kind"] == "htb"}
    queues = {entry["dev"]: entry for entry in listing if entry.get("parent") == "1:1"}
    found = {}
    for interface, root in roots.items():
        if interface not in ends or interface not in queues:
            continue
        queue, beside = queues[interface], FRAMING[ends[interface].overhead] - HEADER
        found[interface] = Counters(
            root["bytes"] + beside * root["packets"],
            root["packets"],
            queue["drops"],
            queue["backlog"] + beside * queue["qlen"],
            queue["qlen"],
        )
    return found


def _listing() -> list[dict[str, Any]]:
    command = [str(program("tc")), "-j", "-s", "qdisc", "show"]
    listing: list[dict[str, Any]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return listing
