"""Parts of Vega-Lite specifications: axes, channels of schemes, layers and panels.

Specifications contain no data, colours or fonts: the page and `paper` add them. Channels of schemes name ranges of the
configuration (`style`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..quantity import UNITS
from ..statistics import Estimate

Spec = dict[str, Any]
Layers = list[Spec]
RANGES = {"color": "category", "shape": "symbol", "strokeDash": "dash"}
"""The range of each channel of a scheme."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
WIDTH, HEIGHT = 210, 165
"""Size of a panel without its axes, in CSS pixels (96 per inch)."""
LOG = {"type": "log", "nice": False}


def label(kind: str, value: str = "datum.value", digits: str = ",.3~r", zero: str = "") -> str:
    """A Vega expression of a quantity as text: three significant digits and a unit, `zero` for zero (none on axes).

    `kind` is one of `weft.quantity.FORMATS`, or `number` for a number as it is; `value` is a Vega expression, `digits`
    a format of d3 (``,.3~r`` has no trailing zeros).
    """
    if kind == "share":
        return f"(format({value} * 100, '{digits}') + ' %')"
    if kind not in UNITS:
        return f"format({value}, '{digits if kind == 'ratio' else ',~g'}')"
    units = [(f"format({value} / {size:g}, '{digits}')", size, unit and f" {unit}") for size, unit in UNITS[kind]]
    steps = "".join(f"abs({value}) >= {0.9995 * size:g} ? {text} + '{unit}' : " for text, size, unit in units[:-1])
    return f"({value} == 0 ? '0{zero}' : {steps}{units[-1][0]} + '{units[-1][2]}')"


def formatted(kind: str, field: str) -> str:
    """An expression of a field of a row for a tooltip, with trailing zeros and the unit of zero."""
    value, unit = f"datum.{field}", f" {UNITS[kind][-1][1]}".rstrip() if kind in UNITS else ""
    text = label(kind, value, ",.3r", unit)
    if kind == "count":
        return f"({value} == floor({value}) && abs({value}) < 1e6 ? format({value}, ',') : {text})"
    return text if kind in UNITS else f"({value} == 0 ? '0{' %' * (kind == 'share')}' : {text})"


def span(kind: str, low: str = "low", high: str = "high") -> str:
    """An expression of the ends of an interval for a tooltip."""
    return f"isValid(datum.{low}) ? {formatted(kind, low)} + ' to ' + {formatted(kind, high)} : 'none (one seed)'"


def axis(
    field: str,
    title: str | None,
    kind: str,
    *,
    log: str = "",
    digits: str = "125",
    ticks: int = 5,
    values: Sequence[float] = (),
    grid: bool = True,
    **scale: Any,
) -> Spec:
    """A quantitative channel whose axis has units; `scale` has further properties of its scale.

    A logarithmic axis needs the name of its scale in Vega: ``child_x`` in facets, ``concat_0_x`` in panels; its labels
    are on ticks that begin with one of `digits`, unless these are fewer than two.
    """
    text = label(kind)
    if log and not values:
        ends = [f"log(domain('{log}')[{end}] / {{}}) / LN10" for end in (1, 0)]
        number = " + ".join(f"floor({ends[0].format(one)}) - floor({ends[1].format(one)})" for one in digits)
        labelled = f"({number} < 2 || test(/^[{digits}](\\.0*)?e/, format(datum.value, 'e')))"
        text = f"{labelled} ? {text} : ''"
    shown: Spec = {"tickCount": ticks, "grid": grid, "labelOverlap": True, "labelSeparation": 8, "labelExpr": text}
    if log and not values:
        # Over two powers of ten or more, d3 would have ticks at these only in some panels, and at all digits in others.
        decades = f"log(domain('{log}')[1] / domain('{log}')[0]) / LN10"
        shown["tickCount"] = {"expr": f"{decades} < 2 ? {ticks} : min({ticks}, floor({decades}))"}
        hidden = {"condition": {"test": f"!{labelled}", "value": 0}, "value": 1}
        shown |= {"gridOpacity": hidden, "tickOpacity": hidden}
    if values:
        shown["values"] = list(values)
    if log:
        shown["labelFlush"] = False
        scale = {name: value for name, value in (LOG | scale).items() if name != "zero"}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": shown}


def end(field: str) -> Spec:
    """A second end, as of an interval: its axis is that of the first."""
    return {"field": field}


def of_scheme(names: Sequence[str], *channels: str, hatched: bool = False) -> Spec:
    """Channels by which schemes differ; with `hatched`, colours are patterns where these can be drawn."""
    ranges = RANGES | ({"color": "hatched"} if hatched else {})
    return {
        channel: {
            "field": "scheme",
            "type": "nominal",
            "title": None,
            "scale": {"domain": list(names), "range": ranges[channel]},
        }
        for channel in channels
    }


def tips(x: Spec, y: Spec, texts: Mapping[str, str], *before: Spec) -> Spec:
    """Invisible points with tooltips: a line has only one. `texts` are expressions by title, after `before`."""
    fields = [(f"tip{at}", title, text) for at, (title, text) in enumerate(texts.items())]
    return {
        "transform": [*before, *({"calculate": text, "as": name} for name, _, text in fields)],
        "mark": {"type": "point", "style": "tips"},
        "encoding": {
            "x": x,
            "y": y,
            "tooltip": [{"field": name, "type": "nominal", "title": title} for name, title, _ in fields],
        },
    }


def lines(
    names: Sequence[str], x: Spec, y: Spec, *, marked: bool = False, dash: Spec | None = None, **mark: Any
) -> Spec:
    """A line for each scheme; with `marked`, the legend has markers in place of dashes. `dash` is another channel."""
    channels = of_scheme(names, "color", "strokeDash")
    if dash is not None:
        channels["strokeDash"] = dash
    elif marked:
        # With another domain: Vega-Lite leaves out all legends of a domain if it leaves out one.
        channels["strokeDash"]["scale"]["domain"] = [*names, ""]
        channels["strokeDash"]["legend"] = None
    return {"mark": {"type": "line", "clip": True, **mark}, "encoding": {"x": x, "y": y, **channels}}


def by_source(*sources: str) -> Spec:
    """A channel for `lines` that draws the second source dashed."""
    scale = {"domain": list(sources), "range": [[1, 0], [5, 3]]}
    return {"field": "source", "type": "nominal", "title": None, "scale": scale}


def intervals(names: Sequence[str], x: Spec, y: Spec, low: str = "low", high: str = "high", **mark: Any) -> Spec:
    """The intervals from `low` to `high` of the rows that have one."""
    return {
        "transform": [{"filter": f"isValid(datum.{low})"}],
        "mark": {"type": "rule", "strokeWidth": 1.6, **mark},
        "encoding": {"x": x, "y": y | {"field": low}, "y2": end(high), **of_scheme(names, "color")},
    }


def means(names: Sequence[str], x: Spec, y: Spec, *, line: bool = True, **mark: Any) -> Layers:
    """Means with their intervals and markers for each scheme, connected by a line unless `line` is false."""
    return [
        *([lines(names, x, y, marked=True)] if line else []),
        intervals(names, x, y, clip=True, **mark),
        {"mark": {"type": "point", **mark}, "encoding": {"x": x, "y": y, **of_scheme(names, "color", "shape")}},
    ]


def estimates(values: Iterable[tuple[Any, Estimate | None]], **more: Any) -> list[dict[str, Any]]:
    """Rows of `x`, `mean`, `low` and `high`; those without a value are left out."""
    known = ((x, one) for x, one in values if one is not None)
    return [{"x": x, "mean": one.mean, "low": one.low, "high": one.high, **more} for x, one in known]


def bars(names: Sequence[str], x: Spec, y: Spec, low: str = "low", high: str = "high") -> Layers:
    """A bar with its interval for each scheme, side by side at each value of `x` if this is not the scheme."""
    beside = {} if x["field"] == "scheme" else {"xOffset": {"field": "scheme", "type": "nominal", "sort": list(names)}}
    return [
        {"mark": "bar", "encoding": {"x": x, "y": y, **of_scheme(names, "color", hatched=True), **beside}},
        {
            "transform": [{"filter": f"isValid(datum.{low})"}],
            "mark": {"type": "rule", "style": "interval", "clip": True},
            "encoding": {"x": x, "y": y | {"field": low}, "y2": end(high), **beside},
        },
    ]


def guide(field: str, value: float, **mark: Any) -> Spec:
    """A line across the panel at a value of `x` or `y`."""
    return {"mark": {"type": "rule", "style": "guide", **mark}, "encoding": {field: {"datum": value}}}


def names_of(field: str, title: str | None = None, **more: Any) -> Spec:
    """A nominal channel in the order of its rows."""
    return {"field": field, "type": "nominal", "title": title, "sort": None, **more}


_HEADROOM: Spec = {
    "data": {"values": [{}]},
    "mark": {"type": "rule", "opacity": 0, "aria": False, "tooltip": False},
    "encoding": {"x": {"value": 0}, "x2": {"value": 1}, "y": {"value": -8}},
}
"""Room above a panel for the label of a tick at its end: titles of panels with and without such a label are level."""


def _scales(*, share_y: bool) -> Spec:
    return {"scale": {"x": "independent", "xOffset": "independent", "y": "shared" if share_y else "independent"}}


def faceted(
    table: str, field: str, order: Sequence[str], layers: Layers, *, height: int = HEIGHT, share_y: bool = False
) -> Spec:
    """One panel of this height (without axes) for each value of a field, in this order; empty ones are left out."""
    return {
        "$schema": SCHEMA,
        "data": {"name": table},
        "facet": {"field": field, "type": "nominal", "title": None, "sort": list(order)},
        "columns": len(order),
        "spec": {"width": WIDTH, "height": height, "layer": [*layers, _HEADROOM]},
        "resolve": _scales(share_y=share_y),
    }


def crossed(
    table: str, row: Sequence[str], column: Sequence[str], layers: Layers, *, height: int, share_y: bool = False
) -> Spec:
    """Panels by `row` and `column`, fields of the rows."""
    faces = {
        name: {"field": name, "type": "nominal", "title": None, "sort": list(order)}
        for name, order in (("row", row), ("column", column))
    }
    return {
        "$schema": SCHEMA,
        "data": {"name": table},
        "facet": faces,
        "spec": {"width": WIDTH, "height": height, "layer": layers},
        "resolve": _scales(share_y=share_y),
    }


def beside(*panels: Spec, height: int = HEIGHT) -> Spec:
    """Panels with data sets and axes of their own: each has `data`, `layer` and maybe `title`."""
    return {
        "$schema": SCHEMA,
        "concat": [
            {"width": WIDTH, "height": height, **panel, "layer": [*panel["layer"], _HEADROOM]} for panel in panels
        ],
        "columns": len(panels),
        "resolve": {"scale": {"color": "shared", "strokeDash": "shared", "shape": "shared"}},
    }


def panel(table: str, layers: Layers, title: str | None = None) -> Spec:
    """A panel for `beside`."""
    return {"data": {"name": table}, **({"title": title} if title else {}), "layer": layers}
