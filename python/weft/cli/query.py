"""`weft query`: SQL over all runs of a result directory."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .. import quantity
from ..errors import OutputError
from ..labels import plural, visible
from . import shell
from .columns import in_parts
from .live import reading
from .show import ResultDir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from ..query import Database

_SUFFIXES = {".csv": "csv", ".json": "json", ".parquet": "parquet"}


@shell.guarded
def query(
    directory: ResultDir,
    sql: Annotated[
        str | None, typer.Argument(metavar="[SQL]", help="A query; without one, the views and their columns.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all rows as CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all rows as JSON.")] = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write all rows to a Parquet file.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write all rows to a file: .csv, .json or .parquet."),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Rows of the table shown.")] = 40,
) -> None:
    """Query all runs with SQL (DuckDB): views `flows`, `series` and `runs`.

    Queries only read: they can neither change results nor open other files.

    [bold]Examples[/bold]

      weft query results/quickstart
      weft query results/quickstart "SELECT scheme, avg(fct_s) FROM flows WHERE measured GROUP BY scheme"
      weft query results/quickstart "FROM flows ORDER BY slowdown DESC LIMIT 10" --csv
      weft query results/quickstart "FROM series WHERE metric = 'queue_bytes'" -o queues.parquet
    """
    from ..query import opened
    from ..results import Results

    if as_csv + as_json + (parquet is not None) + (out is not None) > 1:
        raise shell.fail("give one of --csv, --json, --parquet and -o")
    target = out if parquet is None else parquet
    form = "csv" if as_csv else "json" if as_json else "parquet" if parquet else _form(out)
    results = Results(directory)
    with reading(shell.err) as results.watch:
        watch = results.watch
        temporary = None if target is None or sql is None else _beside(target)
        try:
            with opened(results, temporary, lambda percent: watch("Query", max(percent, 0.0), 100.0)) as database:
                if sql is None:
                    _list(database.views())
                    return
                if form is None:
                    found = database.frame(sql, rows + 1)
                else:
                    _write(database, sql, form, temporary, target)
                    return
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
    _show(found, rows)


def _form(out: Path | None) -> str | None:
    if out is None:
        return None
    if out.suffix not in _SUFFIXES:
        raise shell.fail(f"cannot tell the format of {out}", f"a name that ends in {', '.join(_SUFFIXES)}")
    return _SUFFIXES[out.suffix]


def _beside(target: Path) -> Path:
    """A new, empty file in the target's directory, to be renamed to the target."""
    if target.is_dir():
        raise OutputError(f"{target} is a directory")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error
    os.close(handle)
    return Path(name).resolve()


def _write(database: Database, sql: str, form: str, temporary: Path | None, target: Path | None) -> None:
    """All rows, to standard output or to a file that appears when it is complete."""
    if temporary is None or target is None:
        database.write(sql, form, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    database.write(sql, form)
    temporary.chmod(0o644)
    temporary.replace(target)
    shell.say(f"{target} ({quantity.size(target.stat().st_size)})")


def _list(views: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    for view, columns in views.items():
        table = _empty(view)
        table.add_column("column", no_wrap=True)
        table.add_column("type", no_wrap=True)
        for name, kind in columns:
            table.add_row(visible(name), Text(kind, style="dim"))
        shell.out.print(table)
        shell.out.print()


def _show(found: pl.DataFrame, rows: int) -> None:
    """The first rows as a table; on a narrow terminal, the columns in several tables."""
    first = found.head(rows)
    for table in in_parts(shell.out, first.columns, lambda names: _table(first.select(names))):
        shell.out.print(table)
        shell.out.print()
    note = plural(len(first), "row")
    if len(found) > rows:
        note = f"The first {note}; --rows shows more, --csv and -o all."
    shell.out.print(Text(note, style="dim"))


def _table(part: pl.DataFrame) -> Table:
    table = _empty(None)
    for name, kind in part.schema.items():
        table.add_column(visible(name), justify="right" if kind.is_numeric() else "left", no_wrap=True)
    for row in part.iter_rows():
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: Any) -> Text:
    if value is None:
        return Text(quantity.MISSING, style="dim")
    return Text(f"{value:.6g}" if isinstance(value, float) else visible(str(value)))


def _empty(title: str | None) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1), pad_edge=False)
