"""Completion times relative to the limits, ours and uet-htsim's."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.layers import Layers, axis, end, estimates, faceted, guide, names_of, of_scheme
from ...figures.paper import write
from ...palette import styles
from ...statistics import Estimate, estimate
from . import published

OURS, THEIRS = "Weft", "uet-htsim"
PANELS = {"U": "sender list", "B": "load-balancing list"}
"""Titles by the first letter of the rows."""


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One panel for each list; a value of 1 is the limit."""
    if table.is_empty():
        return []
    rows = []
    for limit in published.LIMITS:
        ours = estimate(table.filter(pl.col("setup") == limit.setup)[limit.of])
        for name, value in ((OURS, ours), (THEIRS, Estimate(limit.htsim.mean, None, None, limit.htsim.seeds))):
            relative = None if value is None else value.scaled(1 / limit.limit)
            label = f"{limit.ident} {limit.title}"
            rows += estimates([(label, relative)], scheme=name, panel=PANELS[limit.ident[0]])
    x = axis("mean", "completion time / limit", "number", domainMin=0)
    y = names_of("x", axis={"labelLimit": 300})
    colours = of_scheme((OURS, THEIRS), "color")
    layers: Layers = [
        guide("x", 1),
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 1.6},
            "encoding": {"x": x | {"field": "low"}, "x2": end("high"), "y": y, **colours},
        },
        {
            "mark": {"type": "point", "size": 24},
            "encoding": {"x": x, "y": y, **of_scheme((OURS, THEIRS), "color", "shape")},
        },
    ]
    longest = sum(limit.ident[0] == "U" for limit in published.LIMITS)
    spec = faceted("limits", "panel", list(PANELS.values()), layers, height=14 * longest)
    return write(spec, {"limits": rows}, styles((OURS, THEIRS)), out / "limits", formats)
