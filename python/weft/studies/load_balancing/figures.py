"""The survey as dot plots: schemes on the vertical axis, one panel per situation, so that no scheme needs a colour."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ...figures.layers import Layers, Spec, axis, beside, of_scheme, panel
from ...figures.paper import write
from ...palette import Style
from .standing import ranking
from .survey import SITUATIONS
from .table import without_marked

_KINDS = {"small_mean": "small flows", "large_mean": "large flows"}
_LOOKS = {
    "small flows": Style("#0072B2", "#0072B2", "circle", ()),
    "large flows": Style("#D55E00", "#D55E00", "diamond", ()),
}


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
    panels, rows = [], {}
    for at, situation in enumerate(shown):
        part = survey.filter(pl.col("situation") == situation.name)
        layers, rows[situation.name] = _panel(part, names, named=at % columns == 0)
        panels.append(panel(situation.name, layers, situation.title))
    spec = beside(*panels, height=16 * len(names)) | {"columns": columns}
    return write(spec, rows, _LOOKS, stem, formats)


def _panel(part: pl.DataFrame, names: Sequence[str], *, named: bool) -> tuple[Layers, list[dict[str, Any]]]:
    """One situation, up to `FURTHEST` times its best value; larger ones are written at the edge.

    A scheme that was not in a steady state at one of the loads has that label in place of its means.
    """
    mark = pl.col("mark").drop_nulls().first()
    found = part.group_by("scheme").agg(
        *(pl.when(mark.is_null()).then(pl.col(column).mean()).alias(column) for column in _KINDS), mark
    )
    values = [row[column] for row in found.iter_rows(named=True) for column in _KINDS if row[column] is not None]
    least = min(values, default=1.0)
    edge = FURTHEST * least
    rows = []
    for row in found.iter_rows(named=True):
        if row["mark"] is not None:
            rows.append({"y": row["scheme"], "note": row["mark"], "edge": edge})
        for column, label in _KINDS.items():
            value, own = row[column], {"y": row["scheme"], "scheme": label}
            if value is not None and value <= edge:
                rows.append(own | {"mean": value})
            elif value is not None:
                rows.append(own | {"far": f"{value:,.0f} ►", "edge": edge})
    ticks = [tick for tick in _TICKS if tick <= edge]
    x = axis("mean", "mean slowdown", "ratio", log="concat_0_x", values=ticks, domain=[0.9 * least, edge])
    ticked = {"grid": True, "labels": named, "ticks": named}
    y = {"field": "y", "type": "nominal", "title": None, "scale": {"domain": list(names)}, "axis": ticked}
    place: Spec = {"y": y}
    beside_it: Spec = place | {"yOffset": {"field": "scheme", "type": "nominal", "scale": {"domain": list(_LOOKS)}}}
    points: Spec = {
        "transform": [{"filter": "isValid(datum.mean)"}],
        "mark": {"type": "point", "size": 24},
        "encoding": {"x": x, **beside_it, **of_scheme(list(_LOOKS), "color", "shape")},
    }
    at_edge: Layers = [
        {
            "transform": [{"filter": f"isValid(datum.{field})"}],
            "mark": {"type": "text", "align": "right", "style": "note"},
            "encoding": {"x": x | {"field": "edge"}, **where, "text": {"field": field}},
        }
        for field, where in (("far", beside_it), ("note", place))
    ]
    at_edge[0]["encoding"] |= of_scheme(list(_LOOKS), "color")
    return [points, *at_edge], rows


FURTHEST = 12.0
_TICKS = tuple(factor * 10**power for power in range(5) for factor in (1, 2, 5))
