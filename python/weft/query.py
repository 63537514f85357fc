"""SQL over the runs of a result directory, by DuckDB: views `flows`, `series` and `runs`.

A query can read these views and nothing else. DuckDB may open only the Parquet files of the runs (``allowed_paths``;
external access off, configuration locked), and every query runs as a subquery: there DuckDB knows no statement that
writes, while at the top level a CTE may be a COPY.
"""

from __future__ import annotations

import errno
import os
import re
import select
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import polars as pl

from .errors import OutputError, QueryError
from .run import FLOWS, SERIES
from .runs import Runs

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

        Raises:
            QueryError: The query is wrong, or needs what it must not use.
        """
        text = self._checked(sql) + ("" if limit is None else f" LIMIT {limit}")
        with self._columns_named(sql):
            return _plain(self._run(lambda: pl.DataFrame(self._connection.sql(text))))

    def write(self, sql: str, form: str, out: BinaryIO | None = None) -> None:
        """Write the answer in one of `FORMATS`, to `out` or the target of `opened`; memory does not depend on its size.

        Raises `QueryError` if the query is wrong, or needs what it must not use.
        """
        with self._columns_named(sql):
            text = self._finite(self._checked(sql)) if form == "json" else self._checked(sql)
            if out is None:
                self._run(lambda: self._copy(text, form, self._target))
            else:
                self._forward(text, form, out)

    @contextmanager
    def _columns_named(self, sql: str) -> Iterator[None]:
        """Where a column is unknown, suggest those of the views in the query."""
        try:
            yield
        except QueryError as error:
            if _UNKNOWN_COLUMN.search(str(error)):
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
            f"CASE WHEN isfinite({_named(name)}) THEN {_named(name)} END AS {_named(name)}"
            if str(kind) in ("DOUBLE", "FLOAT")
            else _named(name)
            for name, kind in zip(found.columns, found.types, strict=True)
        )
        return f"SELECT {', '.join(shown)} FROM (\n{text.partition(chr(10))[2]}"

    def _copy(self, text: str, form: str, path: Path | None) -> None:
        self._connection.execute(f"COPY ({text}) TO {_quoted(str(path))} ({FORMATS[form]}, USE_TMP_FILE false)")

    def _checked(self, sql: str) -> str:
        """The query as a subquery.

        Raises:
            QueryError: It is not exactly one query.
        """
        with _explained():
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
                f"this statement ({_statement(sql, kind)}) is not allowed: results are only read",
                "a query that begins with SELECT, FROM, WITH, VALUES, PIVOT, DESCRIBE or SUMMARIZE",
            )
        return f"SELECT * FROM (\n{_without_end(sql)}\n)"

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
        with _explained():
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
    runs = _runs(results)
    with tempfile.TemporaryDirectory(prefix="weft-query-") as folder:
        scratch = Path(folder)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        }
        with _explained(), _closing(duckdb.connect(config=settings)) as connection:
            table = scratch / "runs.parquet"
            runs.write_parquet(table)
            connection.execute(f"CREATE TABLE all_runs AS FROM read_parquet({_quoted(str(table))})")
            allowed = [path for paths in files.values() for path in paths]
            allowed += [str(scratch / "pipe"), *([] if target is None else [str(target)])]
            for key, value in {
                "memory_limit": _quoted(MEMORY),
                "threads": str(len(os.sched_getaffinity(0))),
                "temp_directory": _quoted(str(scratch / "spilled")),
                "secret_directory": _quoted(str(scratch / "secrets")),
                "enable_progress_bar": "true",
                "enable_progress_bar_print": "false",
                "allowed_paths": _listed(allowed),
                "enable_external_access": "false",
            }.items():
                connection.execute(f"SET {key} = {value}")
            for statement in _views(files, [name for name in runs.columns if name != _LABEL and name not in _FACTS]):
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


_LABEL = "label"
_FACTS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "window_start_s": lambda head: head["window_ps"][0] / 1e12,
    "window_end_s": lambda head: head["window_ps"][1] / 1e12,
    "simulated_s": lambda head: head["simulated_ps"] / 1e12,
    "packets_sent": lambda head: head["counters"].get("packets_sent"),
    "packets_dropped": lambda head: _sum(head["counters"].get("packets_dropped")),
    "path_evenness": lambda head: head.get("path_evenness"),
    "steady": lambda head: (head.get("steady") or {}).get("state"),
}
"""Columns of `runs` besides those that identify a run, from its summary; `steady` is null for earlier versions."""


def _sum(counts: Mapping[str, int | None] | None) -> int | None:
    """The sum of counts by reason; None if any is unknown."""
    known = [None] if counts is None else list(counts.values())
    return None if None in known else sum(count for count in known if count is not None)


def _runs(results: Runs) -> pl.DataFrame:
    """The table behind `runs`, in the order in which the files are read."""
    table = results.run_table()
    heads = [results.aggregates.heads()[run] for run in table["run"]]
    table = table.insert_column(1, pl.Series(_LABEL, [run.label for run in results.finished], dtype=pl.String))
    kinds = {"packets_sent": pl.Int64, "packets_dropped": pl.Int64, "steady": pl.String}
    return table.with_columns(
        pl.Series(name, [fact(head) for head in heads], dtype=kinds.get(name, pl.Float64), strict=False)
        for name, fact in _FACTS.items()
    )


def _views(files: Mapping[str, list[str]], identity: list[str]) -> Iterator[str]:
    """The statements that create the views; `identity` are the columns of runs that every view has."""
    names = ", ".join(f"r.{_named(name)}" for name in identity)
    derived = {
        FLOWS: "fct_ps / 1e12 AS fct_s, fct_ps / ideal_fct_ps AS slowdown, bytes * 8e12 / fct_ps AS throughput_bps",
        SERIES: "time_ps / 1e12 AS time_s",
    }
    for view, file in (("flows", FLOWS), ("series", SERIES)):
        # `file_index`, the place of a file in the list, skips the files of runs that a query excludes.
        rows = f"(SELECT *, file_index FROM read_parquet({_listed(files[file])}))"
        yield (
            f"CREATE VIEW {view} AS SELECT {names}, f.* EXCLUDE (file_index), {derived[file]} FROM {rows} f "
            "JOIN (SELECT *, rowid AS file_index FROM all_runs) r ON f.file_index = r.file_index"
        )
    yield "CREATE VIEW runs AS FROM all_runs"


def _plain(answer: pl.DataFrame) -> pl.DataFrame:
    """Sums of integers as Int64 where they fit; DuckDB hands them over as decimals of 38 digits."""
    most = 2**63 - 1
    whole = [
        name
        for name, kind in answer.schema.items()
        if isinstance(kind, pl.Decimal) and kind.scale == 0 and not (answer[name].abs() > most).any()
    ]
    return answer.with_columns(pl.col(whole).cast(pl.Int64))


def _statement(sql: str, kind: str) -> str:
    """DuckDB's name of a statement if it is in the text, else the first keyword: DuckDB calls a CHECKPOINT a CALL."""
    import duckdb

    text = sql.encode()
    tokens = duckdb.tokenize(sql)
    ends = [offset for offset, _ in tokens[1:]] + [len(text)]
    words = [
        text[offset:end].decode().strip().upper()
        for (offset, found), end in zip(tokens, ends, strict=True)
        if found == duckdb.token_type.keyword
    ]
    name = kind.replace("_", " ")
    return name if name in words or not words else words[0]


def _without_end(sql: str) -> str:
    """A statement up to its semicolon, if it has one."""
    import duckdb

    text = sql.encode()
    for offset, kind in reversed(duckdb.tokenize(sql)):
        if kind == duckdb.token_type.comment:
            continue
        if text[offset : offset + 1] != b";":
            break
        text = text[:offset]
    return text.decode()


_LINE = re.compile(r"^LINE (\d+):", re.MULTILINE)
_UNKNOWN_COLUMN = re.compile(
    r'column "[^"]*" (in \w+ list )?(not found|does not exist)|does not have a column named', re.IGNORECASE
)
_NO_VIEW = "the views are flows, series and runs"


@contextmanager
def _explained() -> Iterator[None]:
    """Turn DuckDB's errors into errors of a query, with DuckDB's message."""
    import duckdb

    try:
        yield
    except duckdb.PermissionException as error:
        raise QueryError(_message(error), "a query reads only the views flows, series and runs") from None
    except duckdb.CatalogException as error:
        is_table = str(error).startswith("Catalog Error: Table ")
        raise QueryError(_message(error), _NO_VIEW if is_table else None) from None
    except duckdb.BinderException as error:
        raise QueryError(_message(error), _NO_VIEW if "Referenced table" in str(error) else None) from None
    except duckdb.OutOfMemoryException as error:
        raise QueryError(_message(error), "fewer rows or columns, or fewer groups") from None
    except duckdb.IOException as error:
        # DuckDB gives no number.
        text = _message(error)
        full = any(os.strerror(number) in text for number in (errno.ENOSPC, errno.EDQUOT))
        raise OutputError(text, disk_full=full) from None
    except (duckdb.Error, UnicodeError) as error:
        if isinstance(error, duckdb.InterruptException):
            raise KeyboardInterrupt from None
        raise QueryError(_message(error)) from None
    except RuntimeError as error:
        # Ctrl-C while DuckDB works in the main thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


def _message(error: Exception) -> str:
    """DuckDB's message, with the lines of the query as it was given: it ran one line further down."""
    text = str(error)
    if not text.startswith("Parser Error"):
        text = _LINE.sub(lambda found: f"LINE {max(int(found[1]) - 1, 1)}:", text)
    return text


def _quoted(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _named(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _listed(texts: list[str]) -> str:
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"
