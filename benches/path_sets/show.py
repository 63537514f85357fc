"""Figures as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

from benches.machine import spelled, spelled_noise
from weft import quantity


def spread(of: dict[str, Any], digits: int = 3) -> str:
    """A median and its interval."""
    median, low, high = (quantity.digits(of[key], digits) for key in ("median", "low", "high"))
    return f"{median} ({low} to {high})"


def tables(document: dict[str, Any], console: Console) -> None:
    """Prints all figures."""
    count, rounds = document["count"], document["rounds"]
    console.print(f"{spelled(document)}; one core, {rounds} rounds")
    table = Table("graph", "order", "sets/s", "p50, us", "p99, us", title=f"path sets of {count}", title_justify="left")
    for name, case in document["cases"].items():
        for order, row in case["sets"].items():
            table.add_row(name, order, *(spread(row[key]) for key in ("per_second", "p50_us", "p99_us")))
    console.print(table)
    table = Table("graph", "NetworkX, Yen", "Weft from Python", "NetworkX, ms per set", title="times Weft (Rust)")
    for name, case in document["cases"].items():
        yen, python = case["beside"]["yen"], case["beside"]["python"]
        table.add_row(name, spread(yen["ratio"]), spread(python["ratio"]), spread(yen["ms"]))
    console.print(table)
    table = Table("graph", "paths listed", "time, s", "all?", "estimated total", title="all_simple_paths")
    for name, row in document["all_simple_paths"].items():
        about = f"{row['paths']:,}" if row["all"] else f"{row['estimate']:.0e}"
        table.add_row(name, f"{row['paths']:,}", f"{row['seconds']:.1f}", "yes" if row["all"] else "timed out", about)
    console.print(table)
    small = document["small"]
    console.print(
        f"{small['name']}, all {small['paths']:,} paths: NetworkX takes {spread(small['ratio'])} times as long as Weft"
        f" ({spread(small['ms'])} ms)"
    )
    console.print(spelled_noise(document))
