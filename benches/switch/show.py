"""Figures as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

from benches.machine import spelled, spelled_noise


def tables(document: dict[str, Any], console: Console) -> None:
    """Prints all figures."""
    console.print(spelled(document))
    for part, how in (
        ("forward", forward), ("connect", connect), ("recover", recover), ("kill", kill), ("table", lookup)
    ):  # fmt: skip
        if part in document:
            how(document[part]["figures"], console)
            console.print(f"{part} {spelled_noise(document[part])}\n")


def ratio(of: dict[str, Any]) -> list[str]:
    """The cells of a ratio."""
    interval = f"{of['low']:.3f} to {of['high']:.3f} ({of['confidence']:.0%})"
    return [f"{of['median']:.3f}", interval, f"{of['min']:.3f}", f"{of['max']:.3f}"]


def forward(figures: dict[str, Any], console: Console) -> None:
    """Forwarding, one table per kind of traffic."""
    for kind, of in figures.items():
        unit, scale = ("Gbit/s", 1e9) if kind.startswith("TCP") else ("kframes/s", 1e3)
        table = Table("switch", "x bridge", "interval of the median", "min", "max", f"median, {unit}", title=kind)
        for name, row in of.items():
            table.add_row(name, *ratio(row["ratio"]), f"{row['absolute']['median'] / scale:.3g}")
        console.print(table)


def connect(figures: dict[str, Any], console: Console) -> None:
    """New connections, one table per shape."""
    for shape, of in figures.items():
        table = Table(
            "switch", "", "per second", "x bridge", "interval", "p50, us", "x bridge", "p99, us", "late",
            "explored", title=shape,
        )  # fmt: skip
        for name, rows in of.items():
            for at_once, row in rows.items():
                rate, p50, p99 = row["per_second"], row["p50_us"], row["p99_us"]
                table.add_row(
                    name,
                    at_once,
                    f"{rate['absolute']['median']:.0f}",
                    f"{rate['ratio']['median']:.3f}",
                    f"{rate['ratio']['low']:.3f} to {rate['ratio']['high']:.3f}",
                    f"{p50['absolute']['median']:.0f}",
                    f"{p50['ratio']['median']:.2f}",
                    f"{p99['absolute']['median']:.0f}",
                    str(row["late"]),
                    f"{row['explored']} of {row['opened']}",
                )
        console.print(table)


def recover(figures: dict[str, Any], console: Console) -> None:
    """Outages."""
    heads = ("", "failure", "outage, ms", "min", "max", "target", "frames lost", "trials", "not recovered")
    table = Table(*heads, title="recovery")
    for name, ways in figures.items():
        for way, row in ways.items():
            outage, lost = row["outage_ms"], row["lost"]
            times = [f"{outage[key]:.1f}" for key in ("median", "min", "max")] if outage else ["", "", ""]
            target = f"< {row['target_ms']:g}" if row["target_ms"] else ""
            trials = len(row["trials"]) + row["not_back"]
            frames = f"{lost['median']:.0f}" if lost else ""
            table.add_row(name, way, *times, target, frames, str(trials), str(row["not_back"]))
    console.print(table)


def kill(figures: dict[str, Any], console: Console) -> None:
    """Frames lost while daemons are killed or upgraded."""
    table = Table("", "frames", "lost", "target", "trials", title="daemons killed and upgraded under load")
    for way, row in figures.items():
        table.add_row(way, str(row["frames"]), str(row["lost"]), str(row["target"]), str(len(row["trials"])))
    console.print(table)


def lookup(figures: dict[str, Any], console: Console) -> None:
    """The flow table."""
    table = Table("entries", "ns per frame", "p10", "p90", "same flow again", title="forwarding by flow entry")
    for entries, row in figures["frame"].items():
        cells = [f"{row[key]['median']:.0f}" for key in ("p50_ns", "p10_ns", "p90_ns", "same_flow_ns")]
        table.add_row(f"{int(entries):,}", *cells)
    console.print(table)
    sizes = ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in figures["bytes"].items())
    console.print(f"memory: {sizes}")
    console.print(f"sweep over {figures['held']:,} flows: {figures['sweep_s']['median']:.2f} s")
