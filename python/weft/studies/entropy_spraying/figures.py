"""Completion of the last flow by entropies, ours and csg-htsim's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.style import intervals, legend, panels, save
from ...palette import styles
from ...statistics import estimate
from . import published
from .setups import paths

OURS, THEIRS = "Weft", "csg-htsim"


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One panel for each number of hosts."""
    part = table.filter(pl.col("kind") == "hosts")
    numbers = sorted(part["hosts"].unique().to_list())
    if not numbers:
        return []
    look = styles((OURS, THEIRS))
    with panels(len(numbers), width=3.1, height=2.7, share_y=True) as (sheet, axes):
        for ax, hosts in zip(axes[0], numbers, strict=True):
            rows = part.filter(pl.col("hosts") == hosts)
            ours = [
                (asked, estimate(rows.filter(pl.col("entropies") == min(asked, paths(hosts)))["max"]))
                for asked in published.LAST_US
            ]
            intervals(ax, ours, look[OURS].color, look[OURS].marker, OURS)
            place = published.HOSTS.index(hosts)
            theirs = [(asked, estimate([values[place]])) for asked, values in published.LAST_US.items()]
            intervals(ax, theirs, look[THEIRS].color, look[THEIRS].marker, THEIRS, linestyle="--")
            ax.set_xscale("log", base=2)
            ax.set_xticks(list(published.LAST_US), [str(number) for number in published.LAST_US])
            ax.set_title(f"{hosts} hosts")
            ax.set_xlabel("entropies")
        axes[0][0].set_ylim(bottom=0)
        axes[0][0].set_ylabel("completion of the last flow, us")
        legend(sheet, axes[0][0])
        return save(sheet, out / "last-flow", formats)
