"""`weft why --critical-path`: the time of a round or trace, part by part, and the links to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .. import quantity
from ..labels import plural, visible
from . import shell
from .columns import in_parts
from .live import announced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..critical_path import CriticalPath
    from ..one_run import Run
    from ..results import Results

_LINKS = 8
"""Links shown; the rest is one row."""


def show(results: Results, runs: Sequence[Run], number: int | None, scenario: Path | None, *, as_json: bool) -> None:
    """Print the critical path of a job under these runs: job `number`, default the longest of the first run."""
    from ..critical_path import critical_path, longest

    number = longest(runs[0]) if number is None else number
    found = []
    for run in runs:
        with announced(f"Simulating {run.label}, seed {run.seed}, again ..."):
            found.append(critical_path(results, run, number, scenario=scenario))
    if as_json:
        shell.print_json([one.as_dict() for one in found], indent=2)
        return
    first = found[0]
    where = f", {first.run.point}" if first.run.point else ""
    title = f"Critical path of {first.name}, {first.job['ranks']} ranks: seed {first.run.seed}{where}"
    shell.out.print(Text(visible(title)))
    shell.out.print()
    for make in (_parts, _links):
        for table in in_parts(shell.out, found, make):
            if table.row_count:
                shell.out.print(table)
                shell.out.print()
    for one in found:
        lead = f"{visible(one.run.scheme)}: " if len(found) > 1 else ""
        shell.out.print(Text(lead + _sentence(one)), soft_wrap=True)


def _parts(shown: Sequence[CriticalPath]) -> Table:
    table = _table("Part", shown)
    for part in shown[0].parts:
        if any(one.parts[part] for one in shown):
            table.add_row(part.replace("_", " "), *(_cell(one, one.parts[part]) for one in shown))
    table.add_row("all", *(quantity.seconds(one.seconds) for one in shown), style="bold")
    return table


def _links(shown: Sequence[CriticalPath]) -> Table:
    """The time at each link, those with the longest time under one of the schemes first."""
    most: dict[str, float] = {}
    for one in shown:
        for link, seconds in one.blamed.items():
            most[link] = max(most.get(link, 0.0), seconds)
    links = sorted(most, key=lambda link: (-most[link], link))
    table = _table("Waiting at link", shown)
    for link in links[:_LINKS]:
        table.add_row(visible(link), *(_cell(one, one.blamed.get(link, 0.0)) for one in shown))
    if rest := links[_LINKS:]:
        sums = [sum(one.blamed.get(link, 0.0) for link in rest) for one in shown]
        table.add_row(plural(len(rest), "other"), *map(_cell, shown, sums))
    return table


def _table(head: str, shown: Sequence[CriticalPath]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(head, no_wrap=True)
    for one in shown:
        table.add_column(visible(one.run.scheme), justify="right", no_wrap=True)
    return table


def _cell(one: CriticalPath, seconds: float) -> str:
    if not seconds:
        return ""
    share = f"{seconds / one.seconds * 100:.1f}"
    return f"{quantity.seconds(seconds)} {share if share != '0.0' else '<0.1':>5} %"


def _sentence(one: CriticalPath) -> str:
    """The largest part, and the link at which flows of the path waited longest."""
    part = max(one.parts, key=lambda name: one.parts[name])
    share = quantity.percent(one.parts[part] / one.seconds) if one.seconds else "0 %"
    text = f"{part.replace('_', ' ').capitalize()} took {quantity.seconds(one.parts[part])}, {share} of the time."
    if one.blamed:
        link, seconds = next(iter(one.blamed.items()))
        of = (
            plural(one.queued, "message")
            if one.explained == one.queued
            else f"{one.explained} of {one.queued} messages"
        )
        text += f" {of.capitalize()} of the path waited in the network, longest at {visible(link)}:"
        text += f" {quantity.seconds(seconds)} in total."
    return text
