"""The views of a result directory: the table `runs` and the statements that create the others."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from .one_run import FLOWS, SERIES
from .runs import Runs
from .sql import listed, named

LABEL = "label"
FACTS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
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


def run_table(results: Runs) -> pl.DataFrame:
    """The table behind `runs`, in the order in which the files are read."""
    table = results.run_table()
    heads = [results.heads()[run] for run in table["run"]]
    table = table.insert_column(1, pl.Series(LABEL, [run.label for run in results.finished], dtype=pl.String))
    kinds = {"packets_sent": pl.Int64, "packets_dropped": pl.Int64, "steady": pl.String}
    return table.with_columns(
        pl.Series(name, [fact(head) for head in heads], dtype=kinds.get(name, pl.Float64), strict=False)
        for name, fact in FACTS.items()
    )


def statements(files: Mapping[str, list[str]], identity: list[str]) -> Iterator[str]:
    """The statements that create the views; `identity` are the columns of runs that every view has."""
    names = ", ".join(f"r.{named(name)}" for name in identity)
    derived = {
        FLOWS: "fct_ps / 1e12 AS fct_s, fct_ps / ideal_fct_ps AS slowdown, bytes * 8e12 / fct_ps AS throughput_bps",
        SERIES: "time_ps / 1e12 AS time_s",
    }
    for view, file in (("flows", FLOWS), ("series", SERIES)):
        # `file_index`, the place of a file in the list, skips the files of runs that a query excludes.
        rows = f"(SELECT *, file_index FROM read_parquet({listed(files[file])}))"
        yield (
            f"CREATE VIEW {view} AS SELECT {names}, f.* EXCLUDE (file_index), {derived[file]} FROM {rows} f "
            "JOIN (SELECT *, rowid AS file_index FROM all_runs) r ON f.file_index = r.file_index"
        )
    yield "CREATE VIEW runs AS FROM all_runs"
