"""Traces of explorations from the switches during a run, and the results for each flow.

Every switch's control socket streams its events as JSON lines (`weftctl trace`, docs/switchd.md), with times of the
kernel's monotonic clock, which is also the run's clock.
"""

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
class TraceEvent:
    """One event: time in nanoseconds of the monotonic clock, switch, kind, and the flow's two ends."""

    time_ns: int
    switch: str
    what: str
    ends: _Flow
    exploration: int


class Traces:
    """Follows the traces of all switches, one thread each."""

    def __init__(self, network: Network) -> None:
        """Takes a network whose switches are running."""
        self._events: list[TraceEvent] = []
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
                # Late copies are most of the events, and are not needed here.
                if b'"late"' in line:
                    continue
                event = json.loads(line)
                if event["what"] == "lost":
                    self._lost += int(event["events"])
                elif event["what"] in _WANTED:
                    self._events.append(_trace_event(switch, event))
        except (OSError, ValueError, HTTPException):
            # The socket was shut down.
            return

    def end(self) -> tuple[list[TraceEvent], int]:
        """Stop following; returns the events in order of time, and the number of events lost."""
        for there, thread in self._following:
            there.shutdown(socket.SHUT_RDWR)
            thread.join()
        return sorted(self._events, key=lambda event: event.time_ns), self._lost


def _trace_event(switch: str, event: dict[str, Any]) -> TraceEvent:
    ends = frozenset(((event["src"], event["sport"]), (event["dst"], event["dport"])))
    return TraceEvent(event["time_ns"], switch, event["what"], ends, event["exploration"])


def flows(plan: Plan, events: Iterable[TraceEvent]) -> list[dict[str, Any]]:
    """For each explored flow: duration of its first exploration, last path, number of path changes.

    As in a simulation (docs/results.md): from the request leaving the source's switch until the reply is back there.
    The switches of a path are those that confirmed it, in reverse order, as the reply travels from the destination to
    the source.
    """
    macs = {host.name: host.mac for host in plan.hosts}
    edges = {
        end.node: other.node for cable in plan.cables for end, other in cable.directions if end.node in plan.host_names
    }
    by_ends: dict[_Flow, list[TraceEvent]] = {}
    for event in events:
        by_ends.setdefault(event.ends, []).append(event)
    found = []
    for flow in plan.flows:
        ends = frozenset(((macs[flow["src"]], flow["sport"]), (macs[flow["dst"]], flow["dport"])))
        own = by_ends.get(ends)
        if own:
            found.append({"flow": flow["flow"], "resolution_ps": None, **_seen(own, edges[flow["src"]])})
    return found


def _seen(events: list[TraceEvent], edge: str) -> dict[str, Any]:
    """A flow's results from its events in order of time; `edge` is its source's switch."""
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
    return {"exploration_ps": exploration_ps, "moves": max(len(paths) - 1, 0), "path": paths[-1] if paths else []}
