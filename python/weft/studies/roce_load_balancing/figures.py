"""Slowdowns by load, ours and the published ones."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.layers import axis, by_source, estimates, faceted, lines, means
from ...figures.paper import write
from ...palette import styles
from ...statistics import estimate
from . import published
from .setups import LOADS, SCHEMES

TITLES = {"mean": "mean", "p99": "99th percentile"}
_OURS, _THEIRS = "Weft", "published"


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One panel for the mean, one for the 99th percentile; published values are dashed."""
    if table.is_empty():
        return []
    rows = []
    for place, (measure, title) in enumerate(TITLES.items()):
        for scheme in SCHEMES:
            own = table.filter(pl.col("scheme") == scheme)
            ours = [(load, estimate(own.filter(pl.col("load") == load)[measure])) for load in LOADS]
            theirs = [(load, estimate([published.SLOWDOWN[load][scheme][place]])) for load in LOADS]
            for source, values in ((_OURS, ours), (_THEIRS, theirs)):
                rows += estimates(values, scheme=scheme, source=source, panel=title)
    names = tuple(SCHEMES)
    x = axis("x", "load of the uplinks, %", "number", values=list(LOADS), zero=False, padding=10)
    y = axis("mean", "slowdown", "number", domainMin=0)
    layers = [lines(names, x, y, dash=by_source(_OURS, _THEIRS)), *means(names, x, y, line=False)]
    spec = faceted("slowdowns", "panel", list(TITLES.values()), layers)
    return write(spec, {"slowdowns": rows}, styles(names), out / "slowdown", formats)
