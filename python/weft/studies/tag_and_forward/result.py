"""The measurements of a peer in a round, as a run's directory.

An echo is a flow of the result: its class is the packets' size, its completion time the round trip.
"""

from functools import partial
from pathlib import Path
from typing import Any

from ...graph import Link
from ...topology import Fabric
from .. import layout
from .fabric import fabric
from .setup import Setup

_HOPS = 6
"""Links between servers of different pods."""
_UNKNOWN = ("bytes", "window_bytes", "packets", "drops", "max_queue_bytes", "utilisation")
"""Unknown values of links: reading their counters would take CPU time from peers. Their rate is the fabric file's
default and is not enforced."""


def write(setup: Setup, found: dict[str, Any], report: dict[str, Any], target: Path) -> None:
    """Write a run's result. Raises `OutputError` if it cannot be written."""
    layout.write(target, flows(found), series(found), fabric(), partial(summary, setup, found, report))


def flows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each echo; lost ones have no end."""
    source, destination = found["source"], found["destination"]
    rows: list[dict[str, Any]] = []
    for klass, echoes in found["echoes"].items():
        times = [*echoes["rtt_ns"], *([None] * echoes["lost"])]
        for took in times:
            fct = None if took is None else took * 1000
            rows.append(
                {
                    "flow": len(rows),
                    "src": source,
                    "dst": destination,
                    "class": klass,
                    "bytes": int(klass.split()[0]),
                    "start_ps": 0,
                    "end_ps": fct,
                    "fct_ps": fct,
                    "measured": True,
                    "hops": _HOPS,
                }
            )
    return rows


def series(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The carried rates, by size."""
    return [
        (0, metric, klass, load[metric])
        for klass, load in found["loads"].items()
        for metric in ("packets_per_s", "packets_per_processor_s")
        if load[metric] is not None
    ]


def summary(setup: Setup, found: dict[str, Any], report: dict[str, Any], built: Fabric) -> dict[str, Any]:
    """`summary.json`, with the known part of the usual entries."""
    classes = {
        klass: layout.of_class(flows=len(echoes["rtt_ns"]) + echoes["lost"], finished=len(echoes["rtt_ns"]))
        for klass, echoes in found["echoes"].items()
    }
    longest = max((max(echoes["rtt_ns"], default=0) for echoes in found["echoes"].values()), default=0) * 1000
    return layout.summary(setup, setup.round, built, classes, longest) | {
        "transport": {"profile": "ICMP echo", "parameters": {"at_a_time": 1}},
        "interval_ps": longest,
        "links": [_link(link) for link in built.links],
        "warnings": [],
        "emulated": {**report, **{key: found[key] for key in ("loads", "transfers", "processors")}},
    }


def _link(link: Link) -> dict[str, Any]:
    known = {"from": link.source, "to": link.target, "rate_bps": link.rate_bps, "delay_ps": 0, "up": True}
    return known | dict.fromkeys(_UNKNOWN)
