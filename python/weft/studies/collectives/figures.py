"""Times over the bound by way: a panel for each collective on each fabric."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.layers import Layers, axis, end, estimates, faceted, names_of, of_scheme
from ...figures.paper import write
from ...palette import styles
from .claims import TITLES
from .parts import ratios
from .setups import COLLECTIVES, KINDS, STATES, WAYS


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One row of panels per collective; a colour per kind of hosts. Ways that did not finish have no bar."""
    if table.is_empty():
        return []
    titles = [way.title for way in WAYS.values()]
    panels = {f"{one}, {TITLES[state]}": ratios(table, one, state) for one in COLLECTIVES for state in STATES}
    rows = [
        row
        for title, found in panels.items()
        for name, way in WAYS.items()
        for row in estimates([(way.title, found.get(name))], scheme=way.kind, panel=title)
    ]
    furthest = 2 * max((row["mean"] for row in rows), default=5.0)
    ticks = [tick for decade in (1, 10, 100, 1000) for tick in (decade, 3 * decade) if tick <= furthest]
    x = axis("mean", "times the bound", "number", log="child_x", values=ticks, domain=[1, furthest])
    y = names_of("x", scale={"domain": titles})
    layers: Layers = [
        {
            "mark": "bar",
            "encoding": {"x": x, "x2": {"datum": 1}, "y": y, **of_scheme(tuple(KINDS), "color", hatched=True)},
        },
        {
            "transform": [{"filter": "isValid(datum.low)"}, {"calculate": "max(datum.low, 1)", "as": "low"}],
            "mark": {"type": "rule", "style": "interval", "clip": True},
            "encoding": {"x": x | {"field": "low"}, "x2": end("high"), "y": y},
        },
        {
            "transform": [{"calculate": "isValid(datum.high) ? datum.high : datum.mean", "as": "end"}],
            "mark": {"type": "text", "align": "left", "dx": 3, "style": "note"},
            "encoding": {"x": x | {"field": "end"}, "y": y, "text": {"field": "mean", "format": ".2f"}},
        },
    ]
    spec = faceted("ratios", "panel", list(panels), layers, height=18 * len(titles)) | {"columns": len(STATES)}
    return write(spec, {"ratios": rows}, styles(tuple(KINDS)), out / "collectives", formats)
