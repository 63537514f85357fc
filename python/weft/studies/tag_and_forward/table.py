"""The data for the claims, read from results: each run's round trips, carried load and rules."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...results import Results
from .setup import ECHO_SIZES, FEW_CLASS, LOAD_SIZES, RULES, spelled


@dataclass(frozen=True)
class Measured:
    """A run: one peer, with so many rules in each table, in one round; runs of the same round are compared.

    By packet size, `round_trip_s` is the median of the round's echoes, which is robust against short interruptions,
    `carried` packets per second (without sizes whose every rate was too high), `by_processor` packets per second of CPU
    time at that rate, the sender's included; `few` is `carried` of the smallest size with few flows, None if not
    measured.
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
        """Whether other programs saturated the machine's CPU during the run."""
        return bool(self.emulated.get("processors", {}).get("saturated", False))


def gather(results: Results) -> list[Measured]:
    """All finished runs."""
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
    """An attribute of runs for one size, by round."""
    return {
        run.round: getattr(run, what)[size]
        for run in of_peer(runs, peer)
        if run.rules == rules and size in getattr(run, what)
    }
