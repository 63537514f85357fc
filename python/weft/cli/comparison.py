"""The comparison table for the terminal: a table a point, grouped by class, a row a scheme."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .. import paths, quantity
from ..labels import short_key, show, visible
from ..palette import Style, styles
from ..statistics import Estimate
from ..summary import METRICS, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ..summary import Row, Summary

_WIDE = 118
"""Columns of a terminal that show all metrics side by side."""

_NARROW = 5
"""Columns of a table that a narrower terminal shows side by side."""


def show_summary(console: Console, summary: Summary) -> None:
    """Print the comparison; on a narrow terminal the metrics are split over two tables."""
    if not summary.rows:
        console.print("There is no flow in the measurement window, so there is nothing to compare.")
        return
    parts = [METRICS] if console.width >= _WIDE else [METRICS[:4], METRICS[4:]]
    lead = [key for key in summary.by if key not in ("scheme", "class")]
    for values, rows in groupby(summary.rows, key=lambda row: tuple(show(row.group[key]) for key in lead)):
        group = list(rows)
        title = ", ".join(f"{short_key(key, lead)} {value}" for key, value in zip(lead, values, strict=True))
        for i, part in enumerate(parts):
            console.print(_table(visible(title) if i == 0 else "", group, part, summary))
            console.print()
    console.print(Text(_note(summary), style="dim"))


def show_paths(console: Console, title: str, rows: Sequence[paths.Row], columns: Sequence[paths.Column]) -> None:
    """Print how paths were chosen, or what events cost; columns that say nothing are left out."""
    shown = paths.telling(rows, columns)
    narrow = console.width < _WIDE and len(shown) > _NARROW
    parts = [shown[:_NARROW], shown[_NARROW:]] if narrow else [shown]
    leads = paths.leads(rows)
    colors = styles(row.scheme for row in rows)
    for i, part in enumerate(parts):
        table = Table(
            title=title if i == 0 else None,
            title_justify="left",
            title_style="bold",
            box=None,
            padding=(0, 1),
            pad_edge=False,
        )
        for key in (*leads, "scheme"):
            table.add_column(key.capitalize(), no_wrap=key == "scheme")
        for column in part:
            table.add_column(column.title, justify="right")
        previous: tuple[str, ...] = ()
        for row in rows:
            lead = tuple(getattr(row, key) for key in leads)
            names = [Text(visible(value) if lead != previous else "", style="bold") for value in lead]
            previous = lead
            cells = [_value(row.estimates[column.key], column.kind) for column in part]
            table.add_row(*names, Text(visible(row.scheme), style=colors[row.scheme].color), *cells)
        console.print(table)
        console.print()


def _note(summary: Summary) -> str:
    seeds = {len(row.seeds) for row in summary.rows}
    if max(seeds, default=0) < 2:
        note = "One seed: no confidence intervals (run with --seeds 5 or more)."
    else:
        several = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else str(max(seeds))
        note = f"Mean over {several} seeds ± half of the 95 % confidence interval (Student t)."
    if summary.baseline:
        note += f" Signed percentages: paired difference to {summary.baseline}; dim where the interval includes zero."
    return note


def _table(title: str, rows: Sequence[Row], metrics: Sequence[Metric], summary: Summary) -> Table:
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=None, padding=(0, 1), pad_edge=False
    )
    kinds = [key for key in ("class", "scheme") if key in summary.by]
    for key in kinds:
        table.add_column(key.capitalize(), no_wrap=True)
    table.add_column("Flows", justify="right", no_wrap=True)
    for metric in metrics:
        table.add_column(metric.title, justify="right", no_wrap=True)
    colors = styles(str(row.group.get("scheme", "")) for row in summary.rows)
    previous = None
    for row in rows:
        kind = row.group.get("class")
        if previous is not None and kind != previous:
            table.add_section()
            table.add_row()
        cells = [
            Text(
                visible(str(row.group[key])) if key == "scheme" or kind != previous else "",
                style=_style(key, row, colors),
            )
            for key in kinds
        ]
        previous = kind
        unfinished = row.flows - row.finished
        flows = Text(quantity.count(row.flows))
        if unfinished:
            flows.append(f"\n{quantity.count(unfinished)} open", style="yellow")
        table.add_row(*cells, flows, *(_cell(row, metric) for metric in metrics))
    return table


def _style(key: str, row: Row, colors: dict[str, Style]) -> str:
    return colors[row.group["scheme"]].color if key == "scheme" else "bold"


def _cell(row: Row, metric: Metric) -> Text:
    text = _value(row.estimates[metric.key], metric.kind)
    relative = row.relative.get(metric.key)
    if relative is not None:
        text.append(f"\n{quantity.change(relative.mean)}", style=_verdict(relative, metric.better))
    return text


def _value(value: Estimate | None, kind: str) -> Text:
    """A mean with half its interval below."""
    if value is None:
        return Text(quantity.MISSING, style="dim")
    number, _, half = quantity.FORMATS[kind](value.mean, value.half).partition(" ±")
    half, _, unit = half.partition(" ")
    text = Text(f"{number} {unit}".rstrip())
    if half:
        text.append(f"\n±{half}", style="dim")
    return text


def _verdict(relative: Estimate, better: int) -> str:
    if not relative.excludes_zero:
        return "dim"
    return "green" if relative.mean * better > 0 else "red"
