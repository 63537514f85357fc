"""What the switches tell of explorations while a run goes on, and what follows for each flow.

Every switch's control socket gives its events as lines of JSON (`weftctl trace`, docs/switchd.md), with the time of the
kernel's monotonic clock, which is that of the run.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from .network import Network
from .plan import Plan

_WANTED = frozenset(("explored", "recovering", "confirmed"))
_Flow = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Told:
    """One event: when, in nanoseconds of the monotonic clock, where, what, of which flow (its two ends)."""

    time_ns: int
    switch: str
    what: str
    ends: _Flow
    exploration: int


class Traces:
    """Follows the traces of all switches, one thread each."""

    def __init__(self, network: Network) -> None:
        """For a network whose switches run."""
        self._told: list[Told] = []
        self._lost = 0
        self._following: list[tuple[socket.socket, threading.Thread]] = []
        for name, switch in network.switches.items():
            there, lines = switch.follow("trace")
            thread = threading.Thread(target=self._follow, args=(name, lines), daemon=True)
            thread.start()
            self._following.append((there, thread))

    def _follow(self, switch: str, lines: Iterable[bytes]) -> None:
        """Read one switch's events until its socket is shut down."""
        try:
            for line in lines:
                # Late copies are most of what is told, and of no interest here.
                if b'"late"' in line:
                    continue
                event = json.loads(line)
                if event["what"] == "lost":
                    self._lost += int(event["events"])
                elif event["what"] in _WANTED:
                    self._told.append(_told(switch, event))
        except (OSError, ValueError, HTTPException):
            # That is how an answer ends whose socket is shut down.
            return

    def end(self) -> tuple[list[Told], int]:
        """Stop following; what was told, in order of time, and how many events were lost."""
        for there, thread in self._following:
            there.shutdown(socket.SHUT_RDWR)
            thread.join()
        return sorted(self._told, key=lambda told: told.time_ns), self._lost


def _told(switch: str, event: dict[str, Any]) -> Told:
    ends = frozenset(((event["src"], event["sport"]), (event["dst"], event["dport"])))
    return Told(event["time_ns"], switch, event["what"], ends, event["exploration"])


def flows(plan: Plan, told: Iterable[Told]) -> list[dict[str, Any]]:
    """For each flow that the fabric was explored for: how long that took first, its last path, how often it moved.

    As in a simulation (docs/results.md): from the request's leaving the source's switch until the reply had come back
    there. The switches of a path are those that confirmed it, which a reply does on its way from the destination to
    the source.
    """
    macs = {host.name: host.mac for host in plan.hosts}
    edges = {
        end.node: other.node
        for cable in plan.cables
        for end, other in (cable.ends, cable.ends[::-1])
        if end.node in plan.host_names
    }
    by_ends: dict[_Flow, list[Told]] = {}
    for event in told:
        by_ends.setdefault(event.ends, []).append(event)
    found = []
    for flow in plan.flows:
        ends = frozenset(((macs[flow["src"]], flow["sport"]), (macs[flow["dst"]], flow["dport"])))
        events = by_ends.get(ends)
        if events:
            found.append({"flow": flow["flow"], "resolution_ps": None, **_seen(events, edges[flow["src"]])})
    return found


def _seen(events: list[Told], edge: str) -> dict[str, Any]:
    """What a flow's events, in order of time, say of it; `edge` is its source's switch."""
    since: int | None = None
    exploration_ps: int | None = None
    way: list[str] = []
    paths: list[list[str]] = []
    current: int | None = None
    for event in events:
        if event.what != "confirmed":
            since = event.time_ns if event.switch == edge and since is None else since
            continue
        if event.exploration != current:
            current, way = event.exploration, []
        if event.switch not in way:
            way.append(event.switch)
        if event.switch == edge:
            if exploration_ps is None and since is not None:
                exploration_ps = (event.time_ns - since) * 1000
            if not paths or paths[-1] != way[::-1]:
                paths.append(way[::-1])
    return {
        "exploration_ps": exploration_ps,
        "moves": max(len(paths) - 1, 0),
        "path": paths[-1] if paths else [],
    }
