"""Queues: the fullest one over time, next to the distribution of occupancy."""

from .. import extracts, run_ends
from ..content import Content
from . import events
from .figure import UNTIL, Drawn, Figure, Toggle, not_sampled
from .layers import Spec, axis, beside, formatted, lines, panel, tips
from .over_time import series


def _spec(drawn: Drawn) -> Spec:
    log_x, log_y = "queues-x" in drawn.on, "queues-y" in drawn.on
    time = axis("time_s", "time in the run", "s", ticks=5, grid=False)
    fullest = axis("bytes", "queued bytes", "bytes", log="concat_0_y" if log_x else "")
    size = axis("bytes", "queued bytes (at least)", "bytes", log="concat_1_x" if log_x else "", grid=False, nice=False)
    share = axis("share", "share of samples", "share", log="concat_1_y" if log_y else "", digits="1")
    texts = {
        "scheme": "datum.scheme",
        "queued bytes": formatted("bytes", "bytes"),
        "share of samples": formatted("share", "share"),
    }
    names = list(drawn.names)
    over_time = [*events.layers(drawn.content), *series(names, time, fullest, "bytes", "bytes", "queued bytes")]
    left = panel("largest", over_time, "fullest port over time")
    steps = lines(names, size, share, interpolate="step-before")
    right = panel("exceedance", [steps, tips(size, share, texts)], "queue length, all ports")
    left["transform"] = [{"filter": "datum.bytes > 0"}] if log_x else []
    right["transform"] = [{"filter": "datum.bytes > 0 && datum.share > 0"}]
    return beside(left, right)


def _until(content: Content) -> str:
    return " until the last run at a point ended" if run_ends.early(content.results) else ""


FIGURE = Figure(
    "queues",
    "Queues",
    lambda content: (
        f"Left: the fullest queue in the fabric, averaged over seeds. {UNTIL}{events.note(content)} Right: "
        f"complementary CDF of queue occupancy (all switch ports, samples in the measurement window{_until(content)}); "
        "lower and further left is better."
    ),
    {
        "largest": lambda content: extracts.largest_queue(content.results),
        "exceedance": lambda content: extracts.queue_exceedance(content.results),
    },
    {"time_s": "s", "bytes": "bytes", "half": "bytes", "share": "share"},
    _spec,
    lambda content: not_sampled(
        content, "<p>All sampled queues were empty, or the fabric is too large to sample its links.</p>"
    ),
    file="queues",
    over_time=True,
    toggles=(Toggle("queues-x", "log bytes"), Toggle("queues-y", "log share", pressed=True)),
)
