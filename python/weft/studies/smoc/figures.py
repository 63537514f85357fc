"""The paper's figure from our data: throughput over time, smoc and spanning tree; and by number of subflows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import quantity
from ...figures.style import intervals, label_with, legend, panels, save
from ...palette import styles
from ...statistics import estimate
from .claims import chosen
from .setup import COUNTS, SCHEMES, SMOC
from .table import Measured
from .topologies import LOCAL, Topology

_TITLES = {
    Topology.isolated: "topology 1: four isolated paths",
    Topology.shared: "topology 2: a shared link",
    Topology.wide: "wide area",
}


_ROOM = 1.25
"""Height of a panel relative to the total capacity: data held back by a loss is delivered in a burst."""


def draw(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """Write ``throughput-over-time`` and ``subflows``; returns the files."""
    there = [topology for topology in Topology if any(run.setup.topology is topology for run in runs)]
    if not there:
        return []
    return _over_time(runs, there, out, formats) + _by_subflows(runs, out, formats)


def _over_time(runs: Sequence[Measured], there: Sequence[Topology], out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(len(there), width=3.4, height=2.7) as (sheet, axes):
        for ax, topology in zip(axes[0], there, strict=True):
            for scheme, style in styles(SCHEMES).items():
                found = chosen(runs, topology, scheme)
                _band(ax, found, scheme, style.color)
            capacities = {run.setup.capacity_bps for run in runs if run.setup.topology is topology}
            for capacity in capacities:
                ax.axhline(capacity, color="#66727e", linewidth=0.7, linestyle=":")
            ax.set_ylim(0, _ROOM * max(capacities))
            ax.set_title(_TITLES[topology])
            ax.set_xlabel("seconds since the start")
            label_with(ax.yaxis, quantity.FORMATS["bps"])
        axes[0][0].set_ylabel("received")
        legend(sheet, axes[0][0])
        return save(sheet, out / "throughput-over-time", formats)


def _band(ax: Any, runs: Sequence[Measured], label: str, color: str) -> None:
    """The mean over runs at each time, with its 95 % interval as a band."""
    if not runs:
        return
    length = min(len(run.times_s) for run in runs)
    times = runs[0].times_s[:length]
    found = [estimate(run.throughput_bps[at] for run in runs) for at in range(length)]
    means = [one.mean if one is not None else 0.0 for one in found]
    halves = [(one.half or 0.0) if one is not None else 0.0 for one in found]
    ax.plot(times, means, color=color, label=label)
    low = [max(mean - half, 0.0) for mean, half in zip(means, halves, strict=True)]
    high = [mean + half for mean, half in zip(means, halves, strict=True)]
    ax.fill_between(times, low, high, color=color, alpha=0.2, linewidth=0)


def _by_subflows(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(1, width=3.4, height=2.7) as (sheet, axes):
        ax = axes[0][0]
        for topology, style in zip(LOCAL, styles(f"topology {one:d}" for one in LOCAL).values(), strict=True):
            values = [
                (count, estimate(run.mean_bps() for run in chosen(runs, topology, SMOC, count))) for count in COUNTS
            ]
            intervals(ax, values, style.color, style.marker, f"topology {topology:d}")
        ax.set_xticks(COUNTS)
        ax.set_xlabel("subflows")
        ax.set_ylabel("received under smoc")
        ax.set_ylim(bottom=0)
        label_with(ax.yaxis, quantity.FORMATS["bps"])
        legend(sheet, ax)
        return save(sheet, out / "subflows", formats)
