"""The report's charts as Vega-Lite specifications, built with Altair from the extracts.

All charts take their colours from `weft.palette`, so a scheme looks the same everywhere. The page's controls set two
parameters: `point` (the point of the sweep that time series and distributions show) and `metric`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from ..palette import styles

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADER = 240
"""Maximum width of a panel's name; longer names are truncated."""
PAGE_WIDTH = 1120
"""Maximum width of a row of panels in pixels, including axes."""
_AXIS, _UNTITLED, _GAP = 92, 74, 22
"""Width of a panel's value axis, of one without a title, and of the gap between panels."""

SECONDS = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1 ? format(datum.value, '.3~r') + ' s' "
    ": abs(datum.value) >= 1e-3 ? format(datum.value * 1e3, '.3~r') + ' ms' "
    ": format(datum.value * 1e6, '.3~r') + ' µs'"
)
RATE = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1e12 ? format(datum.value / 1e12, '.3~r') + ' Tbps' "
    ": abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '.3~r') + ' Gbps' "
    ": abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '.3~r') + ' Mbps' "
    ": format(datum.value / 1e3, '.3~r') + ' kbps'"
)
BYTES = (
    "datum.value == 0 ? '0' : datum.value >= 1e6 ? format(datum.value / 1e6, '.3~r') + ' MB' "
    ": datum.value >= 1e3 ? format(datum.value / 1e3, '.3~r') + ' kB' : format(datum.value, '.3~r') + ' B'"
)
SECONDS_LOG = f"test(/^[125]/, format(datum.value, 'e')) ? ({SECONDS}) : ''"
PERCENT_LOG = "test(/^1e/, format(datum.value, '~e')) ? format(datum.value * 100, '.3~r') + ' %' : ''"
PERCENT = "format(datum.value * 100, '.3~r') + ' %'"


def _spelled(expression: str, field: str) -> str:
    """An axis-label expression, applied to a field."""
    return expression.replace("datum.value", f"datum.{field}")


def _scheme_scale(schemes: Sequence[str], what: str) -> alt.Scale:
    """The `color` or `shape` of each scheme's style."""
    chosen = styles(schemes)
    return alt.Scale(domain=list(chosen), range=[getattr(style, what) for style in chosen.values()])


def _scheme_color(schemes: Sequence[str]) -> alt.Color:
    return alt.Color("scheme:N", scale=_scheme_scale(schemes, "color"), legend=None)


def _panel_width(panels: int, axes: int | None = None, axis: int = _AXIS) -> int:
    """Width of each of `panels` side by side, of which `axes` (default: all) have their own value axis."""
    taken = axis * (panels if axes is None else axes) + _GAP * (panels - 1)
    return max(120, min(480, (PAGE_WIDTH - taken) // panels))


def _data(frame: pl.DataFrame, points: Sequence[str] | None = None) -> alt.InlineData:
    """A frame as CSV inside the specification, a third of the size of JSON rows.

    With `points`, the column `point` becomes the index of the point, as in the parameter `point`.
    """
    if points is not None:
        numbers = {name: number for number, name in enumerate(points)}
        frame = frame.with_columns(pl.col("point").replace_strict(numbers, return_dtype=pl.Int64))
    rounded = frame.with_columns(pl.col(pl.Float64).round_sig_figs(4))
    return alt.InlineData(values=rounded.write_csv(), format=alt.CsvDataFormat(type="csv", parse=_types(frame)))


def _types(frame: pl.DataFrame) -> dict[str, str]:
    """Types for parsing the columns; without them a class named `1` would become a number."""
    return {name: "number" if kind.is_numeric() else "string" for name, kind in frame.schema.items()}


def _spec(
    chart: alt.FacetChart | alt.LayerChart | alt.VConcatChart | alt.HConcatChart | alt.Chart,
) -> dict[str, Any]:
    themed = (
        chart.configure(background="transparent", font="system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif")
        .configure_axis(
            gridColor="#e6eaee",
            domainColor="#9aa5b0",
            tickColor="#9aa5b0",
            labelColor="#44505c",
            titleColor="#25303b",
            titleFontWeight="normal",
            labelFontSize=11,
            titleFontSize=12,
            titlePadding=8,
            labelLimit=160,
        )
        .configure_header(
            labelFontSize=13,
            labelFontWeight="bold",
            labelColor="#25303b",
            labelLimit=_HEADER,
            title=None,
            labelPadding=8,
        )
        .configure_view(stroke=None)
    )
    spec: dict[str, Any] = themed.to_dict()
    return spec


def by_class(
    frame: pl.DataFrame, *, metrics: Sequence[str], label: str, x: tuple[str, str] | None, row: str | None
) -> dict[str, Any]:
    """One panel per class: the metric with its interval over `x` for each scheme, or bars without `x`.

    Args:
        frame: `weft.extracts.intervals` with the columns `scheme`, `class`, `point` and those named by `x` and `row`.
        metrics: The metrics to choose from; the first is shown initially.
        label: Vega expression for the labels of the value axis.
        x: Numeric swept key for the horizontal axis and its title; None for bars that compare schemes at each point.
        row: Column with one row of panels per value, labelled with it.
    """
    frame = frame.filter(frame["metric"].is_in(metrics))
    schemes = frame["scheme"].unique(maintain_order=True).to_list()
    classes = frame["class"].unique(maintain_order=True).to_list()
    metric = alt.param(name="metric", value=metrics[0])
    data = frame.rename({old: new for new, old in (("x", x[0] if x else None), ("row", row)) if old})
    value = alt.Y(
        "mean:Q",
        title=None,
        axis=alt.Axis(labelExpr=label, tickCount=5),
        scale=alt.Scale(zero=True, nice=True),
    )
    base = alt.Chart(_data(data)).transform_filter("datum.metric == metric")
    mean, low, high = (_spelled(label, field) for field in ("mean", "low", "high"))
    base = base.transform_calculate(
        spelled=mean, interval=f"isValid(datum.low) ? ({low}) + ' to ' + ({high}) : 'none (one seed)'"
    )
    tooltip = [
        alt.Tooltip("scheme:N", title="scheme"),
        alt.Tooltip("point:N", title="point"),
        alt.Tooltip("spelled:N", title="mean over seeds"),
        alt.Tooltip("interval:N", title="95 % interval"),
        alt.Tooltip("seeds:Q", title="seeds"),
    ]
    color = _scheme_color(schemes)
    interval = base.transform_filter("isValid(datum.low)").transform_calculate(bottom="max(datum.low, 0)")
    if x is not None:
        axis = alt.X(
            "x:Q",
            title=x[1],
            scale=alt.Scale(zero=False, padding=16),
            axis=alt.Axis(values=sorted(data["x"].unique().to_list()), format="~g", grid=False),
        )
        shape = alt.Shape("scheme:N", scale=_scheme_scale(schemes, "shape"), legend=None)
        layers = [
            base.mark_line(strokeWidth=2, opacity=0.85).encode(axis, value, color),
            interval.mark_rule(strokeWidth=1.5).encode(axis, alt.Y("bottom:Q"), alt.Y2("high:Q"), color),
            base.mark_point(filled=True, size=62, opacity=1).encode(axis, value, color, shape, tooltip=tooltip),
        ]
    else:
        many = data["point"].n_unique() > 1
        axis = alt.X(
            "point:N" if many else "scheme:N",
            title=None,
            sort=None,
            axis=alt.Axis(labelAngle=-30 if many or len(schemes) > 3 else 0, grid=False, labelOverlap=False),
        )
        inner = {"xOffset": alt.XOffset("scheme:N", sort=schemes)} if many else {}
        rule = interval.mark_rule(strokeWidth=1.5, color="#25303b")
        layers = [
            base.mark_bar(opacity=0.9, cornerRadiusEnd=2).encode(axis, value, color, tooltip=tooltip, **inner),
            rule.encode(axis, alt.Y("bottom:Q"), alt.Y2("high:Q"), **inner),
        ]
    if frame["low"].null_count() == len(frame):
        del layers[1]  # with one seed there is no interval to draw
    layers[0] = layers[0].properties(name="marks")  # Altair cannot concatenate facets whose first layer has no name
    panel = alt.layer(*layers).properties(
        width=_panel_width(len(classes), axis=_UNTITLED), height=230 if row is None else 180
    )
    column = alt.Column("class:N", sort=classes, title=None)
    if row is None:
        panels = panel.facet(column=column, spacing=_GAP).resolve_scale(y="independent")
        return _spec(panels.add_params(metric))
    rows = [
        panel.transform_filter(alt.datum.row == name)
        .facet(column=column, spacing=_GAP, title=alt.Title(name, anchor="start", fontSize=13, offset=8))
        .resolve_scale(y="independent")
        for name in data["row"].unique(maintain_order=True)
    ]
    return _spec(alt.vconcat(*rows, spacing=_GAP).add_params(metric))


def _lines(
    frame: pl.DataFrame,
    points: Sequence[str],
    schemes: Sequence[str],
    x: tuple[alt.X, str],
    y: tuple[alt.Y, str],
    **mark: Any,
) -> Any:
    """One line per scheme for the chosen point, with both values in the tooltips.

    Each axis comes with the Vega expression that formats its values.
    """
    chart = alt.Chart(_data(frame, points)).transform_filter("datum.point == point")
    (across, spell_x), (up, spell_y) = x, y
    tooltip = [alt.Tooltip("scheme:N", title="scheme")]
    places = chart
    for name, channel, spell in (("x", across, spell_x), ("y", up, spell_y)):
        axis: Any = channel.to_dict()
        places = places.transform_calculate(f"spelled_{name}", _spelled(spell, axis["field"]))
        tooltip.append(alt.Tooltip(f"spelled_{name}:N", title=axis["title"]))
    lines = chart.mark_line(**mark).encode(across, up, _scheme_color(schemes))
    # A line mark has a single tooltip; invisible points give one per value.
    unseen = places.mark_point(filled=True, size=50, opacity=0).encode(across, up, tooltip=tooltip)
    return alt.layer(lines.properties(name="lines"), unseen)


def _by_class(chart: alt.LayerChart, classes: Sequence[str], own: str, width: int, height: int) -> dict[str, Any]:
    """The chart as one panel per class, each with its own scale of the channel `own`."""
    panels = chart.properties(width=width, height=height).facet(
        column=alt.Column("class:N", sort=list(classes), title=None), spacing=_GAP
    )
    panels = panels.resolve_scale(x="independent") if own == "x" else panels.resolve_scale(y="independent")
    return _spec(panels.add_params(_point()))


def _point() -> alt.Parameter:
    """The index of the sweep point shown."""
    return alt.param(name="point", value=0)


def _time_axis(ticks: int) -> tuple[alt.X, str]:
    """Time since the start of the run."""
    axis = alt.Axis(labelExpr=SECONDS, tickCount=ticks, grid=False, labelOverlap=True)
    return alt.X("time_s:Q", title="time in the run", axis=axis), SECONDS


def completion(
    frame: pl.DataFrame, classes: Sequence[str], schemes: Sequence[str], points: Sequence[str]
) -> dict[str, Any]:
    """FCT distributions, one panel per class, on a logarithmic axis."""
    x = alt.X(
        "fct_s:Q",
        title="flow completion time",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(labelExpr=SECONDS_LOG, labelOverlap=True, labelFlush=False),
    )
    axis = alt.Axis(labelExpr=PERCENT, tickCount=5)
    y = alt.Y("share:Q", title="share of flows", scale=alt.Scale(domain=[0, 1]), axis=axis)
    lines = _lines(
        frame, points, schemes, (x, SECONDS), (y, PERCENT), strokeWidth=1.8, interpolate="step-after", clip=True
    )
    return _by_class(lines, classes, "x", _panel_width(len(classes), axes=1) - 12, 220)


def throughput(
    frame: pl.DataFrame, classes: Sequence[str], schemes: Sequence[str], points: Sequence[str]
) -> dict[str, Any]:
    """Delivered application bytes over time, one panel per class and one for the sum."""
    names = [*classes, "all"] if len(classes) > 1 else list(classes)
    shown = frame.filter(frame["class"].is_in(names))
    y = alt.Y("bps:Q", title="delivered", axis=alt.Axis(labelExpr=RATE, tickCount=5))
    lines = _lines(shown, points, schemes, _time_axis(4), (y, RATE), strokeWidth=1.4, opacity=0.9)
    return _by_class(lines, names, "y", _panel_width(len(names)), 190)


def queues(
    largest: pl.DataFrame, exceedance: pl.DataFrame, schemes: Sequence[str], points: Sequence[str]
) -> dict[str, Any]:
    """The fullest port over time next to the complementary CDF of queue occupancy."""
    size = {"width": _panel_width(2), "height": 210}
    y = alt.Y("bytes:Q", title="queued bytes", axis=alt.Axis(labelExpr=BYTES, tickCount=5))
    over_time = _lines(largest, points, schemes, _time_axis(6), (y, BYTES), strokeWidth=1.4, opacity=0.9)
    over_time = over_time.properties(title="fullest port over time", **size)
    axis = alt.Axis(labelExpr=BYTES, tickCount=6, labelOverlap=True, grid=False)
    x = alt.X("bytes:Q", title="queued bytes", scale=alt.Scale(zero=True), axis=axis)
    axis = alt.Axis(labelExpr=PERCENT_LOG)
    y = alt.Y("share:Q", title="share of samples", scale=alt.Scale(type="log"), axis=axis)
    share = _lines(exceedance, points, schemes, (x, BYTES), (y, PERCENT), strokeWidth=1.8, interpolate="step-before")
    share = share.properties(title="share of samples (all switch ports) with at least this much queued", **size)
    return _spec(alt.hconcat(over_time, share, spacing=_GAP).add_params(_point()))
