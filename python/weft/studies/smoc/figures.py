"""The paper's figure from our data: throughput over time, smoc and spanning tree; and by number of subflows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...figures.layers import Layers, axis, beside, estimates, faceted, intervals, lines, means, panel
from ...figures.paper import write
from ...palette import styles
from ...statistics import Estimate, estimate
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
    titles = [_TITLES[topology] for topology in there]
    rows: list[dict[str, Any]] = []
    for topology, title in zip(there, titles, strict=True):
        for scheme in SCHEMES:
            rows += estimates(_means(chosen(runs, topology, scheme)), scheme=scheme, panel=title)
        capacities = {run.setup.capacity_bps for run in runs if run.setup.topology is topology}
        rows += [{"panel": title, "rate": rate, "top": _ROOM * max(capacities)} for rate in capacities]
    # The capacities are rows of the same data set, because a panel has those of its own.
    x = axis("x", "seconds since the start", "number", zero=False, nice=False)
    y = axis("mean", "received", "bps", domainMin=0)
    band = intervals(SCHEMES, x, y)
    band["mark"] = {"type": "area", "style": "band", "clip": True}
    layers: Layers = [
        *({"mark": mark, "encoding": {"y": y | {"field": field}}} for mark, field in _CAPACITY),
        band,
        lines(SCHEMES, x, y, marked=True),
    ]
    spec = faceted("time", "panel", titles, layers)
    return write(spec, {"time": rows}, styles(SCHEMES), out / "throughput-over-time", formats)


_CAPACITY = (({"type": "rule", "style": "guide"}, "rate"), ({"type": "rule", "opacity": 0}, "top"))
"""Lines at the capacity, and at the top of the panel."""


def _means(runs: Sequence[Measured]) -> list[tuple[float, Estimate | None]]:
    length = min((len(run.times_s) for run in runs), default=0)
    return [(runs[0].times_s[at], estimate(run.throughput_bps[at] for run in runs)) for at in range(length)]


def _by_subflows(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    names = [f"topology {topology:d}" for topology in LOCAL]
    rows = []
    for topology, name in zip(LOCAL, names, strict=True):
        found = [(count, estimate(run.mean_bps() for run in chosen(runs, topology, SMOC, count))) for count in COUNTS]
        rows += estimates(found, scheme=name)
    x = axis("x", "subflows", "number", values=COUNTS, zero=False, padding=10)
    spec = beside(panel("subflows", means(names, x, axis("mean", "received under smoc", "bps", domainMin=0))))
    return write(spec, {"subflows": rows}, styles(names), out / "subflows", formats)
