"""`weft schemes`, `weft list` and `weft schema`: the available choices."""

import difflib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .. import _weft, catalogue, plugins, quantity
from . import plugin, shell
from .columns import in_parts


class Listed(StrEnum):
    """The kind of list."""

    schemes = "schemes"
    profiles = "profiles"
    distributions = "distributions"
    studies = "studies"
    bench = "bench"


AsJson = Annotated[bool, typer.Option("--json", help="Print the list as JSON.")]


@shell.guarded
def list_(
    what: Annotated[Listed, typer.Argument(metavar="LIST", help="The list to print.")],
    as_json: AsJson = False,
) -> None:
    """List schemes, transport profiles, flow-size distributions, studies or benchmarks.

    [bold]Examples[/bold]

      weft list schemes
      weft list distributions
      weft list profiles --json
      weft list studies
    """
    entries = _entries(what)
    if as_json:
        shell.print_json(entries, indent=2)
        return
    if what is Listed.profiles:
        _side_by_side(entries)
    elif what is Listed.schemes:
        _overview(entries)
    else:
        _one_below_another(entries)


@shell.guarded
def schemes(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|PATH]", help="A scheme, or a plugin (./mine), for its parameters and source."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List schemes, or show one with its parameters, their defaults and its source.

    [bold]Examples[/bold]

      weft schemes
      weft schemes conga
      weft schemes ./mine
      weft schemes --json
    """
    if name is not None and ("/" in name or name == "." or name.endswith(".so")):
        name = plugins.load_plugin(name, quiet=as_json)
    entries = catalogue.schemes()
    entries += [
        entry for entry in catalogue.congestion_controls() if entry["plugin"] is not None and entry["name"] == name
    ]
    chosen = [entry for entry in entries if name in (None, entry["name"])]
    if not chosen:
        names = [str(entry["name"]) for entry in entries]
        near = difflib.get_close_matches(str(name), names, 1)
        hint = f"did you mean `{near[0]}`?" if near else "see `weft schemes`"
        if name and Path(name).exists():
            hint = f"for the plugin in this directory: {shell.typed('schemes', f'./{name}')}"
        raise shell.fail(f"no scheme `{name}`", hint)
    if as_json:
        shell.print_json(chosen, indent=2)
    elif name is None:
        _overview(entries)
    else:
        _detail(chosen[0])


@shell.guarded
def schema(loaded: plugin.Plugins = None) -> None:
    """Print the JSON Schema of a scenario, for editors and validators.

    [bold]Example[/bold]

      weft schema > scenario.schema.json
    """
    plugin.load(loaded, quiet=True)
    shell.print_json(catalogue.schema(), indent=2)


_NEEDS = {"new-switch": "switches", "new-host": "hosts", "multipath-host": "MPTCP", "controller": "controller"}


def _overview(entries: Sequence[Mapping[str, Any]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    needs = [", ".join(_NEEDS[need] for need in entry["needs"]) for entry in entries]
    columns = {
        "scheme": [str(entry["name"]) for entry in entries],
        "decides": [str(entry["decides"]) for entry in entries],
        "needs new": needs,
        "observes": [str(entry["observes"]) for entry in entries],
    }
    widths = {title: max(map(len, [title, *cells])) for title, cells in columns.items()}
    # The last column is cut on a narrow terminal.
    left = shell.out.width - sum(widths[title] + 2 for title in list(columns)[:-1]) - 2
    for title in columns:
        width = widths[title] if title != "observes" else max(10, min(left, widths[title]))
        table.add_column(title, no_wrap=True, overflow="ellipsis", width=width)
    for name, *cells in zip(*columns.values(), strict=True):
        table.add_row(Text(name, style="bold"), *cells)
    shell.out.print(table)


def _detail(entry: Mapping[str, Any]) -> None:
    """A scheme, or a plugin's congestion controller, with its parameters; below each, other values in public code."""
    shell.out.print(Text.assemble((str(entry["name"]), "bold"), f"  {entry['summary']}"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    facts = {"source": entry["source"]}
    if "needs" in entry:
        needs = ", ".join(_NEEDS[need] for need in entry["needs"]) or "nothing new"
        facts = {"decides": entry["decides"], "observes": entry["observes"], "needs new": needs} | facts
    for title, fact in facts.items():
        grid.add_row(Text(title, style="dim"), fact)
    if entry["plugin"] is not None:
        grid.add_row(Text("plugin", style="dim"), Text(str(entry["plugin"])))
    for parameter in entry["params"]:
        choices = f" ({parameter['kind']})" if " | " in parameter["kind"] else ""
        grid.add_row(f"{parameter['name']} = {parameter['default']}", parameter["doc"] + choices)
        if parameter["elsewhere"]:
            grid.add_row("", Text(f"elsewhere: {parameter['elsewhere']}", style="dim"))
    shell.out.print(grid)


def _one_below_another(entries: Sequence[Mapping[str, Any]]) -> None:
    """Names with their summaries, and below each its mean."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for entry in entries:
        grid.add_row(Text(str(entry["name"]), style="bold"), str(entry.get("summary", "")))
        if "mean_bytes" in entry:
            grid.add_row("", Text(f"mean {quantity.size(entry['mean_bytes'])}", style="dim"))
    shell.out.print(grid)


def _entries(what: Listed) -> list[dict[str, Any]]:
    if what is Listed.studies:
        from ..studies import registry

        return [{"name": study.name, "summary": study.summary} for study in registry.ALL]
    if what is Listed.bench:
        return [{"name": name} for name in _weft.bench_cases()]
    entries: list[dict[str, Any]] = json.loads(getattr(_weft, what.value)())
    return entries


def _side_by_side(entries: Sequence[Mapping[str, Any]]) -> None:
    """Profiles as columns, so that their parameters can be compared."""
    for entry in entries:
        shell.out.print(Text.assemble((str(entry["name"]), "bold"), f"  {entry.get('summary', '')}"))
    names = list(dict.fromkeys(name for entry in entries for name in entry.get("parameters") or {}))

    def table(part: Sequence[Mapping[str, Any]]) -> Table:
        found = Table(box=None, padding=(0, 1, 0, 0))
        found.add_column("", no_wrap=True)
        for entry in part:
            found.add_column(str(entry["name"]), no_wrap=True)
        for name in names:
            found.add_row(name, *(_value((entry.get("parameters") or {}).get(name)) for entry in part))
        return found

    for part in in_parts(shell.out, entries, table):
        shell.out.print()
        shell.out.print(part)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
