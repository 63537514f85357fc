"""Plans, outcomes and states as tables for a terminal."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import quantity
from ..labels import plural
from .fabric import FatTree
from .state import State, SwitchState

_SHORT = 6
"""Maximum number of gates per direction listed individually."""
_COUNTED = frozenset(
    ("", "DOWN divisor", "UP divisor", "port", "gate", "UP", "DOWN", "gates", "rules", "groups", "packets")
)
"""Headings of numeric columns."""


def show_plan(out: Console, tree: FatTree) -> None:
    """Print the gates of all switches, one line per switch."""
    data, ((down, down_bits), (up, up_bits)) = tree.data, tree.plan.bits()
    gates = sum(len(switch["gates"]) for switch in tree.gates.values())
    out.print(
        f"fat-tree of k = {data['k']}: {plural(len(tree.gates), 'switch', 'switches')},"
        f" {plural(len(tree.hosts), 'host')}, {plural(gates, 'gate')};"
        f" {data['width']} tag: DOWN uses {down} of {down_bits} bits, UP {up} of {up_bits}"
    )
    table = _table("switch", "layer", "DOWN divisor", "UP divisor", "DOWN gates", "UP gates")
    for name, switch in tree.gates.items():
        table.add_row(
            name,
            switch["layer"],
            str(switch["down_divisor"]),
            str(switch["up_divisor"]),
            _numbers(switch, "down"),
            _numbers(switch, "up"),
        )
    out.print(table)


def show_gates(out: Console, tree: FatTree, switch: str) -> None:
    """Print the gates of one switch, one line per port."""
    gates = tree.gates[switch]
    out.print(
        f"{switch}: {gates['layer']}; DOWN divisor {gates['down_divisor']}, UP divisor {gates['up_divisor']}",
        markup=False,
    )
    table = _table("port", "gate", "direction", "flag", "leads to")
    for gate in gates["gates"]:
        table.add_row(str(gate["port"]), str(gate["gate"]), gate["direction"], gate.get("flag", ""), gate["peer"])
    out.print(table)


def show_routes(out: Console, routes: list[dict[str, Any]]) -> None:
    """Print the paths between two hosts, one line per path: the tag and the gates it passes."""
    table = _table("", "UP", "DOWN", "through")
    for number, route in enumerate(routes):
        hops = " ".join(f"{switch}:{gate}" for switch, _, gate in route["hops"])
        table.add_row(str(number), str(route["up"]), str(route["down"]), hops)
    out.print(table)
    out.print("through: each switch and its outgoing gate", style="dim")


def show_state(out: Console, state: State) -> None:
    """Print the state of all switches, one line per switch, then the differences from the plan."""
    table = _table("switch", "layer", "gates", "rules", "groups", "packets", "links", "")
    for one in state.switches:
        rules = f"{one.rules:,}" + (f" + {one.others:,}" if one.others else "")
        cells = [str(one.gates), rules, str(one.groups), f"{one.packets:,}", f"{one.working} of {one.cables}"]
        if one.error is not None:
            cells = [quantity.MISSING] * len(cells)
        table.add_row(one.switch, one.layer, *cells, _verdict(one))
    out.print(table)
    if any(one.others for one in state.switches):
        out.print(
            "rules + rules with other priorities, which `weft tag-forward` does not change", style="dim", markup=False
        )
    lines = [f"{one.switch}: {what}" for one in state.switches for what in one.differs]
    lines += [one.error for one in state.switches if one.error is not None]
    for line in (*lines, *state.mistakes, *state.silent):
        out.print(line, markup=False, soft_wrap=True)


def _verdict(one: SwitchState) -> Text:
    if one.error is not None:
        return Text("not reachable", "red")
    return Text("differs", "yellow") if one.differs else Text("as planned")


def _numbers(switch: dict[str, Any], direction: str) -> str:
    gates = [gate["gate"] for gate in switch["gates"] if gate["direction"] == direction]
    if not gates:
        return quantity.MISSING
    if len(gates) <= _SHORT:
        return " ".join(map(str, gates))
    return f"{min(gates)} … {max(gates)} ({len(gates)})"


def _table(*heads: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(Text(head), justify="right" if head in _COUNTED else "left", overflow="fold")
    return table
