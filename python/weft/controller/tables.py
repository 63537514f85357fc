"""A controller's status as tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..labels import plural

Row = Mapping[str, Any]

_WIDEST = 100_000
"""Width that no table exceeds."""


def show(console: Console, what: str, shown: Mapping[str, Any]) -> None:
    """Print the result of `client.ask`."""
    if what == "status":
        _status(console, shown)
        return
    rows: Sequence[Row] = shown[what]
    if rows:
        _whole(console, _TABLES[what](rows))
    total = int(shown.get("total", len(rows)))
    console.print(Text(_note(what, len(rows), total, shown), style="dim"), soft_wrap=True)
    for difference in shown.get("differences", ()):
        console.print(Text.assemble(("differs from the fabric file: ", "yellow"), str(difference)), soft_wrap=True)
    for one in shown.get("refused", ()):
        console.print(Text.assemble(("refused: ", "red"), _refused(one)), soft_wrap=True)


def _whole(console: Console, table: Table) -> None:
    """Print a table with each row on one line, whatever the terminal's width, so that ids can be copied."""
    wide = Console(width=_WIDEST)
    width = max(wide.measure(table).maximum, console.width)
    before, console.width = console.width, width
    try:
        console.print(table, no_wrap=True, crop=False)
    finally:
        console.width = before


def _refused(one: Row) -> str:
    name = f"switch {one['dpid']} at {one['address']}" if one["dpid"] else f"the switch at {one['address']}"
    return f"{name} speaks {one['speaks']} ({plural(one['times'], 'time')}, last {one['last_s']:.0f} s ago)"


def _note(what: str, rows: int, total: int, shown: Mapping[str, Any]) -> str:
    noun = {"switches": "switch", "connections": "MPTCP connection"}.get(what, what.removesuffix("s"))
    many = f"{total:,} {noun}{'' if total == 1 else 'es' if noun.endswith('ch') else 's'}"
    note = many if rows == total else f"{many}, {rows:,} shown (--limit N shows more)"
    if what == "connections" and "flows" in shown:
        note += f"; {plural(int(shown['flows']), 'flow')} of plain TCP"
    return note


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    return table


def _switches(rows: Sequence[Row]) -> Table:
    table = _table("switch", "datapath id", "connection", "address", "ports", numbers=("stations",))
    for row in rows:
        ports = Text("\n").join(_port(port) for port in row.get("ports", ()))
        state = str(row.get("connection", "none"))
        style = {"ready": "green", "none": "red", "standby": "yellow"}.get(state, "")
        table.add_row(str(row["name"]), f"{row['dpid']:016x}", Text(state, style), row.get("address") or "", ports)
    return table


def _port(port: Row) -> Text:
    name = f" {port['name']}" if port.get("name") else ""
    to = port.get("to")
    leads = f" -> {to['switch']} port {to['port']}" if to else ""
    role = str(port["role"])
    style = {"down": "red", "quarantine": "yellow", "settling": "yellow"}.get(role, "")
    return Text.assemble(f"{port['port']}{name} ", (role, style), leads)


def _connections(rows: Sequence[Row]) -> Table:
    table = _table("connection", "state", "subflow", "kind", "path", "switches", numbers=("path",))
    for row in rows:
        head = f"{row['initiator']} - {row['listener']}"
        state = f"{row['state']}, v{row['version']}"
        subflows: Sequence[Row] = row["subflows"] or ({},)
        for place, subflow in enumerate(subflows):
            ends = f"{subflow['source']} - {subflow['destination']}" if subflow else ""
            kind = " ".join(
                (
                    str(subflow.get("kind", "")),
                    "" if subflow.get("state") == "active" else str(subflow.get("state", "")),
                )
            )
            path = subflow.get("path")
            table.add_row(
                head if place == 0 else "",
                state if place == 0 else "",
                ends,
                kind.strip(),
                "" if path is None else str(path),
                " ".join(map(str, subflow.get("switches") or ())),
            )
    return table


def _paths(rows: Sequence[Row]) -> Table:
    table = _table("path", "state", "subflows", "other", "switches", numbers=("path", "subflows", "other"))
    for row in rows:
        switches = " ".join(map(str, row["switches"]))
        table.add_row(str(row["id"]), str(row["state"]), str(row["subflows"]), str(row["other"]), switches)
    return table


def _stations(rows: Sequence[Row]) -> Table:
    table = _table("station", "switch", "port", "addresses", "last seen", numbers=("port", "last seen"))
    for row in rows:
        heard = f"{row['seen_s']:.0f} s ago"
        table.add_row(row["mac"], str(row["switch"]), str(row["port"]), " ".join(row["addresses"]), heard)
    return table


def _status(console: Console, shown: Mapping[str, Any]) -> None:
    status, counters = shown["status"], shown["counters"]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim")
    table.add_column(no_wrap=True)
    table.add_row("forwarding", str(status["forwarding"]))
    table.add_row("listening on", str(status["listen"]))
    table.add_row("running for", f"{status['up_s']:.0f} s")
    table.add_row("switches ready", str(status["switches"]))
    table.add_row("links", f"{status['links']} directions")
    table.add_row("in progress", plural(status["installing"], "transaction"))
    took = status["path_set_up"]
    if took:
        half, most, longest = (f"{took[key] * 1e3:.1f} ms" for key in ("p50_s", "p99_s", "max_s"))
        table.add_row("path setup", f"p50 {half}, p99 {most}, max {longest} (last {took['count']:.0f})")
    _whole(console, table)
    grid = _table("counter", "value", numbers=("value",))
    for name, value in sorted(counters.items()):
        if value:
            grid.add_row(name, f"{value:,}")
    console.print()
    _whole(console, grid)


_TABLES = {"switches": _switches, "connections": _connections, "paths": _paths, "stations": _stations}
