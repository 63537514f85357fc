"""Splits tables wider than the terminal into several, one below the other, so that no number is cut off."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.table import Table

T = TypeVar("T")

_MEASURED = 10_000
"""Terminal width at which every table fits."""


def in_parts(console: Console, columns: Sequence[T], table: Callable[[Sequence[T]], Table]) -> list[Table]:
    """The fewest tables that show `columns` within the terminal's width, with about equally many columns each."""
    whole = console.options.update(width=_MEASURED)
    for number in range(1, len(columns) + 1):
        size = -(-len(columns) // number)
        tables = [table(columns[at : at + size]) for at in range(0, len(columns), size)]
        if all(console.measure(part, options=whole).maximum <= console.width for part in tables):
            return tables
    return [table([column]) for column in columns]
