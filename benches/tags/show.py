"""Figures as tables and as a drawing."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Sheet

from benches.machine import spelled, spelled_noise
from benches.tags.ways import HOPS, Costs, Table


def tables(document: dict[str, Any], console: Console) -> None:
    """Prints all figures."""
    console.print(spelled(document))
    costs = Costs.read(document["figures"])
    sheet = Sheet("bytes", "push", "forward", "pop", title="ns per switch to push, follow and pop a tag")
    for size in sorted({size for _, size in costs.steps}):
        sheet.add_row(str(size), *(f"{costs.steps[what, size]:.0f}" for what in ("push", "forward", "pop")))
    console.print(sheet)
    heads = ("rules", "kinds", "match", "one lookup", f"{HOPS} lookups", "tags", "saved")
    sheet = Sheet(*heads, title=f"ns on a path of {HOPS} switches")
    for table in sorted(costs.lookups["flow-table"], key=_order):
        way = costs.way(table)
        cells = (f"{value:.0f}" for value in (way.lookup, way.tables, way.tags, way.saved))
        sheet.add_row(f"{table.rules:,}", str(table.kinds), table.matches, *cells)
    console.print(sheet)
    console.print(f"break-even: tags cost as much as they save where a lookup takes {costs.even:.0f} ns")
    console.print(f"medians, less the {costs.nothing:.0f} ns of an empty run; {spelled_noise(document)}")


def _order(table: Table) -> tuple[Any, ...]:
    return table.v6, table.prefix, table.kinds, table.rules


def draw(document: dict[str, Any], out: Path) -> list[Path]:
    """Writes `lookups.png`: time on a path by table size, with and without tags; one panel per number of kinds."""
    from weft.figures.style import legend, panels, save
    from weft.palette import styles

    costs = Costs.read(document["figures"])
    found = sorted(costs.lookups["flow-table"], key=_order)
    kinds = sorted({table.kinds for table in found})
    with panels(len(kinds), width=2.6, height=2.6) as (sheet, axes):
        for ax, count in zip(axes[0], kinds, strict=True):
            for v6, line in ((False, "-"), (True, "--")):
                chosen = [one for one in found if (one.kinds, one.v6, one.prefix) == (count, v6, False)]
                ways = [costs.way(one) for one in chosen]
                for name, label, values in (
                    ("flow_table", "table at every hop", [way.tables for way in ways]),
                    ("tag_forward", "tags", [way.tags for way in ways]),
                ):
                    style = styles(["flow_table", "tag_forward"])[name]
                    ax.plot(
                        [one.rules for one in chosen],
                        [value / 1000 for value in values],
                        color=style.color,
                        marker=style.marker,
                        linestyle=line,
                        label=f"{label}, IPv{6 if v6 else 4}",
                    )
            ax.set_xscale("log")
            ax.set_ylim(bottom=0)
            ax.set_title(f"{count} kind{'s' if count > 1 else ''} of rules")
            ax.set_xlabel("rules in a table")
        axes[0][0].set_ylabel(f"µs in {HOPS} switches' programs")
        legend(sheet, axes[0][0])
        return save(sheet, out / "lookups", ["png"])
