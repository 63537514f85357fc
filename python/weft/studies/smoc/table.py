"""What the claims are about, read from results: of each run its throughput over time and what its links carried.

`Measured` is the same for simulated and for emulated runs; what one of them cannot know is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from ...results import Results
from .setup import Setup
from .topologies import SHAPES, Topology, name

REACHED = 370 / 400
"""Share of what all paths carry together that counts as all of it: what TCP leaves of a link, and a little."""
_WINDOW_S = 1.0
"""Over how long throughput has to have the mean that is to be reached."""
_LASTING_S = 10.0
"""Over how long throughput has to have a share of its final rate that is to be reached for good."""
STEADY_S = 1.0
"""From then on a transfer's throughput counts as that of the transfer; before, windows open."""


@dataclass(frozen=True)
class Measured:
    """A run.

    Attributes:
        setup: What was run.
        times_s: Ends of the intervals in which the receiver counted.
        throughput_bps: In each of them.
        path_use: For each path of the topology the least share of the time that one of its links was busy, by bytes.
        subflow_bytes: Of each subflow, in order of their sources; empty where nobody counted.
        subflow_paths: Of each its switches, `s1 s3 s2`; None where nobody said.
        set_up_s: How long each path took from the packet that wanted it until it was there.
        own_share: Of the processors' time, what switches, hosts' programs and controller took; None of a simulation.
        saturated: Whether the machine had no processor time left meanwhile.
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
        """Throughput from one time to another."""
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
        """Of what all paths of the topology carry together, from `STEADY_S` on."""
        return self.mean_bps() / self.setup.capacity_bps

    @property
    def reached_s(self) -> float | None:
        """When the second begins whose mean throughput is `REACHED` of what all paths carry; None if none does."""
        wanted = REACHED * self.setup.capacity_bps
        last = self.times_s[-1] if self.times_s else 0.0
        starts = [start for start in (0.0, *self.times_s) if start + _WINDOW_S <= last + 1e-6]
        return next((start for start in starts if self.mean_bps(start, start + _WINDOW_S) >= wanted), None)

    def grown_s(self, share: float, final_bps: float) -> float | None:
        """When the first interval begins that has this share of a final rate, and `_LASTING_S` from then on too.

        None if none does. An interval alone may be a burst: what waited for a lost segment arrives at once.
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
    """Every finished run of the parts of a study."""
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
    """What a simulated run was, from what its summary says of every run."""
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
