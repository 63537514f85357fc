"""`weft fabric`: nodes and links of a fabric, a drawing of it, and paths between two nodes."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .. import quantity
from ..files import write_text
from ..graph import Link, tier_name
from ..labels import plural
from ..topology import PATHS, Fabric, write_fabric
from ..topology import fabric as read_fabric
from . import shell
from .live import announced
from .scenario_file import Sets


class Order(StrEnum):
    """The order of paths."""

    paper = "paper"
    disjoint = "disjoint"


@shell.guarded
def fabric(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO|FILE", help="Scenario or fabric file (.toml, .graphml, .json, .topo, .txt, .yaml)."
        ),
    ],
    sets: Sets = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a drawing as SVG.")] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the fabric as a file (.toml, .graphml, .json).")
    ] = None,
    paths: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="List paths from A to B (hosts or switches).")
    ] = None,
    order: Annotated[
        Order | None,
        typer.Option(help="Fewest links shared with the first path (paper) or with all earlier paths (disjoint)."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, metavar="N", help=f"Number of paths (default: {PATHS}).")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print nodes, links and measures, or paths, as JSON.")
    ] = False,
) -> None:
    """Describe a fabric: nodes by tier, links, path diversity, bisection. Or list paths that share few links.

    [bold]Examples[/bold]

      weft fabric scenarios/quickstart.toml
      weft fabric campus.graphml --svg campus.svg
      weft fabric mine.toml --set fabric.k=8 --json
      weft fabric mine.toml --write mine.graphml
      weft fabric scenarios/smoc/topology2.fabric.toml --paths a b
    """
    for option, given in (("--order", order), ("--count", count)):
        if paths is None and given is not None:
            raise shell.fail(f"{option} requires --paths", f"--paths A B {option} {given}")
    with nullcontext() if paths else announced(f"{path}: counting paths and cuts; a large fabric takes a while"):
        graph = read_fabric(path, sets or [], measured=paths is None)
        if svg is not None:
            write_text(svg, graph.to_svg())
        if write is not None:
            write_fabric(path, write, sets or [])
    for warning in graph.warnings:
        shell.warn(warning)
    if paths is not None:
        show_paths(graph, paths, order or Order.paper, count or PATHS, as_json)
    elif as_json:
        nodes, links = [asdict(n) for n in graph.nodes], [asdict(link) for link in graph.links]
        shell.print_json({"name": graph.name, **graph.measures, "nodes": nodes, "links": links})
    else:
        show_facts(graph)
    if svg is not None and not as_json:
        shell.say(f"drawing: {escape(str(svg))}")
    if write is not None and not as_json:
        shell.say(f"fabric file: {escape(str(write))}")


def show_facts(graph: Fabric) -> None:
    """Print the main properties of a fabric."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title=graph.name, title_justify="left")
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in facts(graph):
        table.add_row(name, Text(value))
    shell.out.print(table)


def show_paths(graph: Fabric, ends: tuple[str, str], order: Order, count: int, as_json: bool) -> None:
    """Print the best paths between two nodes."""
    found = graph.path_set(*ends, order=order.value, count=count)
    start, end = ends
    if as_json:
        rows = [{"hops": one.hops, **asdict(one)} for one in found]
        answer = {"name": graph.name, "from": start, "to": end, "order": order.value, "paths": rows}
        shell.print_json(answer)
        return
    if not found:
        shell.out.print(f"no path between {start} and {end}", markup=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("", "hops", "shared"):
        table.add_column(head, justify="right", no_wrap=True)
    if order is Order.disjoint:
        table.add_column("before", justify="right", no_wrap=True)
    table.add_column("path", overflow="fold")
    for number, one in enumerate(found):
        cells = [str(number + 1), str(one.hops), str(one.shared) if number else quantity.MISSING]
        if order is Order.disjoint:
            cells.append(str(one.shared_before) if number else quantity.MISSING)
        table.add_row(*cells, Text(graph.spelled(one)))
    shell.out.print(table)
    notes = ["shared: links in common with path 1"]
    if order is Order.disjoint:
        notes.append("before: links in common with the paths above, summed")
    if len(found) < count:
        notes.append("no further paths exist")
    shell.out.print("; ".join(notes), style="dim")


def _of_tier(count: int, name: str) -> str:
    """So many switches of the tier of this name, a plural such as `spines`, or `scale-up` or `tier 4`."""
    one = {"switches": "switch", "leaves": "leaf"}.get(name, name.removesuffix("s"))
    return f"{count:,} {one if count == 1 else name}"


def facts(graph: Fabric) -> Iterator[tuple[str, str]]:
    """The main properties of a fabric, as pairs of name and value."""
    tiers = Counter(node.row for node in graph.nodes if not node.is_host)
    yield "hosts", f"{len(graph.hosts):,}"
    parts = [_of_tier(count, tier_name(tier, max(tiers))) for tier, count in sorted(tiers.items())]
    yield "switches", f"{len(graph.switches):,} ({', '.join(parts)})" if len(parts) > 1 else f"{len(graph.switches):,}"
    kinds = Counter(
        tuple(dict.fromkeys(map(_way, sorted(cable, key=lambda link: (link.rate_bps, link.delay_ps), reverse=True))))
        for cable in zip(graph.links[::2], graph.links[1::2], strict=True)
    ).most_common()
    spelled = [
        f"{count:,} of {' one way and '.join(ways)}{' back' if len(ways) > 1 else ''}" for ways, count in kinds[:6]
    ]
    if others := kinds[6:]:
        spelled.append(f"{sum(count for _, count in others):,} links of {plural(len(others), 'other kind')}")
    yield "links", f"{len(graph.links) // 2:,}: {'; '.join(spelled)}"
    down = sum(not link.up for link in graph.links) // 2
    if down:
        yield "down", plural(down, "link")
    for name, value in graph.measures.items():
        if name not in ("counts", "hosts", "switches"):
            yield from _spelled(name.replace("_", " "), value)


def _way(link: Link) -> str:
    """Rate and delay, in which the two directions of a link may differ."""
    return f"{quantity.rate(link.rate_bps)}, {quantity.seconds(link.delay_ps / 1e12)}"


def _spelled(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """A measure as text: quantities with the unit that their name ends with, nested ones one line each."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _spelled(f"{name}, {key.replace('_', ' ')}", part)
    elif isinstance(value, bool) or value is None or isinstance(value, str):
        yield name, str(value).lower() if isinstance(value, bool) else str(value or quantity.MISSING)
    elif isinstance(value, (int, float)):
        if name.endswith("bps"):
            yield name.removesuffix("bps").rstrip(" ,"), quantity.rate(value)
        elif name.endswith("share"):
            yield name, quantity.percent(value)
        else:
            yield name, quantity.count(value)
    else:
        yield name, json.dumps(value, ensure_ascii=False)
