"""`weft why --critical-path`: the time of a round or trace, part by part, and the links to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from .. import quantity
from ..critical_path import MOST_FLOWS, MOST_PACKETS
from ..labels import plural, visible
from . import shell
from .columns import in_parts
from .live import announced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..communication import Communication
    from ..critical_path import CriticalPath
    from ..one_run import Run
    from ..results import Results

_LINKS, _MESSAGES = 8, 5
"""Links and messages shown; the other links are one row."""
_LEAST = 0.01
"""Share of a message's queueing from which a link is shown beside it."""


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
        if one.communications:
            shell.out.print(_messages(one, with_scheme=len(found) > 1))
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
    for name, sums in (
        ("at no link", [one.elsewhere for one in shown]),
        ("not explained", [0.0 if one.is_explained else one.unexplained for one in shown]),
    ):
        if any(seconds >= 1e-12 for seconds in sums):
            table.add_row(name, *map(_cell, shown, sums), style="dim")
    return table


def _messages(one: CriticalPath, *, with_scheme: bool) -> Table:
    """The messages that queued longest, each with the links at which its packets waited longest."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(f"Message, {visible(one.run.scheme)}" if with_scheme else "Message", no_wrap=True)
    table.add_column("Queueing", justify="right", no_wrap=True)
    table.add_column("Longest at")
    for message in one.communications[:_MESSAGES]:
        name = f"flow {message.flow}, {visible(message.src)} to {visible(message.dst)}"
        table.add_row(name, quantity.seconds(message.seconds), _places(message))
    return table


def _places(message: Communication) -> str:
    """The links at which a message waited longest, at most two, with the time and its share of the queueing."""
    if not message.is_followed:
        return f"not followed; most used: {visible(message.most_used)}" if message.most_used else "not followed"
    texts = [
        f"{visible(link)} {quantity.seconds(seconds)}, {quantity.percent(seconds / message.seconds)}"
        for link, seconds in list(message.links.items())[:2]
        if seconds >= _LEAST * message.seconds
    ]
    if texts:
        return "; ".join(texts)
    total = sum(message.links.values())
    if total < _LEAST * message.seconds:
        return "no link"
    share = quantity.percent(total / message.seconds)
    return f"{len(message.links)} links, each below {_LEAST * 100:g} %: {quantity.seconds(total)}, {share}"


def _table(head: str, shown: Sequence[CriticalPath]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(head, no_wrap=True)
    for one in shown:
        table.add_column(visible(one.run.scheme), justify="right", no_wrap=True)
    return table


def _cell(one: CriticalPath, seconds: float) -> str:
    if seconds < 1e-12:
        return ""
    return f"{quantity.seconds(seconds)} {quantity.of_whole(seconds / one.seconds):>7}"


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
    if not one.is_explained:
        rest = plural(one.queued - one.explained, "message")
        text += f" Not followed: {rest}, with {quantity.seconds(one.unexplained)} of queueing."
        text += f" A message of more than {MOST_PACKETS:,} packets is not followed, and of a path at most"
        text += f" {MOST_FLOWS:,} messages are."
    return text
