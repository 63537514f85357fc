"""Figures of the controller as tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

from benches.machine import spelled, spelled_noise


def tables(document: dict[str, Any], console: Console) -> None:
    """Print all figures."""
    console.print(spelled(document))
    if "load" in document:
        figures = document["load"]["figures"]
        closed(figures["closed"], console)
        if "open" in figures:
            opened(figures["open"], console)
        if "memory" in figures:
            memory(figures["memory"], console)
    if "profile" in document:
        profile(document["profile"]["figures"], console)
    if "set-up" in document:
        console.print_json(data=document["set-up"]["figures"])
    for part in ("load", "profile", "set-up"):
        if part in document:
            console.print(f"{part} {spelled_noise(document[part])}")


def closed(figures: dict[str, Any], console: Console) -> None:
    """Rates by number of connections in progress."""
    table = Table(
        "controller", "in progress", "connections/s", "interval", "packet-ins/s", "messages/s", "packet-ins each",
        "messages each", "cores used", "paths", "failures", title="closed loop",
    )  # fmt: skip
    for name, of in figures.items():
        if name == "of_the_yardstick":
            continue
        for in_progress, row in of.items():
            rate = row["per_second"]
            table.add_row(
                name,
                in_progress,
                f"{rate['median']:.0f}",
                f"{rate['low']:.0f} to {rate['high']:.0f}",
                f"{row['packet_ins_per_second']['median']:.0f}",
                f"{row['messages_per_second']['median']:.0f}",
                f"{row['packet_ins_per_connection']:.1f}",
                f"{row['messages_per_connection']:.1f}",
                f"{row['controller_share_of_a_core']:.2f}",
                f"{row['distinct_paths']:.2f}",
                said(row["wrong"]),
            )
    console.print(table)
    for name, over in figures.get("of_the_yardstick", {}).items():
        for what, of in over.items():
            console.print(f"{name}, {what}: {of['median']:.2f} x baseline ({of['low']:.2f} to {of['high']:.2f})")
    latencies({f"{name}, {n} in progress": row for name, of in figures.items() for n, row in rows(of)}, console)


def rows(of: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The rows that have latencies."""
    return [(n, row) for n, row in of.items() if "latency_ms" in row]


def opened(figures: dict[str, Any], console: Console) -> None:
    """Latencies at fixed rates."""
    latencies(
        {f"{row['rate']:.0f} connections/s ({part} x closed loop)": row for part, row in figures.items()}, console
    )


def latencies(of: dict[str, dict[str, Any]], console: Console) -> None:
    """Latency percentiles."""
    table = Table("", "from, to", "p50, ms", "p90", "p99", "p99.9", "max", title="latency")
    for name, row in of.items():
        for kind, spread in row["latency_ms"].items():
            cells = [f"{spread[quantile]:.2f}" for quantile in ("p50", "p90", "p99", "p999", "max")]
            table.add_row(name, kind.replace("_", " "), *cells)
    console.print(table)


def memory(report: dict[str, Any], console: Console) -> None:
    """Memory per live connection."""
    points = report["controller"]["memory"]
    first, last = points[0], points[-1]
    each = (last["bytes"] - first["bytes"]) / max(last["alive"] - first["alive"], 1)
    wrong = {"failed": report["connections"]["failed"]} if report["connections"]["failed"] else {}
    console.print(
        f"{last['alive']:,} connections of {report['subflows']} subflows: {last['bytes'] / 2**20:.0f} MiB, "
        f"{first['bytes'] / 2**20:.0f} MiB before the first; {each:.0f} bytes each; {report['rules']:,} rules, "
        f"{report['most_rules']:,} at one switch; {report['per_second']:.0f} connections/s; "
        f"failures: {said(wrong)}"
    )


def profile(figures: dict[str, Any], console: Console) -> None:
    """CPU time by category."""
    for name, of in figures.items():
        table = Table("spent on", "share", title=f"{name}: {of['per_second']:.0f} connections/s while profiled")
        table.add_row("kernel, share of all CPU time", f"{of['in_the_kernel']:.0%}")
        for what, share in of["python"]["shares"].items():
            table.add_row(what, f"{share:.0%}")
        for what, share in list(of["python"]["functions"].items())[:12]:
            table.add_row(f"  {what}", f"{share:.0%}")
        console.print(table)


def said(wrong: dict[str, int]) -> str:
    """Failure counts as text."""
    return ", ".join(f"{count} {name}" for name, count in wrong.items()) or "none"
