"""Distributions of flow completion times, one panel for each class."""

from .. import extracts
from .figure import Drawn, Figure, Toggle, no_data
from .layers import Spec, axis, faceted, formatted, lines, tips


def _spec(drawn: Drawn) -> Spec:
    slower = "ccdf" in drawn.on
    log_x, log_y = "curves-x" in drawn.on, "curves-y" in drawn.on
    title = "share that takes longer" if slower else "share of flows"
    x = axis("fct_s", "flow completion time", "s", log="child_x" if log_x else "", ticks=4, zero=not log_x, nice=False)
    y = (
        axis("share", title, "share", log="child_y", digits="1", domainMax=1)
        if log_y
        else axis("share", title, "share", domain=[0, 1])
    )
    texts = {
        "scheme": "datum.scheme",
        "flow completion time": formatted("s", "fct_s"),
        title: formatted("share", "share"),
    }
    spec = faceted(
        "curves",
        "class",
        drawn.content.classes,
        [lines(drawn.names, x, y, interpolate="step-after"), tips(x, y, texts)],
    )
    spec["transform"] = [
        *([{"calculate": "max(1 - datum.share, 0)", "as": "share"}] if slower else []),
        *([{"filter": "datum.fct_s > 0"}] if log_x else []),
        *([{"filter": "datum.share > 0"}] if log_y else []),
    ]
    return spec


FIGURE = Figure(
    "curves",
    "Distribution of flow completion times",
    lambda _: (
        "Share of flows by completion time, all seeds pooled: cumulative, or complementary (CCDF): the share that "
        "takes longer, which shows the tail on a logarithmic axis. Unfinished flows count as slower than all others."
    ),
    {"curves": lambda content: extracts.completion_curves(content.results)},
    {"fct_s": "s", "share": "share"},
    _spec,
    no_data,
    file="fct-cdf",
    toggles=(
        Toggle("ccdf", "CCDF", title="Share of flows that take longer"),
        Toggle("curves-x", "log time", pressed=True),
        Toggle("curves-y", "log share"),
    ),
)
