"""Simulation compared with emulation: the same flows, one by one.

A scenario with a seed gives the simulator and the emulated hosts the same list of flows, so each flow is compared with
itself. The measure is the ratio of means, emulated over simulated. Its interval is that of a ratio estimator over
pairs (Cochran, Sampling Techniques, section 2.11), as if the flows of a run were independent; they share links, so
the true interval is wider.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..labels import plural
from ..results import Results
from ..statistics import CONFIDENCE, Estimate

CELL = ("point", "scheme", "class")
"""Columns that identify a comparison."""

LABELS = {"fct_s": "completion time", "throughput_bps": "throughput"}
"""Columns of flows whose means are compared, and their labels."""

SAME = 0.10
"""Relative tolerance within which means agree."""


@dataclass(frozen=True)
class Cell:
    """One point, scheme and class: number of flows finished in both, and in only one; ratios of means by measure."""

    point: str
    scheme: str
    klass: str
    flows: int
    unpaired: int
    ratios: dict[str, Estimate]


def pairs(simulated: Results, emulated: Results) -> pl.DataFrame:
    """The measured flows of both, one row each: `CELL`, seed, flow, and each measure with and without ``_emulated``.

    An unfinished flow has nulls on that side.
    """
    keys = [*CELL, "seed", "flow"]
    one, other = (part.scan_flows(measured=True).select(*keys, *LABELS).collect() for part in (simulated, emulated))
    return one.join(other, on=keys, how="full", coalesce=True, suffix="_emulated")


@dataclass(frozen=True)
class EmulatedRun:
    """An emulated run: its id, its seed, and whether the machine was saturated during it."""

    id: str
    seed: int
    saturated: bool


def ran(emulated: Results) -> list[EmulatedRun]:
    """The finished runs of an emulation."""
    return [
        EmulatedRun(run.id, run.seed, bool(summary["emulated"]["processors"]["saturated"]))
        for run, summary in zip(emulated.finished, emulated.summaries(), strict=True)
    ]


def compared(found: Sequence[Cell]) -> set[tuple[str, str, str]]:
    """The cells in which flows finished in both."""
    return {(cell.point, cell.scheme, cell.klass) for cell in found if cell.flows}


def cells(table: pl.DataFrame) -> list[Cell]:
    """Every cell of a table of pairs, in its order."""
    return [
        _cell(str(point), str(scheme), str(klass), rows)
        for (point, scheme, klass), rows in table.group_by(*CELL, maintain_order=True)
    ]


def _cell(point: str, scheme: str, klass: str, rows: pl.DataFrame) -> Cell:
    ended = rows.drop_nulls("fct_s").drop_nulls("fct_s_emulated")
    ratios = {}
    for measure in LABELS:
        found = ratio(ended[measure + "_emulated"].to_numpy(), ended[measure].to_numpy())
        if found is not None:
            ratios[measure] = found
    return Cell(point, scheme, klass, len(ended), len(rows) - len(ended), ratios)


def ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> Estimate | None:
    """The ratio of the means of pairs with its 95 % interval; None without pairs or if the denominator is zero."""
    n = len(denominator)
    below = float(denominator.mean()) if n else 0.0
    if below == 0:
        return None
    value = float(numerator.mean()) / below
    if n == 1:
        return Estimate(value, None, None, 1)
    residuals = numerator - value * denominator
    error = math.sqrt(float((residuals**2).sum()) / (n - 1) / n) / below
    half = float(stdtrit(n - 1, 0.5 + CONFIDENCE / 2)) * error
    return Estimate(value, value - half, value + half, n)


def above(one: Estimate) -> Estimate:
    """A ratio as per cent above 1."""
    return one.shifted(-1).scaled(100)


def describe(cell: Cell) -> str:
    """A cell as one line of text."""
    each = [
        f"{LABELS[name]} {100 * (one.mean - 1):+.0f} %" + ("" if one.half is None else f" ±{100 * one.half:.0f}")
        for name, one in cell.ratios.items()
    ]
    alone = f", {cell.unpaired} not finished in both" if cell.unpaired else ""
    return f"{cell.point}, {cell.scheme}, {cell.klass}: {', '.join(each)} ({plural(cell.flows, 'flow')}{alone})"
