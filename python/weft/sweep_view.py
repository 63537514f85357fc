"""The progress of a sweep for a terminal: one bar for all runs, one line per active run, rates and time left."""

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from . import quantity
from .labels import plural, visible
from .progress import Tracker

BAR = 18
"""Width of a bar."""
_LINES = 8
"""Number of active runs shown; the rest are only counted."""
PATIENCE = 2.0
"""Seconds before a slow operation prints a notice."""


class View:
    """Draws a `Tracker` on every refresh."""

    def __init__(self, title: str, tracker: Tracker, clock: Callable[[], float]) -> None:
        self.title = title
        self.tracker = tracker
        self.clock = clock

    def __rich__(self) -> RenderableType:
        tracker = self.tracker
        grid = Table.grid(padding=(0, 1))
        grid.add_column(max_width=34, no_wrap=True, overflow="ellipsis")
        grid.add_column(width=BAR)
        grid.add_column(no_wrap=True)
        bar = ProgressBar(total=1.0, completed=tracker.fraction, width=BAR)
        grid.add_row(Text(self.title, style="bold"), bar, f"{tracker.fraction * 100:3.0f} %")
        active = list(tracker.active.values())
        for run in active[:_LINES]:
            bar = ProgressBar(total=1.0, completed=run.fraction, width=BAR, complete_style="cyan")
            flows = f"  {run.flows_done:,}/{run.flows_total:,} flows" if run.flows_total else ""
            done = f"{run.fraction * 100:3.0f} %{flows}"
            grid.add_row(Text(f"  {visible(run.label)}", style="dim"), bar, Text(done, "dim"))
        lines: list[RenderableType] = [grid]
        if len(active) > _LINES:
            lines.append(Text(f"  and {len(active) - _LINES} more", style="dim"))
        return Group(*lines, Text(status(tracker, self.clock())))


def status(tracker: Tracker, now: float) -> str:
    """Runs, rates and time left in one line; no rate of runs before one has finished."""
    parts = [f"{tracker.over} of {plural(tracker.total, 'run')}" if tracker.total else "starting"]
    if tracker.failed:
        parts.append(f"{tracker.failed} failed")
    if tracker.workers is not None:
        parts.append(plural(tracker.workers, "worker"))
    hops, pace = tracker.hops_per_second(now), tracker.runs_per_hour(now)
    if hops:
        parts.append(f"{quantity.count(hops)} packet-hops/s")
    if pace and tracker.finished:
        parts.append(f"{quantity.count(float(round(pace)))} runs/h")
    left = tracker.seconds_left(now)
    if left is not None and tracker.over < tracker.total:
        guess = "" if tracker.finished else " (from progress within runs)"
        parts.append(f"{quantity.clock(left)} left{guess}")
    return " · ".join(parts)
