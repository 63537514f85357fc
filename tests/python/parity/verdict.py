"""Whether a cell is as good as the bridge's, and the table as Markdown."""

from __future__ import annotations

from collections.abc import Mapping

from .cell import Cell
from .fabric import BRIDGE
from .table import BRIDGE_FALLS_SHORT, MEANT

Table = Mapping[str, Mapping[str, Cell]]
"""Cells by row, then by column."""


def wrong_facts(row: str, column: str, cell: Cell) -> list[str]:
    """Facts that differ from the expected ones, one sentence each."""
    wrong = []
    for name, (found, should) in cell.facts.items():
        if column == BRIDGE and (row, name) in BRIDGE_FALLS_SHORT:
            continue
        meant = MEANT.get((row, name))
        expected = meant.found if meant and column != BRIDGE else should
        if found != expected:
            wrong.append(f"{name}: {_text(found)}, not {_text(expected)}")
    return wrong


def late_times(row: str, column: str, cell: Cell, bridge: Cell | None) -> list[str]:
    """Times above both their bound and the bridge's time, unless this falls short, one sentence each."""
    late = []
    for name, (value, bound) in cell.times.items():
        if column == BRIDGE and (row, name) in BRIDGE_FALLS_SHORT:
            continue
        falls_short = (row, name) in BRIDGE_FALLS_SHORT
        there = bridge.times.get(name, (None, bound))[0] if bridge and not falls_short else None
        if value is None or value > max(bound, there or 0.0):
            late.append(f"{name}: {'never' if value is None else f'{value:.1f} ms'}, bound {bound:g} ms")
    return late


def failures(row: str, column: str, cell: Cell, bridge: Cell | None) -> list[str]:
    """All failures of a cell."""
    return wrong_facts(row, column, cell) + late_times(row, column, cell, bridge)


def _text(found: object) -> str:
    if isinstance(found, list):
        return " ".join(map(_text, found))
    return f"{found:g}" if isinstance(found, float) else str(found)


def markdown(table: Table, columns: list[str]) -> str:
    """The table in Markdown."""
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row, cells in table.items():
        texts = [_cell(row, column, cells.get(column), cells.get(BRIDGE)) for column in columns]
        lines.append(f"| {row} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def _cell(row: str, column: str, cell: Cell | None, bridge: Cell | None) -> str:
    if cell is None:
        return "**not measured**"
    if wrong := failures(row, column, cell, bridge):
        return f"**{'; '.join(wrong)}**"
    text = "ok"
    times = [value for value, _ in cell.times.values() if value is not None]
    if column == BRIDGE and any((row, name) in BRIDGE_FALLS_SHORT for name in (*cell.facts, *cell.times)):
        text = "known limitation"
    elif column != BRIDGE and any((row, name) in MEANT for name in cell.facts):
        text = "differs as intended"
    return f"{text}, {max(times):.1f} ms" if times and text != "differs as intended" else text
