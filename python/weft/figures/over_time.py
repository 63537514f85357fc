"""Delivered data over time, one panel for each class."""

from collections.abc import Sequence

from .. import extracts
from . import events
from .figure import ALL, NO_DELIVERY, NO_FLOW, UNTIL, Drawn, Figure, Toggle, not_sampled
from .layers import Layers, Spec, axis, faceted, formatted, lines, span, tips


def ends(field: str) -> Layers:
    """Transforms from the mean in a field and the half-width of its interval to the interval's ends."""
    found = {"low": f"max(datum.{field} - datum.half, 0)", "high": f"datum.{field} + datum.half"}
    return [{"calculate": f"isValid(datum.half) ? {text} : null", "as": name} for name, text in found.items()]


def series(names: Sequence[str], x: Spec, y: Spec, field: str, kind: str, title: str) -> Layers:
    """A line over time for each scheme, with the mean and its interval as tooltips."""
    texts = {
        "scheme": "datum.scheme",
        "time in the run": formatted("s", "time_s"),
        f"{title}, mean over seeds": formatted(kind, field),
        "95 % interval": span(kind),
    }
    return [lines(names, x, y, strokeWidth=1.5), tips(x, y, texts, *ends(field))]


def _spec(drawn: Drawn) -> Spec:
    log, classes = "over-time-y" in drawn.on, drawn.content.classes
    x = axis("time_s", "time in the run", "s", ticks=4, grid=False)
    y = axis("bps", "delivered", "bps", log="child_y" if log else "")
    order = [*classes, ALL] if len(classes) > 1 else classes
    shown = [*events.layers(drawn.content), *series(drawn.names, x, y, "bps", "bps", "delivered")]
    spec = faceted("delivered", "class", order, shown)
    positive = [{"filter": "datum.bps > 0"}] if log else []
    # The sum of one class is this class.
    is_repeated = len(classes) == 1 and classes[0] != ALL
    own = [{"filter": f"datum.class != '{ALL}'"}] if is_repeated else []
    spec["transform"] = [*positive, *own]
    return spec


FIGURE = Figure(
    "over-time",
    "Throughput over time",
    lambda content: (
        "Bytes delivered to the receiving applications, summed over the flows of a class, averaged over seeds. A class"
        " without flows at a point has no panel. " + UNTIL + events.note(content)
    ),
    {"delivered": lambda content: extracts.throughput_over_time(content.results)},
    {"time_s": "s", "bps": "bps", "half": "bps"},
    _spec,
    lambda content: not_sampled(content, NO_DELIVERY if content.classes else NO_FLOW),
    file="throughput-time",
    over_time=True,
    toggles=(Toggle("over-time-y", "log axis"),),
)
