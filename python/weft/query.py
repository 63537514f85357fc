"""SQL over the runs of a result directory, by DuckDB: views `flows`, `series` and `runs`.

A query can read these views and nothing else. DuckDB may open only the Parquet files of the runs (``allowed_paths``;
external access off, configuration locked), and every query runs as a subquery: there DuckDB knows no statement that
writes, while at the top level a CTE may be a COPY.
"""

from __future__ import annotations

import os
import re
import select
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import polars as pl

from .errors import QueryError
from .one_run import FLOWS, SERIES
from .query_errors import UNKNOWN_COLUMN, explained
from .query_views import FACTS, LABEL, run_table, statements
from .runs import Runs
from .sql import listed, named, quoted, statement, without_end

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "512MB"
"""DuckDB's memory limit; larger intermediate results go to a temporary directory."""
FORMATS = {
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json, ARRAY true",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
"""Output formats, with DuckDB's options."""
_QUERIES = ("SELECT", "MULTI")
"""DuckDB's names for statements that only read; MULTI is a PIVOT over values that it has to look up first."""
_VIEWS = ("flows", "series", "runs")
_TICK_S = 0.1
"""Interval at which a running query reports its progress and can be stopped."""

_T = TypeVar("_T")
Watch = Callable[[float], None]
"""Called with the progress of a query in percent; negative while unknown."""


def _ignore(_: float) -> None:
    """Show no progress."""


def _nothing() -> None:
    """Do nothing."""


class Database:
    """The views of a result directory, open for queries; see `opened`."""

    def __init__(self, connection: DuckDBPyConnection, scratch: Path, target: Path | None, watch: Watch) -> None:
        self._connection = connection
        self._scratch = scratch
        self._target = target
        self._watch = watch

    def views(self) -> dict[str, list[tuple[str, str]]]:
        """The columns of each view, as name and type."""
        described = {}
        for view in _VIEWS:
            columns = self.frame(f"DESCRIBE {view}").select("column_name", "column_type")
            described[view] = [(str(name), str(kind)) for name, kind in columns.iter_rows()]
        return described

    def frame(self, sql: str, limit: int | None = None) -> pl.DataFrame:
        """The answer to a query, or its first rows.

        Raises `QueryError` if the query is wrong, or needs something forbidden.
        """
        text = self._checked(sql) + ("" if limit is None else f" LIMIT {limit}")
        with self._columns_named(sql):
            return _plain(self._run(lambda: pl.DataFrame(self._connection.sql(text))))

    def write(self, sql: str, form: str, out: BinaryIO | None = None) -> None:
        """Write the answer in one of `FORMATS`, to `out` or the target of `opened`; memory does not depend on its size.

        Raises `QueryError` if the query is wrong, or needs something forbidden.
        """
        with self._columns_named(sql):
            text = self._finite(self._checked(sql)) if form == "json" else self._checked(sql)
            if out is None:
                self._run(lambda: self._copy(text, form, self._target))
            else:
                self._forward(text, form, out)

    @contextmanager
    def _columns_named(self, sql: str) -> Iterator[None]:
        """For an unknown column, suggest the columns of the views in the query."""
        try:
            yield
        except QueryError as error:
            if UNKNOWN_COLUMN.search(str(error)):
                named = [view for view in _VIEWS if re.search(rf"\b{view}\b", sql, re.IGNORECASE)]
                columns = self.views()
                lists = (f"the columns of {view} are {', '.join(name for name, _ in columns[view])}" for view in named)
                error.hint = "; ".join(lists) or error.hint
            raise

    def _forward(self, text: str, form: str, out: BinaryIO) -> None:
        """Write the answer where DuckDB cannot write itself."""
        pipe = self._scratch / "pipe"
        os.mkfifo(pipe)
        # Without waiting for a writer, as a query that fails never opens its end.
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

        def forward() -> None:
            while select.select([reader], [], [], _TICK_S)[0] and (part := os.read(reader, 1 << 20)):
                out.write(part)

        closed = threading.Event()

        def close() -> None:
            if not closed.is_set():
                closed.set()
                os.close(reader)

        try:
            self._run(lambda: self._copy(text, form, pipe), forward, close)
            forward()
        finally:
            close()
            pipe.unlink()

    def _finite(self, text: str) -> str:
        """The query with null for numbers that JSON does not have."""
        found = self._run(lambda: self._connection.sql(text))
        shown = (
            f"CASE WHEN isfinite({named(name)}) THEN {named(name)} END AS {named(name)}"
            if str(kind) in ("DOUBLE", "FLOAT")
            else named(name)
            for name, kind in zip(found.columns, found.types, strict=True)
        )
        return f"SELECT {', '.join(shown)} FROM (\n{text.partition(chr(10))[2]}"

    def _copy(self, text: str, form: str, path: Path | None) -> None:
        self._connection.execute(f"COPY ({text}) TO {quoted(str(path))} ({FORMATS[form]}, USE_TMP_FILE false)")

    def _checked(self, sql: str) -> str:
        """The query as a subquery. Raises `QueryError` if it is not exactly one query."""
        with explained():
            sql.encode()
            found = self._connection.extract_statements(sql)
        if len(found) != 1:
            raise QueryError("the query is empty" if not found else f"expected one query, found {len(found)}")
        try:
            kind = found[0].type.name
        except ValueError:  # A statement that DuckDB's Python package does not know, such as UPDATE EXTENSIONS.
            kind = ""
        if kind not in _QUERIES:
            raise QueryError(
                f"this statement ({statement(sql, kind)}) is not allowed: results are only read",
                "a query that begins with SELECT, FROM, WITH, VALUES, PIVOT, DESCRIBE or SUMMARIZE",
            )
        return f"SELECT * FROM (\n{without_end(sql)}\n)"

    def _run(
        self, work: Callable[[], _T], meanwhile: Callable[[], None] = _nothing, close: Callable[[], None] = _nothing
    ) -> _T:
        """Do `work` with the connection in a thread, so that Ctrl-C ends it and progress is seen.

        `meanwhile` is called again and again until it ends; `close` if it is to end early, before waiting for it.
        """
        outcome: list[_T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                outcome.append(work())
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        # Not `Thread.join`: interrupted by Ctrl-C, it takes the thread for ended (Python 3.11).
        done = threading.Event()
        threading.Thread(target=run, daemon=True).start()
        try:
            while not done.wait(_TICK_S):
                meanwhile()
                self._watch(self._progress())
        except BaseException:
            close()
            while not done.wait(_TICK_S):
                self._interrupt()
            errors.clear()  # Its traceback holds the query open.
            raise
        with explained():
            for error in errors:
                raise error
        return outcome[0]

    def _progress(self) -> float:
        import duckdb

        try:
            return self._connection.query_progress()
        except duckdb.Error:  # Refused while DuckDB plans the query.
            return -1.0

    def _interrupt(self) -> None:
        import duckdb

        with suppress(duckdb.Error):  # Refused while DuckDB plans the query.
            self._connection.interrupt()


@contextmanager
def opened(results: Runs, target: Path | None = None, watch: Watch = _ignore) -> Iterator[Database]:
    """A database over the finished runs, closed at the end of the block.

    `Database.write` may write the file `target`; `watch` is called several times a second while a query runs. Raises
    `ResultsError` if no run has finished or a file of a run is missing, and `QueryError` if DuckDB is not installed.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise QueryError("queries need DuckDB", "`pip install 'weft[query]'`") from None

    files = {name: [str(Path(path).resolve()) for path in results.files(name)] for name in (FLOWS, SERIES)}
    runs = run_table(results)
    with tempfile.TemporaryDirectory(prefix="weft-query-") as folder:
        scratch = Path(folder)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
        with explained(), _closing(duckdb.connect(config=settings)) as connection:
            table = scratch / "runs.parquet"
            runs.write_parquet(table)
            connection.execute(f"CREATE TABLE all_runs AS FROM read_parquet({quoted(str(table))})")
            allowed = [path for paths in files.values() for path in paths]
            allowed += [str(scratch / "pipe"), *([] if target is None else [str(target)])]
            for key, value in {
                "memory_limit": quoted(MEMORY),
                "threads": str(len(os.sched_getaffinity(0))),
                "temp_directory": quoted(str(scratch / "spilled")),
                "secret_directory": quoted(str(scratch / "secrets")),
                "enable_progress_bar": "true",
                "enable_progress_bar_print": "false",
                "allowed_paths": listed(allowed),
                "enable_external_access": "false",
            }.items():
                connection.execute(f"SET {key} = {value}")
            for statement in statements(files, [name for name in runs.columns if name != LABEL and name not in FACTS]):
                connection.execute(statement)
            connection.execute("SET lock_configuration = true")
            yield Database(connection, scratch, target, watch)


@contextmanager
def _closing(connection: DuckDBPyConnection) -> Iterator[DuckDBPyConnection]:
    """Close the connection at the end of the block; a query that was stopped may still hold it."""
    import duckdb

    try:
        yield connection
    finally:
        with suppress(duckdb.Error):
            connection.close()


def _plain(answer: pl.DataFrame) -> pl.DataFrame:
    """Sums of integers as Int64 where they fit; DuckDB hands them over as decimals of 38 digits."""
    most = 2**63 - 1
    whole = [
        name
        for name, kind in answer.schema.items()
        if isinstance(kind, pl.Decimal) and kind.scale == 0 and not (answer[name].abs() > most).any()
    ]
    return answer.with_columns(pl.col(whole).cast(pl.Int64))
