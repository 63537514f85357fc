"""The data for the claims, read from results: each run's throughput over time and link utilisation.

`Measured` is the same for simulated and emulated runs; values that are unknown for one kind are None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from ...results import Results
from .setup import Setup
from .topologies import SHAPES, Topology, name

REACHED = 370 / 400
"""Share of the total capacity that counts as all of it: TCP's share of a link, with some tolerance."""
_WINDOW_S = 1.0
"""Interval over which mean throughput has to reach `REACHED`."""
_LASTING_S = 10.0
"""Interval over which throughput has to stay at a share of its final rate."""
STEADY_S = 1.0
"""Start of a transfer's steady state; before it, windows open."""


@dataclass(frozen=True)
class Measured:
    """A run, with the throughput in each interval of the receiver, by the interval's end.

    `path_use` is the lowest utilisation of the links of each path of the topology. `subflow_bytes` are in the order of
    the subflows' sources, empty if unknown; `subflow_paths` their switches, `s1 s3 s2`. `set_up_s` is the setup time of
    each path, from the packet that needed it; `own_share` the share of CPU time used by switches, hosts' programs and
    controller, None for a simulation.
    """

    setup: Setup
    times_s: tuple[float, ...]
    throughput_bps: tuple[float, ...]
    path_use: tuple[float, ...]
    subflow_bytes: tuple[int, ...]
    subflow_paths: tuple[str | None, ...]
    set_up_s: tuple[float, ...]
    own_share: float | None
    saturated: bool = False

    def mean_bps(self, begin_s: float = STEADY_S, end_s: float = float("inf")) -> float:
        """Mean throughput between two times."""
        begins = (0.0, *self.times_s)
        parts = [
            (end - begin, value)
            for begin, end, value in zip(begins, self.times_s, self.throughput_bps, strict=False)
            if begin >= begin_s - 1e-6 and end <= end_s + 1e-6
        ]
        span = sum(width for width, _ in parts)
        return sum(width * value for width, value in parts) / span if span else 0.0

    @property
    def share(self) -> float:
        """Throughput as a share of the total capacity, from `STEADY_S` on."""
        return self.mean_bps() / self.setup.capacity_bps

    @property
    def reached_s(self) -> float | None:
        """Start of the first second with a mean throughput of `REACHED` of the total capacity; None without one."""
        wanted = REACHED * self.setup.capacity_bps
        last = self.times_s[-1] if self.times_s else 0.0
        starts = [start for start in (0.0, *self.times_s) if start + _WINDOW_S <= last + 1e-6]
        return next((start for start in starts if self.mean_bps(start, start + _WINDOW_S) >= wanted), None)

    def grown_s(self, share: float, final_bps: float) -> float | None:
        """Start of the first interval with this share of a final rate, if the next `_LASTING_S` have it too.

        None if there is none. A single interval may be a burst of data held back by a lost segment.
        """
        wanted = share * final_bps
        last = self.times_s[-1] if self.times_s else 0.0
        for begin, value in zip((0.0, *self.times_s), self.throughput_bps, strict=False):
            if begin + _LASTING_S > last + 1e-6:
                break
            if value >= wanted and self.mean_bps(begin, begin + _LASTING_S) >= wanted:
                return begin
        return None


def gather(results: Sequence[Results]) -> list[Measured]:
    """All finished runs of a study's parts."""
    return [run for part in results for run in _part(part)]


def _part(part: Results) -> list[Measured]:
    if not part.finished:
        return []
    arrived = part.series("throughput_bps").sort("run", "time_ps")
    flows = part.flows(measured=False)
    return [
        _run(summary, arrived.filter(pl.col("run") == run.id), flows.filter(pl.col("run") == run.id))
        for run, summary in zip(part.finished, part.summaries(), strict=True)
    ]


def _run(summary: dict[str, Any], arrived: pl.DataFrame, flows: pl.DataFrame) -> Measured:
    setup = Setup.from_json(summary["setup"]) if "setup" in summary else _simulated(summary)
    busy = {(link["from"], link["to"]): float(link["utilisation"]) for link in summary["links"]}
    path_use = [min(busy[pair] for pair in pairwise(path)) for path in SHAPES[setup.topology].paths]
    emulated = summary.get("emulated")
    if emulated is None:
        took = [ps / 1e12 for ps in summary.get("controller", {}).get("path_setups_ps", ())]
        flows = flows.clear()
        emulated = {}
    else:
        took = emulated.get("controller", {}).get("status", {}).get("path_set_ups_s", ())
    return Measured(
        setup,
        tuple(arrived["time_s"].to_list()),
        tuple(arrived["value"].to_list()),
        tuple(path_use),
        tuple(flows["bytes"].to_list()),
        tuple(flows["path"].cast(pl.String).to_list()),
        tuple(took),
        emulated.get("processors", {}).get("own_share"),
        bool(emulated.get("processors", {}).get("saturated", False)),
    )


def _simulated(summary: dict[str, Any]) -> Setup:
    topology = next(one for one in Topology if summary["fabric"]["name"] == name(one))
    between = [link["rate_bps"] for link in summary["links"] if link["from"][0] == link["to"][0] == "s"]
    return Setup(
        topology,
        summary["scheme"]["name"],
        summary["transport"]["parameters"]["subflows"],
        summary["seed"],
        between[0],
        summary["duration_ps"] / 1e12,
        summary["traffic"]["flows"],
    )
