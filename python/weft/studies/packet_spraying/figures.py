"""The paper's figures 2 to 9 from our data, one panel per transport, with a shared vertical axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from ...figures.layers import axis, estimates, faceted, means
from ...figures.paper import write
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
    looks = styles(SCHEMES)
    lines = {scheme: (scheme, figure.short[0]) for scheme in SCHEMES}
    if len(figure.short) > 1:
        lines = {f"spray, {short} short flows": ("spray", short) for short in figure.short}
        drawn = ((5, 3), "circle"), ((), looks["spray"].shape)
        looks = {
            name: replace(looks["spray"], dash=dash, shape=shape)
            for name, (dash, shape) in zip(lines, drawn, strict=True)
        }
    rows = []
    for transport in TRANSPORTS:
        for name, (scheme, short) in lines.items():
            part = table.filter(transport=transport, scheme=scheme, short=short)
            found = [
                (number, estimate(part.filter(pl.col("long") == number)[figure.column]))
                for number in sorted(part["long"].unique().to_list())
            ]
            rows += estimates(found, scheme=name, panel=f"transport {transport}")
    numbers = sorted({row["x"] for row in rows})
    x = axis("x", "number of long flows", "number", values=numbers, zero=False, padding=10)
    y = axis("mean", figure.label, figure.unit, domainMin=0)
    order = [f"transport {transport}" for transport in TRANSPORTS]
    spec = faceted("lines", "panel", order, means(tuple(lines), x, y), share_y=True)
    return write(spec, {"lines": rows}, looks, out / f"figure-{figure.number}", formats)
