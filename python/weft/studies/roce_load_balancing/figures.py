"""Slowdowns by load, ours and the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.style import intervals, legend, panels, save
from ...palette import styles
from ...statistics import estimate
from . import published
from .setups import LOADS, SCHEMES

TITLES = {"mean": "mean", "p99": "99th percentile"}


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One panel for the mean, one for the 99th percentile; published values are dashed."""
    if table.is_empty():
        return []
    look = styles(tuple(SCHEMES))
    with panels(len(TITLES), width=3.1, height=2.7) as (sheet, axes):
        for place, (ax, (measure, title)) in enumerate(zip(axes[0], TITLES.items(), strict=True)):
            for scheme in SCHEMES:
                rows = table.filter(pl.col("scheme") == scheme)
                ours = [(load, estimate(rows.filter(pl.col("load") == load)[measure])) for load in LOADS]
                intervals(ax, ours, look[scheme].color, look[scheme].marker, scheme)
                theirs = [(load, estimate([published.SLOWDOWN[load][scheme][place]])) for load in LOADS]
                intervals(ax, theirs, look[scheme].color, look[scheme].marker, "", linestyle="--")
            ax.set_title(title)
            ax.set_xlabel("load of the uplinks, %")
            ax.set_xticks(list(LOADS))
            ax.set_ylim(bottom=0)
        axes[0][0].set_ylabel("slowdown")
        legend(sheet, axes[0][0])
        return save(sheet, out / "slowdown", formats)
