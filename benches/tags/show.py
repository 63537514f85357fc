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
    from weft.figures.layers import axis, by_source, faceted, lines, of_scheme
    from weft.figures.paper import write
    from weft.palette import styles

    costs = Costs.read(document["figures"])
    found = sorted(costs.lookups["flow-table"], key=_order)
    labels = {"flow_table": "table at every hop", "tag_forward": "tags"}
    titles = {
        kinds: f"{kinds} kind{'s' if kinds > 1 else ''} of rules" for kinds in sorted({one.kinds for one in found})
    }
    rows = [
        {
            "panel": titles[one.kinds],
            "source": f"IPv{6 if one.v6 else 4}",
            "scheme": label,
            "x": one.rules,
            "mean": value / 1000,
        }
        for one in found
        if not one.prefix
        for way in [costs.way(one)]
        for label, value in zip(labels.values(), (way.tables, way.tags), strict=True)
    ]
    names = list(labels.values())
    x = axis("x", "rules in a table", "count", log="child_x", digits="1")
    y = axis("mean", f"µs in {HOPS} switches' programs", "number")
    points = {"mark": "point", "encoding": {"x": x, "y": y, **of_scheme(names, "color", "shape")}}
    spec = faceted(
        "lookups", "panel", list(titles.values()), [lines(names, x, y, dash=by_source("IPv4", "IPv6")), points]
    )
    looks = dict(zip(names, styles(labels).values(), strict=True))
    return write(spec, {"lookups": rows}, looks, out / "lookups", ["png"])
