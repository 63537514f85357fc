"""`make parity`: prints the whole table with the Linux switch's defaults, and optionally writes it to a file."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .runs import COLUMNS, run, why_not
from .table import GROUPS
from .verdict import failures, markdown


def _say(line: str) -> None:
    print(f"parity: {line}", file=sys.stderr, flush=True)


def main() -> int:
    """Make the table; returns 1 if a cell is worse than the bridge's."""
    parser = argparse.ArgumentParser(prog="parity", description=__doc__)
    parser.add_argument("--short", action="store_true", help="use short lifetimes and intervals (1 minute)")
    parser.add_argument("-o", "--output", type=Path, help="write the table to this file, as Markdown")
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=COLUMNS)
    parser.add_argument("--groups", nargs="+", choices=tuple(GROUPS), default=tuple(GROUPS))
    chosen = parser.parse_args()
    if reason := why_not():
        print(f"parity: {reason}", file=sys.stderr)
        return 2
    began = time.monotonic()
    outcome = run("short" if chosen.short else "full", chosen.columns, chosen.groups, _say)
    print("\n".join(outcome.notes), file=sys.stderr)
    text = markdown(outcome.cells, list(chosen.columns))
    print(text)
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")
    wrong = sum(
        bool(failures(row, column, cell, cells.get(chosen.columns[0])))
        for row, cells in outcome.cells.items()
        for column, cell in cells.items()
    )
    missing = sum(column not in cells for cells in outcome.cells.values() for column in chosen.columns)
    cells = len(outcome.cells) * len(chosen.columns)
    print(
        f"{len(outcome.cells)} rows, {cells} cells: {wrong} failed, {missing} missing; {time.monotonic() - began:.0f} s"
    )
    return int(wrong + missing > 0 or not outcome.cells)


if __name__ == "__main__":
    sys.exit(main())
