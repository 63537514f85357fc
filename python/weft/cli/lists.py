"""`weft list`, `weft schemes` and `weft schema`: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .. import _weft, studies
from . import shell


class What(StrEnum):
    """What can be listed."""

    schemes = "schemes"
    profiles = "profiles"
    distributions = "distributions"
    studies = "studies"
    bench = "bench"


AsJson = Annotated[bool, typer.Option("--json", help="Print the list as JSON.")]


@shell.guarded
def list_(
    what: Annotated[What, typer.Argument(help="What to list.")] = What.schemes,
    as_json: AsJson = False,
) -> None:
    """List what there is: schemes, transport profiles, flow size distributions, studies, benchmarks.

    [bold]Examples[/bold]

      weft list schemes

      weft list profiles --json

      weft list studies
    """
    entries = _entries(what)
    if as_json:
        print(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    if what is What.profiles:
        _side_by_side(entries)
        return
    for entry in entries:
        title = Text(str(entry.get("name", "")), style="bold")
        summary = entry.get("summary") or entry.get("doc")
        shell.out.print(title + Text(f"  {summary}" if summary else "", style="not bold"), soft_wrap=False)
        for parameter in entry.get("params") or entry.get("parameters") or []:
            shell.out.print(Text(f"    {_parameter(parameter)}"))
        for key, value in entry.items():
            if key not in ("name", "summary", "doc", "params", "parameters") and not isinstance(value, (list, dict)):
                shell.out.print(Text(f"    {key.replace('_', ' ')}: {value}", style="dim"))


@shell.guarded
def schemes(as_json: AsJson = False) -> None:
    """List the switching schemes and their parameters.

    [bold]Examples[/bold]

      weft schemes

      weft schemes --json
    """
    list_(What.schemes, as_json)


@shell.guarded
def schema() -> None:
    """Print the JSON Schema of a scenario, for editors and checks.

    [bold]Example[/bold]

      weft schema > scenario.schema.json
    """
    print(json.dumps(json.loads(_weft.schema()), indent=2, ensure_ascii=False))


def _entries(what: What) -> list[dict[str, Any]]:
    if what is What.studies:
        return [{"name": study.name, "summary": study.summary} for study in studies.ALL]
    if what is What.bench:
        return [{"name": name} for name in _weft.bench_cases()]
    entries: list[dict[str, Any]] = json.loads(getattr(_weft, what.value)())
    return entries


def _parameter(parameter: Any) -> str:
    if not isinstance(parameter, Mapping):
        return str(parameter)
    default, doc = parameter.get("default"), parameter.get("doc") or parameter.get("summary") or ""
    shown = "" if default in (None, "") else f" = {default}"
    return f"{parameter.get('name')}{shown}  {doc}".rstrip()


def _side_by_side(entries: Sequence[Mapping[str, Any]]) -> None:
    """Profiles as columns, so that their parameters can be compared."""
    columns = [_flat(entry) for entry in entries]
    names = list(dict.fromkeys(name for column in columns for name in column if name not in ("name", "profile")))
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    for entry in entries:
        table.add_column(str(entry.get("name") or entry.get("profile")), overflow="fold")
    for name in names:
        table.add_row(name.replace("_", " "), *(Text(str(column.get(name, "–"))) for column in columns))
    shell.out.print(table)


def _flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in entry.items():
        if isinstance(value, Mapping):
            flat |= _flat(value)
        else:
            flat[key] = json.dumps(value) if isinstance(value, (bool, list)) else value
    return flat
