"""What the claims are about, read from results: of each run its round trips, the load it carried, and its rules."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...results import Results
from .setup import ECHO_SIZES, FEW_CLASS, LOAD_SIZES, RULES, spelled


@dataclass(frozen=True)
class Measured:
    """A run: one peer in one round.

    Attributes:
        peer: Which.
        rules: In each of its tables.
        round: Its number; what is compared has the same.
        round_trip_s: By packet size, the median of the round's echoes: a process that others hold up for a while does
            not count.
        lost: Echoes without an answer.
        carried: By packet size, packets a second; no size whose every rate was too much, none at all in rounds without
            load.
        by_processor: By packet size, packets for a second of processor time at that rate, that of the sender included.
        few: Packets a second of the smallest size and of few flows; None where that was not measured.
        transfers_bps: Throughput of a TCP connection, by what hosts hand the kernel.
        emulated: What else the run's summary has of how it came about.
    """

    peer: str
    rules: int
    round: int
    round_trip_s: dict[int, float]
    lost: int
    carried: dict[int, float]
    by_processor: dict[int, float]
    few: float | None
    transfers_bps: dict[str, float]
    emulated: dict[str, Any]

    @property
    def saturated(self) -> bool:
        """Whether others left the machine no processor time meanwhile."""
        return bool(self.emulated.get("processors", {}).get("saturated", False))


def gather(results: Results) -> list[Measured]:
    """Every finished run."""
    if not results.finished:
        return []
    times: dict[tuple[str, str], list[float | None]] = {}
    for run, klass, took in results.flows(measured=False).select("run", "class", "fct_s").iter_rows():
        times.setdefault((run, klass), []).append(took)
    return [
        _run(run.id, run.scheme, run.dimensions["tables.rules"], run.seed, summary["emulated"], times)
        for run, summary in zip(results.finished, results.summaries(), strict=True)
    ]


def _run(
    ident: str,
    peer: str,
    rules: int,
    number: int,
    emulated: dict[str, Any],
    times: Mapping[tuple[str, str], list[float | None]],
) -> Measured:
    round_trips, lost = {}, 0
    for size in ECHO_SIZES:
        echoes = times.get((ident, spelled(size)), [])
        answered = [took for took in echoes if took is not None]
        lost += len(echoes) - len(answered)
        if answered:
            round_trips[size] = statistics.median(answered)
    loads = {size: emulated["loads"].get(spelled(size), {}) for size in LOAD_SIZES}
    carried, by_processor = (
        {size: load[key] for size, load in loads.items() if load.get(key) is not None}
        for key in ("packets_per_s", "packets_per_processor_s")
    )
    few = emulated["loads"].get(FEW_CLASS, {}).get("packets_per_s")
    transfers = {how: float(one["throughput_bps"]) for how, one in emulated["transfers"].items()}
    return Measured(peer, rules, number, round_trips, lost, carried, by_processor, few, transfers, emulated)


def of_peer(runs: Iterable[Measured], peer: str) -> list[Measured]:
    """The runs of one peer, in order of rounds."""
    return sorted((run for run in runs if run.peer == peer), key=lambda run: (run.rules, run.round))


def by_round(runs: Sequence[Measured], peer: str, what: str, size: int, rules: int = RULES) -> dict[int, float]:
    """One of a run's attributes that are by size, by round."""
    return {
        run.round: getattr(run, what)[size]
        for run in of_peer(runs, peer)
        if run.rules == rules and size in getattr(run, what)
    }
