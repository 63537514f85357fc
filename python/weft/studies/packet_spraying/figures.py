"""The paper's figures 2 to 9 from our data, one panel per transport, with a shared vertical axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ... import quantity
from ...figures.style import intervals, label_with, legend, panels, save
from ...palette import styles
from ...statistics import estimate
from .scenarios import SCHEMES, TRANSPORTS


@dataclass(frozen=True)
class Figure:
    """One figure of the paper: its scenario and measure."""

    number: int
    kind: str
    column: str
    label: str
    unit: str
    short: tuple[int, ...]
    """Numbers of short flows; more than one compares them under spraying alone."""


_THROUGHPUT = ("long_throughput_bps", "mean throughput of long flows", "bps")
_FCT = ("short_fct_s", "mean FCT of short flows", "s")
_DISORDER = ("out_of_order_share", "out-of-order packets of short flows", "share")

FIGURES = (
    Figure(2, "static", *_THROUGHPUT, (1,)),
    Figure(3, "static", *_FCT, (1,)),
    Figure(4, "static", *_DISORDER, (1,)),
    Figure(5, "random", *_THROUGHPUT, (20,)),
    Figure(6, "random", *_FCT, (20,)),
    Figure(7, "random", *_DISORDER, (20,)),
    Figure(8, "random", *_THROUGHPUT, (10, 20)),
    Figure(9, "random", *_FCT, (10, 20)),
)


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """Write all figures as ``figure-2.pdf`` and so on; returns the files."""
    files: list[Path] = []
    for figure in FIGURES:
        part = table.filter((pl.col("kind") == figure.kind) & pl.col(figure.column).is_not_null())
        files += _draw(figure, part, out, formats)
    return files


def _draw(figure: Figure, table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(len(TRANSPORTS), width=3.1, height=2.7, share_y=True) as (sheet, axes):
        for ax, transport in zip(axes[0], TRANSPORTS, strict=True):
            part = table.filter(pl.col("transport") == transport)
            if len(figure.short) == 1:
                for scheme, style in styles(SCHEMES).items():
                    rows = part.filter((pl.col("scheme") == scheme) & pl.col("short").is_in(figure.short))
                    _line(ax, rows, figure.column, scheme, style.color, style.marker, "-")
            else:
                style = styles(SCHEMES)["spray"]
                for short, dash in zip(figure.short, ("--", "-"), strict=True):
                    rows = part.filter((pl.col("scheme") == "spray") & (pl.col("short") == short))
                    _line(ax, rows, figure.column, f"spray, {short} short flows", style.color, style.marker, dash)
            ax.set_title(f"transport {transport}")
            ax.set_xlabel("number of long flows")
            ax.set_xticks(sorted(part["long"].unique().to_list()))
        axes[0][0].set_ylim(bottom=0)
        axes[0][0].set_ylabel(figure.label)
        label_with(axes[0][0].yaxis, quantity.FORMATS[figure.unit])
        legend(sheet, axes[0][0])
        return save(sheet, out / f"figure-{figure.number}", formats)


def _line(ax: Any, rows: pl.DataFrame, column: str, label: str, color: str, marker: str, dash: str) -> None:
    """Means over seeds with 95 % intervals at each number of long flows."""
    numbers = sorted(rows["long"].unique().to_list())
    values = [estimate(rows.filter(pl.col("long") == number)[column]) for number in numbers]
    intervals(ax, zip(numbers, values, strict=True), color, marker, label, linestyle=dash)
