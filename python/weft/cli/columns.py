"""Tables with more columns than the terminal is wide: several below each other, so that no number is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")

_MEASURED = 10_000
"""Columns of a terminal on which no table is too wide."""


def in_parts(console: Console, columns: Sequence[T], table: Callable[[Sequence[T]], Table]) -> list[Table]:
    """The tables that show `columns`, as few as fit the terminal's width, with about as many columns in each.

    Args:
        console: The terminal.
        columns: What the tables show, in order.
        table: Makes the table of some of the columns.
    """
    whole = console.options.update(width=_MEASURED)
    for number in range(1, len(columns) + 1):
        size = -(-len(columns) // number)
        tables = [table(columns[at : at + size]) for at in range(0, len(columns), size)]
        if all(console.measure(part, options=whole).maximum <= console.width for part in tables):
            return tables
    return [table([column]) for column in columns]
