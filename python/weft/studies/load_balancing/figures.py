"""The survey as dot plots: schemes on the vertical axis, one panel per situation, so that no scheme needs a colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.ticker import FixedLocator, NullLocator

from ... import quantity
from ...figures.style import label_with, legend, panels, save
from .standing import ranking
from .survey import SITUATIONS
from .table import without_marked

_KINDS = (("small_mean", "small flows", "o", "#0072B2"), ("large_mean", "large flows", "D", "#D55E00"))


def draw(survey: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """Mean slowdowns of small and large flows by situation, over workloads and loads, for each transport profile."""
    files: list[Path] = []
    survey = without_marked(survey)
    for profile in survey["profile"].unique(maintain_order=True):
        part = survey.filter(pl.col("profile") == profile)
        files += _draw(part, out / f"slowdown-{profile}", formats)
    return files


def _draw(survey: pl.DataFrame, stem: Path, formats: Sequence[str]) -> list[Path]:
    shown = [situation for situation in SITUATIONS if situation.name in set(survey["situation"])]
    best = ranking(survey, shown[0].name)
    names = [*best, *sorted(set(survey["scheme"]) - set(best))]
    columns = min(len(shown), 4)
    rows = -(-len(shown) // columns)
    with panels(columns, rows, width=2.2, height=1.0 + 0.16 * len(names), share_y=True) as (sheet, axes):
        for ax in axes.flat[len(shown) :]:
            ax.set_visible(False)
        for ax, situation in zip(axes.flat, shown, strict=False):
            part = survey.filter(pl.col("situation") == situation.name)
            _panel(ax, part, names)
            ax.set_title(situation.title)
            ax.set_xlabel("mean slowdown")
        axes[0][0].set_yticks(range(len(names)), names)
        axes[0][0].invert_yaxis()
        legend(sheet, axes[0][0])
        return save(sheet, stem, formats)


def _panel(ax: Any, part: pl.DataFrame, names: Sequence[str]) -> None:
    """One situation, up to `FURTHEST` times its best value; larger ones are written at the edge.

    A scheme that was not in a steady state at one of the loads has that label in place of its means.
    """
    mark = pl.col("mark").drop_nulls().first()
    means = part.group_by("scheme").agg(
        *(pl.when(mark.is_null()).then(pl.col(column).mean()).alias(column) for column, *_ in _KINDS), mark
    )
    found = {row["scheme"]: row for row in means.iter_rows(named=True)}
    known = [row[column] for row in found.values() for column, *_ in _KINDS if row[column] is not None]
    least = min(known, default=1.0)
    edge = FURTHEST * least
    for place, name in enumerate(names):
        if name in found and found[name]["mark"] is not None:
            ax.text(edge, place, found[name]["mark"], color="#66727e", fontsize=6, ha="right", va="center")
    for offset, (column, label, marker, color) in zip((-0.15, 0.15), _KINDS, strict=True):
        points = [(found[name][column], y + offset) for y, name in enumerate(names) if name in found]
        inside = [(value, y) for value, y in points if value is not None and value <= edge]
        ax.plot(
            [value for value, _ in inside], [y for _, y in inside], marker, color=color, markersize=3.4, label=label
        )
        for value, y in points:
            if value is not None and value > edge:
                ax.text(edge, y + offset, f"{value:,.0f} ▸", color=color, fontsize=6, ha="right", va="center")
    ax.set_xscale("log")
    ax.set_xlim(0.9 * least, edge)
    ax.xaxis.set_major_locator(FixedLocator([tick for tick in _TICKS if tick <= edge]))
    ax.xaxis.set_minor_locator(NullLocator())
    label_with(ax.xaxis, quantity.ratio)


FURTHEST = 12.0
_TICKS = tuple(factor * 10**power for power in range(5) for factor in (1, 2, 5))
