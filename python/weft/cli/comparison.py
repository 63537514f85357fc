"""The comparison for the terminal: one table per point, grouped by class, one row per scheme."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import paths, quantity
from ..difference import FEW
from ..labels import short_key, show, visible
from ..metrics import Metric
from ..palette import Style, styles
from ..statistics import Estimate, has_intervals
from ..steadiness import Mark
from ..summary_note import note
from ..summary_table import Row, Summary
from .columns import in_parts
from .verdicts import COLOURS

_NAMED = 5
"""Maximum number of points without flows that are named."""


def show_summary(console: Console, summary: Summary) -> None:
    """Print the comparison; on a narrow terminal the metrics are split over several tables."""
    if not summary.rows:
        console.print("No flow started in the measurement window, so there is nothing to compare.")
        return
    lead = [key for key in summary.by if key not in ("scheme", "class")]
    for values, rows in groupby(summary.rows, key=lambda row: tuple(show(row.group[key]) for key in lead)):
        group = list(rows)
        title = ", ".join(f"{short_key(key, lead)} {value}" for key, value in zip(lead, values, strict=True))
        _print_parts(
            console, visible(title), in_parts(console, summary.metrics, partial(_table, group, summary=summary))
        )
    for line in _missing(summary.without_flows):
        console.print(Text(line, style="yellow"))
    for line in summary.unsteady():
        console.print(Text(visible(line), style="yellow"))
    console.print(Text(note(summary), style="dim"))


def show_paths(console: Console, title: str, rows: Sequence[paths.Row], columns: Sequence[paths.Column]) -> None:
    """Print path selection or the impact of events; columns without information are left out."""
    _print_parts(console, title, in_parts(console, paths.telling(rows, columns), partial(_paths_table, rows)))


def show_collectives(console: Console, rows: Sequence[paths.Row], baseline: str | None) -> None:
    """Print the completion of collectives, if there are any."""
    if rows:
        show_paths(console, "Collectives", rows, paths.COLLECTIVE_COLUMNS)
        if text := paths.note(rows, baseline):
            console.print(Text(text, style="dim"))
            console.print()


def _print_parts(console: Console, title: str, tables: Sequence[Table]) -> None:
    """Print tables, the first one with a title unless it is empty."""
    for table in tables[:1]:
        table.title = title or None
    for table in tables:
        console.print(table)
        console.print()


def _paths_table(rows: Sequence[paths.Row], columns: Sequence[paths.Column]) -> Table:
    leads = paths.leads(rows)
    colors = styles(row.scheme for row in rows)
    table = _empty()
    for key in (*leads, "scheme"):
        table.add_column(key.capitalize(), no_wrap=key == "scheme")
    for column in columns:
        table.add_column(column.title, justify="right", no_wrap=True)
    previous: tuple[str, ...] = ()
    for row in rows:
        lead = tuple(getattr(row, key) for key in leads)
        names = [Text(visible(value) if lead != previous else "", style="bold") for value in lead]
        previous = lead
        lined = has_intervals(row.estimates[column.key] for column in columns)
        cells = [_with_difference(row, column, lined) for column in columns]
        if row.mark:
            cells = _marked(row.mark, len(columns))
        table.add_row(*names, Text(visible(row.scheme), style=colors[row.scheme].color), *cells)
    return table


def _with_difference(row: paths.Row, column: paths.Column, lined: bool) -> Text:
    found = row.differences.get(column.key)
    text = _value(row.estimates[column.key], column.kind, lined=lined and found is not None)
    if found is not None:
        text.append(f"\n{found.text(column.kind)}", style=COLOURS[found.verdict(-1)])
    return text


def _empty() -> Table:
    return Table(title_justify="left", title_style="bold", box=None, padding=(0, 1), pad_edge=False)


def _missing(points: Sequence[str]) -> list[str]:
    """One line for each point without flows, up to a maximum."""
    lines = [f"{visible(point)}: no flow started in the measurement window" for point in points[:_NAMED]]
    return [*lines, f"and {len(points) - _NAMED} more points without flows"] if len(points) > _NAMED else lines


def _table(rows: Sequence[Row], metrics: Sequence[Metric], *, summary: Summary) -> Table:
    table = _empty()
    kinds = [key for key in ("class", "scheme") if key in summary.by]
    for key in kinds:
        table.add_column(key.capitalize(), no_wrap=True)
    table.add_column("Flows\nper run", justify="right", no_wrap=True)
    for metric in metrics:
        table.add_column(metric.title.replace(" per", "\nper"), justify="right", no_wrap=True)
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
        flows = Text(quantity.count(row.per_run(row.flows)))
        others = 0 if row.shared is None else row.shared.baseline_unfinished
        if unfinished or others:
            sides = (unfinished,) if row.shared is None else (unfinished, others)
            text = "/".join(quantity.count(row.per_run(side)) for side in sides)
            flows.append(f"\n{text}\nunfinished", style="yellow")
        lined = has_intervals(row.estimates[metric.key] for metric in metrics)
        found = _marked(row.mark, len(metrics)) if row.mark else [_cell(row, metric, lined) for metric in metrics]
        table.add_row(*cells, flows, *found)
    return table


def _style(key: str, row: Row, colors: dict[str, Style]) -> str:
    return colors[row.group["scheme"]].color if key == "scheme" else "bold"


def _marked(mark: Mark, cells: int) -> list[Text]:
    """The cells of a row whose means say nothing."""
    label = Text(mark.label, style="yellow")
    return [label, *(Text(quantity.MISSING, style="dim") for _ in range(cells - 1))]


def _cell(row: Row, metric: Metric, lined: bool) -> Text:
    found = row.differences.get(metric.key)
    sign = FEW if row.few(metric) else ""
    text = _value(row.estimates[metric.key], metric.kind, sign, lined=lined and found is not None)
    if found is not None:
        text.append(f"\n{found.text(metric.kind)}", style=COLOURS[found.verdict(metric.better)])
    return text


def _value(value: Estimate | None, kind: str, sign: str = "", *, lined: bool = False) -> Text:
    """A mean with a sign after it, and half its interval on the line below, which is empty if `lined` without one."""
    if value is None:
        return Text(quantity.MISSING, style="dim")
    number, half = quantity.parts(kind, value.mean, value.plus_minus)
    text = Text(number + sign)
    if half or lined:
        text.append(f"\n{half}", style="dim")
    return text
