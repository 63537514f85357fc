"""Metrics of flows by class, with intervals: over the swept key, or as bars where no key is a number."""

from .. import quantity
from ..content import CROWDED, Content
from ..markup import escape
from ..metrics import METRICS
from .figure import Drawn, Figure, Measure, Toggle, interval_note, no_data
from .layers import Layers, Spec, axis, bars, faceted, formatted, intervals, lines, names_of, of_scheme, span, tips

_MOST_POINTS = 8
"""Maximum number of points shown side by side on the page; with more, only the chosen one is shown."""
_MOST_VALUES = 10
"""Values of the axis that all have a label."""
_COLUMNS = ("point", "scheme", "class", "metric", "mean", "low", "high", "seeds")
_BESIDE: Layers = [
    {"window": [{"op": "dense_rank", "as": "slot"}], "sort": [{"field": "place"}], "groupby": []},
    {"window": [{"op": "lag", "field": "x", "as": "before"}], "sort": [{"field": "x"}], "groupby": []},
    {"calculate": "isValid(datum.before) && datum.x > datum.before ? datum.x - datum.before : null", "as": "gap"},
    {
        "joinaggregate": [
            {"op": "min", "field": "gap", "as": "nearest"},
            {"op": "min", "field": "x", "as": "first"},
            {"op": "max", "field": "x", "as": "last"},
            {"op": "max", "field": "slot", "as": "slots"},
            {"op": "count", "as": "number"},
        ],
        "groupby": [],
    },
    {
        "calculate": "datum.x + (datum.slot - (datum.slots + 1) / 2) * (isValid(datum.nearest)"
        " ? min(0.035 * (datum.last - datum.first), 0.7 * datum.nearest / datum.slots) : 0)",
        "as": "at",
    },
]
"""Schemes stand side by side at each value (`at`), so that their intervals do not overlap, but nearer to it than to the
next."""


def _spec(drawn: Drawn) -> Spec:
    assert drawn.measure is not None
    metric = next(one for one in METRICS if one.key == drawn.measure.key)
    content, log = drawn.content, any(name.endswith("-y") for name in drawn.on)
    y = axis("mean", metric.title, metric.kind, log="child_y" if log else "")
    texts = {
        "scheme": "datum.scheme",
        "point": "datum.point || 'all'",
        "mean over seeds": formatted(metric.kind, "mean"),
        "95 % interval": span(metric.kind),
        "seeds": "datum.seeds",
    }
    layers = _over_axis(drawn, y, texts) if content.x is not None else _side_by_side(drawn, y, log=log)
    if content.x is None:
        layers.append(tips(layers[0]["encoding"]["x"], y, texts))
        layers[-1]["encoding"] |= {key: value for key, value in layers[0]["encoding"].items() if key == "xOffset"}
    spec = faceted("intervals", "class", _panels(content), layers)
    least = "datum.mean / 1000" if log else "0"
    spec["transform"] = [
        *([{"filter": "datum.mean > 0"}] if log else []),
        # An interval without ends has no length: a layer without values would have no scale.
        {"calculate": f"isValid(datum.low) ? max(datum.low, {least}) : datum.mean", "as": "bottom"},
        {"calculate": "isValid(datum.high) ? datum.high : datum.mean", "as": "top"},
    ]
    spec["spec"]["transform"] = _BESIDE if content.x is not None else []
    return spec


def _panels(content: Content) -> list[str]:
    """The panels in their order: classes, and further swept values in files."""
    if not content.others:
        return content.classes
    rows = content.intervals()["panels"].unique(maintain_order=True)
    return [*content.classes, *(f"{name}, {row}" for row in rows for name in content.classes)]


_HERE: Spec = {
    "transform": [
        {"joinaggregate": [{"op": "max", "field": "here", "as": "any"}], "groupby": []},
        {"filter": "datum.here || !datum.any"},
        {"aggregate": [{"op": "count", "as": "rows"}], "groupby": ["x", "any"]},
    ],
    "mark": {"type": "rule", "style": "here", "strokeWidth": 14, "opacity": {"expr": "datum.any ? 0.25 : 0"}},
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
"""The chosen point of the page."""


def _over_axis(drawn: Drawn, y: Spec, texts: dict[str, str]) -> Layers:
    content = drawn.content
    values = sorted(content.intervals()[content.x or ""].unique().to_list())
    ticks = values if len(values) <= _MOST_VALUES else []
    x = axis("at", content.x_title, "number", values=ticks, grid=False, zero=False, padding=16)
    # All intervals of many schemes at many values would be a thicket: files have bands, the page those of one scheme.
    crowded = f"datum.number > {CROWDED}"
    shown = intervals(drawn.names, x, y, low="bottom", high="top", opacity={"expr": f"{crowded} ? 0 : 1"})
    pointed = intervals(drawn.names, x, y, low="bottom", high="top", style="pointed")
    pointed["encoding"]["opacity"] = {"condition": {"param": "pointed", "empty": False, "value": 1}}
    band = intervals(drawn.names, x, y, low="bottom", high="top")
    band["mark"] = {"type": "area", "style": "band"}
    points = tips(x, y, texts)
    return [
        _HERE,
        lines(drawn.names, x, y, marked=True, strokeWidth=2),
        shown,
        *([band] if content.crowded else []),
        pointed,
        {
            "params": [
                {
                    "name": "pointed",
                    "select": {
                        "type": "point",
                        "on": "pointerover",
                        "clear": "pointerout",
                        "fields": ["scheme", "class"],
                    },
                }
            ],
            "transform": points["transform"],
            "mark": {"type": "point", "size": {"expr": f"{crowded} ? 24 : 62"}},
            "encoding": points["encoding"] | of_scheme(drawn.names, "color", "shape"),
        },
    ]


def _side_by_side(drawn: Drawn, y: Spec, *, log: bool) -> Layers:
    number = len(drawn.content.points)
    one = number == 1 or (drawn.few and number > _MOST_POINTS)
    x = names_of("scheme" if one else "point", axis={"labelAngle": -30, "grid": False, "labelLimit": 150})
    if one:
        x["sort"] = list(drawn.names)
    found = bars(drawn.names, x, y, "bottom", "top")
    if log:
        found[0]["mark"] = {"type": "point", "size": 70}
        found[0]["encoding"] |= of_scheme(drawn.names, "color", "shape")
    return found


def _empty(content: Content) -> str:
    """The sentence in the place of the figure; the top of the page has the reasons."""
    why = content.summary.without_means()
    return f"<p>{escape(why[0])} The top of the page has the reasons.</p>" if why else no_data(content)


def _stranded(content: Content) -> str:
    """The schemes that left flows unfinished, since their means are over the other flows."""
    counts: dict[str, float] = {}
    for row in content.summary.rows:
        counts[row.group["scheme"]] = counts.get(row.group["scheme"], 0) + row.flows - row.finished
    listed = ", ".join(f"{escape(name)} {quantity.count(number)}" for name, number in counts.items())
    if not any(counts.values()):
        return ""
    return (
        f" Only finished flows count, so a scheme that leaves its slowest ones unfinished looks faster than it is: see"
        f" the differences in the table. Unfinished flows, over all runs: {listed}."
    )


def _figure(ident: str, title: str, text: str, *measures: Measure) -> Figure:
    def caption(content: Content) -> str:
        caption_text = f"{text} {interval_note(content)}{_stranded(content)}"
        if content.crowded:
            caption_text += (
                f" With more than {CROWDED} points in a panel, intervals are drawn for the scheme under the pointer"
                " only."
            )
        if content.points != [""]:
            caption_text += " The chosen values of the sweep are marked; other keys have their chosen values."
        return caption_text

    return Figure(
        ident,
        title,
        caption,
        {"intervals": lambda content: content.intervals().select(_COLUMNS)},
        {"mean": "", "low": "", "high": "", "seeds": "count"},
        _spec,
        _empty,
        toggles=(Toggle(f"{ident}-y", "log axis"),),
        measures=measures,
    )


COMPLETION = _figure(
    "completion",
    "Flow completion time by class",
    "From connection setup to delivery of the last byte to the receiving application. Slowdown is relative to the same "
    "flow on an otherwise idle fabric.",
    Measure("mean_fct_s", "Mean", "fct-mean"),
    Measure("median_fct_s", "Median", "fct-median"),
    Measure("p99_fct_s", "99th percentile", "fct-p99"),
    Measure("p999_fct_s", "99.9th", "fct-p999"),
    Measure("mean_slowdown", "Slowdown", "slowdown"),
)
THROUGHPUT = _figure(
    "throughput",
    "Throughput, reordering and loss by class",
    "Throughput is flow size divided by completion time, averaged over flows. Out of order is the share of first "
    "transmissions that arrive after a later one. Retransmissions and drops are per run.",
    Measure("mean_throughput_bps", "Throughput", "throughput"),
    Measure("out_of_order_share", "Out of order", "out-of-order"),
    Measure("retransmissions", "Retransmissions"),
    Measure("drops", "Drops"),
)
