"""Utilisation and queue of one link over time. Only on the page."""

from ..content import Content
from . import events
from .layers import Spec, axis, beside, formatted, lines, panel, span, tips


def spec(content: Content) -> Spec:
    """A panel for each quantity; the data sets are `link`, and `now` with the chosen time, if there is one."""
    x = axis("time_s", "time in the run", "s", grid=False)
    now = {
        "data": {"name": "now"},
        "mark": {
            "type": "rule",
            "style": "guide",
            "clip": True,
            "strokeDash": [1, 0],
            "opacity": {"expr": "datum.chosen"},
        },
        "encoding": {"x": {"field": "time_s", "type": "quantitative"}},
    }
    panels = []
    for title, field, kind in (("utilisation", "share", "share"), ("queue", "bytes", "bytes")):
        y = axis(field, None, kind)
        texts = {
            "scheme": "datum.scheme",
            "time in the run": formatted("s", "time_s"),
            f"{title}, mean over seeds": formatted(kind, field),
            "95 % interval": span(kind, f"{field}_low", f"{field}_high"),
        }
        series = [lines(content.schemes, x, y, strokeWidth=1.5), tips(x, y, texts)]
        panels.append(panel("link", [*events.layers(content), now, *series], title))
    return beside(*panels, height=130)
