"""The measured runs as a part of the study: a run is one peer in one round.

All peers are built once, each in its own jail, and are measured in turn: in a round, echo requests of every size go
through each peer in random order, between two random servers of different pods; then, in some rounds, the load. So the
machine's background load affects all peers alike, and values of the same round are compared.

An echo is a flow of the result: its class is the packets' size, its completion time the round trip.
"""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from ...emulation import iperf, openvswitch, requirements
from ...emulation.capacity import Processors
from ...emulation.errors import EmulationError
from ...emulation.sweep import workshop
from ...errors import OutputError
from ...results import Results
from .. import layout
from ..base import Part, RunOptions
from .fabric import SERVERS, pod
from .flows import LOAD
from .jails import Peer
from .result import write
from .setup import (
    ECHO_SIZES,
    FEW,
    FEW_CLASS,
    FLOW_TABLE,
    LOAD_SIZES,
    MISSING,
    OVS,
    PACKETS,
    SEGMENTS,
    TAG_FORWARD,
    Extent,
    Setup,
    spelled,
)

_WARM = 3
"""Warm-up echoes: the first one fills caches."""
_TRANSFER_S = 1.0
_PAUSE_S = 0.1
"""Duration of pauses without requests, in which CPU usage is due to other programs."""
_STEPS = 6
"""Steps of the bisection for a rate."""

OnEvent = Callable[[dict[str, Any]], None]


class Measurements(Part):
    """All rounds."""

    def __init__(self, name: str, extent: Extent) -> None:
        self.name = name
        self.extent = extent
        self.setups = extent.setups()

    def runs(self) -> int:
        """Number of runs."""
        return len(self.setups)

    def check(self) -> None:
        """Check that this machine meets the peers' requirements."""
        requirements.check(("weft-switchd", "weft-pktgen"))
        openvswitch.check()
        iperf.check()

    def carry_out(self, out: Path, options: RunOptions) -> Results:
        """One round after the other."""
        on_event = options.progress
        layout.claim(out, self._index())
        rounds = [list(group) for _, group in groupby(self.setups, key=lambda setup: (setup.rules, setup.round))]
        pending = [group for group in rounds if not all(_there(out, setup) for setup in group)]
        for _ in range(len(self.setups) - sum(len(group) for group in pending)):
            on_event({"event": "run_skipped"})
        if pending:
            try:
                with workshop(out), self._built(pending[0], on_event) as peers:
                    self._carry_out(out, pending, peers, on_event)
            except EmulationError as error:
                raise OutputError(f"the emulation failed: {error}", begun=True) from error
        return Results(out)

    def _carry_out(self, out: Path, pending: list[list[Setup]], peers: dict[str, Peer], on_event: OnEvent) -> None:
        """Run the rounds with built peers; each is written when it has finished."""
        once = {name: self._once(peer) for name, peer in peers.items()}
        for group in pending:
            chosen = {setup.peer: peers[setup.peer] for setup in group}
            for setup in group:
                chosen[setup.peer].fill(setup.rules)
            found = Round(chosen, self.extent, group, on_event).carry_out()
            for setup in group:
                write(setup, found[setup.peer], once[setup.peer], _target(out, setup))
                on_event({"event": "run_done", "run_id": setup.id, "label": setup.label, "fraction": 1.0})

    def _once(self, peer: Peer) -> dict[str, Any]:
        """One-time measurements of a peer: its description, and for tags the time to set gates."""
        report: dict[str, Any] = peer.ask("report")
        if peer.name == OVS:
            return report
        if peer.name == TAG_FORWARD:
            processors = Processors()
            pause(processors)
            for way, at_once in (("at_once", True), ("in_turn", False)):
                report[f"gates_{way}"] = [peer.ask("gates", at_once=at_once) for _ in range(self.extent.settings)]
            pause(processors)
            report["gates_processors"] = processors.report()
        return report | {"example": peer.ask("example")}

    @contextmanager
    def _built(self, first: list[Setup], on_event: OnEvent) -> Iterator[dict[str, Peer]]:
        """All peers, built in parallel; they are stopped after the block."""
        with tempfile.TemporaryDirectory(prefix="weft-") as directory:
            peers: dict[str, Peer] = {}
            try:
                for setup in first:
                    peers[setup.peer] = Peer(setup.peer, setup.rules, Path(directory) / setup.peer)
                for setup in first:
                    peers[setup.peer].wait(partial(_building, setup, on_event))
                yield peers
            finally:
                with ThreadPoolExecutor() as pool:
                    list(pool.map(Peer.end, peers.values()))

    def _index(self) -> dict[str, Any]:
        return {
            "name": "tag-and-forward",
            "description": "Round trips and load through Open vSwitch, a flow table at every hop, and tags, emulated",
            "baseline": OVS,
            "runs": [layout.entry(setup, setup.round) for setup in self.setups],
        }


class Round:
    """One round, with built peers."""

    def __init__(self, peers: dict[str, Peer], extent: Extent, setups: list[Setup], on_event: OnEvent) -> None:
        """Random choices are seeded with the round's number."""
        self._processors = Processors()
        self._peers, self._extent, self._setups, self._on_event = peers, extent, setups, on_event
        self._draw = random.Random(setups[0].round)
        self.source = self._draw.choice(SERVERS)
        self.destination = self._draw.choice([one for one in SERVERS if pod(one) != pod(self.source)])

    def carry_out(self) -> dict[str, dict[str, Any]]:
        """The measurements, by peer. Raises `EmulationError` if a peer has exited, or refused a request."""
        found: dict[str, dict[str, Any]] = {
            name: {"source": self.source, "destination": self.destination, "echoes": {}, "loads": {}, "transfers": {}}
            for name in self._peers
        }
        pause(self._processors)
        for size, name in self._turns(ECHO_SIZES):
            found[name]["echoes"][spelled(size)] = self._peers[name].ask(
                "echo",
                source=self.source,
                destination=self.destination,
                size=size,
                count=self._extent.echoes,
                warm=_WARM,
            )
        pause(self._processors)
        if self._setups[0].loaded:
            turns = self._turns(LOAD_SIZES)
            for number, (size, name) in enumerate(turns):
                setup = next(one for one in self._setups if one.peer == name)
                share = number / len(turns)
                self._on_event({"event": "progress", "run_id": setup.id, "label": setup.label, "fraction": share})
                found[name]["loads"][spelled(size)] = carried(self._peers[name], size, self._extent.trial_s)
            for name in self._draw.sample([FLOW_TABLE, TAG_FORWARD], 2):
                found[name]["loads"][FEW_CLASS] = carried(self._peers[name], LOAD_SIZES[0], self._extent.trial_s, FEW)
            for how, name in self._transfers():
                found[name]["transfers"][how] = self._peers[name].ask(
                    "transfer",
                    source=self.source,
                    destination=self.destination,
                    seconds=_TRANSFER_S,
                    segments=how == SEGMENTS,
                )
            pause(self._processors)
        for one in found.values():
            one["processors"] = self._processors.report()
        return found

    def _transfers(self) -> list[tuple[str, str]]:
        """Connections of each peer; with segments only for switches that accept them."""
        kinds = [(PACKETS, name) for name in self._peers] + [
            (SEGMENTS, name) for name in self._peers if name == FLOW_TABLE
        ]
        return self._draw.sample(kinds, len(kinds))

    def _turns(self, sizes: tuple[int, ...]) -> list[tuple[int, str]]:
        """Each size with each peer: sizes in random order, and for each size the peers in random order."""
        return [
            (size, name)
            for size in self._draw.sample(sizes, len(sizes))
            for name in self._draw.sample(list(self._peers), len(self._peers))
        ]


def pause(processors: Processors) -> None:
    """Sample the CPU usage while no peer has a request: it is due to other programs.

    During requests, peers may use all CPUs on purpose: a load is as much as one CPU can send.
    """
    processors.begin()
    time.sleep(_PAUSE_S)
    processors.sample()


def carried(peer: Peer, size: int, seconds: float, flows: int = LOAD) -> dict[str, Any]:
    """The highest rate at which all but `MISSING` of the packets arrive while they are sent, with all trials.

    First at one core's full speed; if that is too much, by bisection between zero and twice the rate received.
    """

    def trial(rate: float) -> dict[str, Any]:
        found = peer.ask("load", size=size, packets_per_s=rate, seconds=seconds, flows=flows)
        return {"packets_per_s": rate, **found}

    trials = [trial(0.0)]
    if not _is_carried(trials[0]):
        low, high = 0.0, 2 * trials[0]["received"] / trials[0]["seconds"]
        for _ in range(_STEPS):
            rate = (low + high) / 2
            trials.append(trial(rate))
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


def _building(setup: Setup, on_event: OnEvent, share: float) -> None:
    label = f"{setup.label} (building)"
    on_event({"event": "progress", "run_id": setup.id, "label": label, "fraction": share / 2})


def _target(out: Path, setup: Setup) -> Path:
    return out / "runs" / setup.id


def _there(out: Path, setup: Setup) -> bool:
    return (_target(out, setup) / "summary.json").is_file()
