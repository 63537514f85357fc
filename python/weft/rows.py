"""The rows of a file of many runs, read for large results: run by run, and names stay categorical.

Casts of names to text, and joins that tell runs apart, take longer than everything else that is done with the rows.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from .cached_tables import ENTRY
from .one_run import FLOWS, Run, files

DERIVED = {
    "fct_s": pl.col("fct_ps") / 1e12,
    "slowdown": pl.col("fct_ps") / pl.col("ideal_fct_ps"),
    "throughput_bps": pl.col("bytes") * 8e12 / pl.col("fct_ps"),
}
"""Columns of flows that are computed from those of ``flows.parquet``."""


def rows(runs: Sequence[Run], file: str, *columns: pl.Expr | str, where: pl.Expr | None = None) -> pl.DataFrame:
    """The rows of a file of some runs, with these columns.

    The first column, `ENTRY`, is an Enum of the ids of the runs; the rows are in their order.
    """
    paths = files(runs, file)
    scan = pl.scan_parquet(paths, include_file_paths="file", glob=False)
    # The streaming engine may return the rows of several files in any order.
    found = (scan if where is None else scan.filter(where)).select("file", *columns).collect(engine="in-memory")
    lengths = found["file"].rle().struct.unnest()
    places = {path: place for place, path in enumerate(paths)}
    at = np.array([places[path] for path in lengths["value"]], dtype=np.uint32)
    ids = [run.id for run in runs]
    # A series of one value counts as sorted, and groups of sorted rows are summed in another order: the last digits of
    # a run's means would depend on the number of runs that are read with it.
    several = [*ids, *ids]
    names = pl.Series(ENTRY, several, dtype=pl.Enum(ids)).gather(np.repeat(at, lengths["len"].to_numpy()))
    return found.drop("file").insert_column(0, names)


def flow_rows(runs: Sequence[Run], *columns: pl.Expr | str, where: pl.Expr | None = None) -> pl.DataFrame:
    """These columns of the measured flows of some runs, `DERIVED` ones included."""
    values = [DERIVED[at].alias(at) if isinstance(at, str) and at in DERIVED else at for at in columns]
    measured = pl.col("measured")
    return rows(runs, FLOWS, *values, where=measured if where is None else measured & where)


def of_runs(found: pl.DataFrame, runs: int) -> Iterator[slice]:
    """The places of the rows of each of `runs` runs in a table of `rows`."""
    ends = np.searchsorted(found[ENTRY].to_physical().to_numpy(), np.arange(runs + 1))
    for start, end in pairwise(ends):
        yield slice(int(start), int(end))


def numbered(names: pl.Series, order: Sequence[str]) -> np.ndarray:
    """The place of each name in `order`; -1 if it is not there."""
    places = {name: place for place, name in enumerate(order)}
    return valued(names, lambda name: places.get(name, -1), np.int64)


def valued(names: pl.Series, value: Callable[[str], int], kind: type[np.integer[Any]]) -> np.ndarray:
    """The value of each name, computed once for each different name."""
    known = names.cast(pl.Categorical)
    codes, different = known.to_physical().to_numpy(), known.unique().drop_nulls()
    table: np.ndarray = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=kind)
    for code, name in zip(different.to_physical(), different.cast(pl.String), strict=True):
        table[code] = value(name)
    found: np.ndarray = table[codes]
    return found
