"""The measured runs as a part of the study: a run is what was seen of one peer in one round.

All peers are built once, each in a jail of its own, and take turns: in a round echo requests of every size go through
each, in an order drawn anew, between two servers of different pods that are drawn for the round; then, in some rounds,
the load. So what else the machine does meanwhile slows each alike, and a round's figures are compared with each other.

An echo is a flow of the result: its class is the packets' size, its completion time the round trip.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from ...emulation import openvswitch, requirements
from ...emulation.errors import EmulationError
from ...emulation.sweep import workshop
from ...errors import OutputError
from ...results import Results
from ...topology import Fabric
from .. import layout
from ..base import Part
from .fabric import SERVERS, fabric, pod
from .jails import Peer
from .setup import ECHO_SIZES, LOAD_SIZES, MISSING, OVS, PEERS, Extent, Setup, spelled

_WARM = 3
"""Echoes before those that count: the first one makes entries in caches."""
_STEPS = 6
"""How often the interval is halved that a rate is looked for in."""
_HOPS = 6
"""Links between servers of different pods."""

Told = Callable[[dict[str, Any]], None]


class Measurements(Part):
    """All rounds."""

    def __init__(self, name: str, extent: Extent) -> None:
        self.name = name
        self.extent = extent
        self.setups = [
            Setup(peer, number, number <= extent.loads) for number in range(1, extent.rounds + 1) for peer in PEERS
        ]

    def runs(self) -> int:
        """How many there are."""
        return len(self.setups)

    def check(self) -> None:
        """Refuse a machine without what the peers need."""
        requirements.check(("weft-switchd", "weft-pktgen"))
        openvswitch.check()

    def carry_out(self, out: Path, jobs: int | None, progress: Told | None) -> Results:
        """One round after the other."""
        told = progress if progress is not None else lambda _: None
        layout.claim(out, self._index())
        rounds = [list(group) for _, group in groupby(self.setups, key=lambda setup: setup.round)]
        pending = [group for group in rounds if not all(_there(out, setup) for setup in group)]
        for _ in range(len(self.setups) - sum(len(group) for group in pending)):
            told({"event": "run_skipped"})
        if pending:
            try:
                with workshop(out), self._built(pending[0], told) as peers:
                    reports = {name: peer.ask("report") for name, peer in peers.items()}
                    for group in pending:
                        found = Round(peers, self.extent, group, told).carry_out()
                        for setup in group:
                            write(setup, self.extent, found[setup.peer], reports[setup.peer], _target(out, setup))
                            told({"event": "run_done", "run_id": setup.id, "label": setup.label, "fraction": 1.0})
            except EmulationError as error:
                raise OutputError(f"the emulation failed: {error}") from error
        return Results(out)

    @contextmanager
    def _built(self, first: list[Setup], told: Told) -> Iterator[dict[str, Peer]]:
        """All peers; they end with the block."""
        with tempfile.TemporaryDirectory(prefix="weft-") as directory:
            peers: dict[str, Peer] = {}
            try:
                for setup in first:
                    peers[setup.peer] = Peer(setup.peer, self.extent.rules, Path(directory) / setup.peer)
                for setup in first:
                    peers[setup.peer].wait(partial(_building, setup, told))
                yield peers
            finally:
                for peer in peers.values():
                    peer.end()

    def _index(self) -> dict[str, Any]:
        return {
            "name": "tag-and-forward",
            "description": "Round trips and load through Open vSwitch, a flow table at every hop, and tags, emulated",
            "baseline": OVS,
            "runs": [
                {
                    "id": setup.id,
                    "label": setup.label,
                    "overrides": {"scheme.name": setup.peer},
                    "seed": setup.round,
                    "path": f"runs/{setup.id}",
                }
                for setup in self.setups
            ],
        }


class Round:
    """One round, of peers that are there."""

    def __init__(self, peers: dict[str, Peer], extent: Extent, setups: list[Setup], told: Told) -> None:
        """What is drawn follows from the round's number."""
        self._peers, self._extent, self._setups, self._told = peers, extent, setups, told
        self._draw = random.Random(setups[0].round)
        self.source = self._draw.choice(SERVERS)
        self.destination = self._draw.choice([one for one in SERVERS if pod(one) != pod(self.source)])

    def carry_out(self) -> dict[str, dict[str, Any]]:
        """What was seen, by peer.

        Raises:
            EmulationError: A peer has ended, or refuses.
        """
        found: dict[str, dict[str, Any]] = {
            name: {"source": self.source, "destination": self.destination, "echoes": {}, "loads": {}}
            for name in self._peers
        }
        for size, name in self._turns(ECHO_SIZES):
            found[name]["echoes"][spelled(size)] = self._peers[name].ask(
                "echo",
                source=self.source,
                destination=self.destination,
                size=size,
                count=self._extent.echoes,
                warm=_WARM,
            )
        if self._setups[0].loaded:
            turns = self._turns(LOAD_SIZES)
            for number, (size, name) in enumerate(turns):
                setup = next(one for one in self._setups if one.peer == name)
                share = number / len(turns)
                self._told({"event": "progress", "run_id": setup.id, "label": setup.label, "fraction": share})
                found[name]["loads"][spelled(size)] = carried(self._peers[name], size, self._extent.trial_s)
        return found

    def _turns(self, sizes: tuple[int, ...]) -> list[tuple[int, str]]:
        """Each size with each peer: sizes in an order that is drawn, and for each size the peers."""
        return [
            (size, name)
            for size in self._draw.sample(sizes, len(sizes))
            for name in self._draw.sample(list(self._peers), len(self._peers))
        ]


def carried(peer: Peer, size: int, seconds: float) -> dict[str, Any]:
    """The highest rate at which all but `MISSING` of the packets arrive while they are sent, with all trials.

    First as fast as one core sends; if that is too much, the rate is looked for by halving the interval between
    nothing and twice of what arrived.
    """
    trials = [{"packets_per_s": 0.0} | peer.ask("load", size=size, packets_per_s=0.0, seconds=seconds)]
    if not _is_carried(trials[0]):
        low, high = 0.0, 2 * trials[0]["received"] / trials[0]["seconds"]
        for _ in range(_STEPS):
            rate = (low + high) / 2
            trials.append({"packets_per_s": rate} | peer.ask("load", size=size, packets_per_s=rate, seconds=seconds))
            low, high = (rate, high) if _is_carried(trials[-1]) else (low, rate)
    kept = [trial for trial in trials if _is_carried(trial)]
    best = max(kept, key=lambda trial: trial["received"] / trial["seconds"], default=None)
    if best is None:
        return {"packets_per_s": None, "packets_per_processor_s": None, "trials": trials}
    return {
        "packets_per_s": best["received"] / best["seconds"],
        "packets_per_processor_s": best["received"] / best["processor_s"],
        "trials": trials,
    }


def _is_carried(trial: dict[str, Any]) -> bool:
    sent, received = int(trial["sent"]), int(trial["received"])
    return sent > 0 and received >= (1 - MISSING) * sent


def write(setup: Setup, extent: Extent, found: dict[str, Any], report: dict[str, Any], target: Path) -> None:
    """Make a run's result of what was seen.

    Raises:
        OutputError: It cannot be written.
    """
    layout.write(target, flows(found), series(found), fabric(), partial(summary, setup, extent, found, report))


def flows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each echo, lost ones without an end."""
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
    """The rates that were carried, by size."""
    return [
        (0, metric, klass, load[metric])
        for klass, load in found["loads"].items()
        for metric in ("packets_per_s", "packets_per_processor_s")
        if load[metric] is not None
    ]


def summary(
    setup: Setup, extent: Extent, found: dict[str, Any], report: dict[str, Any], built: Fabric
) -> dict[str, Any]:
    """`summary.json`, with what is known of what others have in theirs."""
    classes = {
        klass: layout.of_class(flows=len(echoes["rtt_ns"]) + echoes["lost"], finished=len(echoes["rtt_ns"]))
        for klass, echoes in found["echoes"].items()
    }
    longest = max((max(echoes["rtt_ns"], default=0) for echoes in found["echoes"].values()), default=0) * 1000
    sent = sum(known["flows"] for known in classes.values())
    return {
        "name": built.name,
        "id": setup.id,
        "label": setup.label,
        "seed": setup.round,
        "overrides": {"scheme.name": setup.peer},
        "scheme": {"name": setup.peer, "params": {"rules": extent.rules}},
        "fabric": {
            "name": built.name,
            "hosts": len(built.hosts),
            "switches": len(built.switches),
            "links": len(built.links),
        },
        "transport": {"profile": "ICMP echo", "parameters": {}},
        "traffic": {"flows": sent, "mean_bytes": None, "notes": []},
        "duration_ps": longest,
        "simulated_ps": longest,
        "window_ps": [0, longest],
        "interval_ps": longest,
        "classes": classes,
        "counters": {
            "flows_started": sent,
            "flows_finished": sum(known["finished"] for known in classes.values()),
        },
        "events": [],
        "links": [],
        "nodes": [{"name": node.name, "role": node.role, "tier": node.tier} for node in built.nodes],
        "warnings": [],
        "emulated": {"loads": found["loads"], **report},
    }


def _building(setup: Setup, told: Told, share: float) -> None:
    label = f"{setup.label} (building)"
    told({"event": "progress", "run_id": setup.id, "label": label, "fraction": share / 2})


def _target(out: Path, setup: Setup) -> Path:
    return out / "runs" / setup.id


def _there(out: Path, setup: Setup) -> bool:
    return (_target(out, setup) / "summary.json").is_file()
