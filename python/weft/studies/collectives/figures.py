"""Times over the bound by way: a panel for each collective on each fabric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.style import panels, save
from ...palette import styles
from .claims import TITLES
from .parts import ratios
from .setups import COLLECTIVES, KINDS, STATES, WAYS


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One row of panels per collective; a colour per kind of hosts. Ways that did not finish have no bar."""
    if table.is_empty():
        return []
    look = styles(tuple(KINDS))
    each = {(collective, state): ratios(table, collective, state) for collective in COLLECTIVES for state in STATES}
    longest = max((value.mean for found in each.values() for value in found.values()), default=5.0)
    with panels(len(STATES), len(COLLECTIVES), width=3.6, height=3.4) as (sheet, axes):
        for line, collective in zip(axes, COLLECTIVES, strict=True):
            for ax, state in zip(line, STATES, strict=True):
                found = each[collective, state]
                for place, (name, way) in enumerate(WAYS.items()):
                    if value := found.get(name):
                        ax.barh(place, value.mean, xerr=value.half, color=look[way.kind].color, height=0.7)
                        end = value.mean + (value.half or 0.0)
                        ax.text(end, place, f" {value.mean:.2f}", va="center", fontsize=7)
                ax.set_xscale("log")
                ax.set_xlim(1, 2 * longest)
                ticks = [tick for decade in (1, 10, 100, 1000) for tick in (decade, 3 * decade) if tick <= 2 * longest]
                ax.set_xticks(ticks, [str(tick) for tick in ticks])
                ax.set_yticks(range(len(WAYS)), [way.title for way in WAYS.values()])
                ax.invert_yaxis()
                ax.set_title(f"{collective}, {TITLES[state]}")
                ax.set_xlabel("times the bound")
        return save(sheet, out / "collectives", formats)
