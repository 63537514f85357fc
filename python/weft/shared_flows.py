"""Two runs over the flows that finished in both.

A scheme that leaves its slowest flows unfinished has a low mean over the others. So a difference of completion times,
slowdowns or throughputs is taken over the flows that finished under both schemes. Only runs with unfinished flows are
read again for that: without any, the values of each run are those of the same flows.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from .kept import ENTRY
from .metrics import OF_FINISHED
from .rows import flow_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .kept import Tables
    from .results import Results

UNTIMED = ("flow", "src", "dst", "bytes")
"""The columns of a flow that are the same under every scheme."""
IDENTITY = (*UNTIMED, "start_ps")
"""These columns of a flow that waits for no other. One that waits starts at a time that depends on the scheme."""
SIDES = ("own", "baseline")
_MIX = np.uint64(0x9E3779B97F4A7C15)
_COLUMNS = tuple(dict.fromkeys(name for metric in OF_FINISHED for name in metric.aggregate.meta.root_names()))

Pair = tuple[str, str]
"""The ids of a run and of the baseline's run with the same seed at the same point."""


def fingerprints(flows: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """A number for each run, in the order of the rows: equal if these columns of all its flows are."""
    mixed: np.ndarray = np.zeros(len(flows), dtype=np.uint64)
    for name in columns:
        column = flows[name]
        own = column.to_numpy().astype(np.uint64) if column.dtype.is_integer() else _of_names(column)
        mixed = (mixed ^ own) * _MIX
        mixed ^= mixed >> np.uint64(29)
    lengths = flows[ENTRY].rle().struct.field("len").to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    # The sum does not depend on the order of the flows in the file.
    sums = np.add.reduceat(mixed, starts) if len(starts) else mixed
    return pl.Series(sums.view(np.int64))


def _of_names(names: pl.Series) -> np.ndarray:
    """A number for each name."""
    known = names.cast(pl.Categorical)
    codes, different = known.to_physical().to_numpy(), known.unique().drop_nulls()
    table: np.ndarray = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=np.uint64)
    for code, name in zip(different.to_physical(), different.cast(pl.String), strict=True):
        table[code] = zlib.crc32(name.encode())
    found: np.ndarray = table[codes]
    return found


def over_shared(results: Results, pairs: Collection[Pair], *, by_class: bool) -> dict[tuple[Pair, Any], dict[str, Any]]:
    """The metrics of finished flows of both runs of each pair, over the flows that finished in both.

    By pair and class (None over all classes): `flows`, their number, and for each of `OF_FINISHED` ``own_<key>`` and
    ``baseline_<key>``. Without such a flow, a pair has no entry.
    """
    if not pairs:
        return {}
    groups = {json.dumps(pair): pair for pair in pairs}

    def compute(some: Sequence[str]) -> Tables:
        wanted = dict.fromkeys(run for name in some for run in groups[name])
        flows = flow_rows(results.only(wanted), "flow", "class", "fct_ps", *_COLUMNS)
        by_run = {str(run): rows for (run,), rows in flows.group_by(ENTRY)}
        found = [(name, _shared(*(by_run.get(run, flows.clear()) for run in groups[name]))) for name in some]
        tables = [table.with_columns(pl.lit(name).alias(ENTRY)) for name, table in found]
        return {"shared": pl.concat(tables)}

    table = results.aggregates.of_groups("shared", groups, [metric.key for metric in OF_FINISHED], compute)["shared"]
    return {
        (groups[row[ENTRY]], row["class"]): row
        for row in table.iter_rows(named=True)
        if (row["class"] is not None) == by_class
    }


def _shared(own: pl.DataFrame, baseline: pl.DataFrame) -> pl.DataFrame:
    """The metrics of both sides over the flows finished in both: a row for each class, and one over all of them."""
    # A flow of Multipath TCP can have a row per subflow: it is finished once all of them are.
    ended = [
        side.group_by("flow").agg(pl.col("fct_ps").is_not_null().all()).filter("fct_ps").select("flow")
        for side in (own, baseline)
    ]
    both = ended[0].join(ended[1], on="flow", how="semi")
    sides = [
        _of_side(side.join(both, on="flow", how="semi", maintain_order="left"), name)
        for side, name in zip((own, baseline), SIDES, strict=True)
    ]
    classes = sides[0][0].join(sides[1][0].drop("flows"), on="class", how="inner", maintain_order="left")
    whole = pl.concat([sides[0][1], sides[1][1].drop("class", "flows")], how="horizontal").filter(pl.col("flows") > 0)
    return pl.concat([classes, whole])


def _of_side(flows: pl.DataFrame, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The metrics of these flows by class, and over all classes."""
    values = [
        pl.col("flow").n_unique().alias("flows"),
        *(metric.aggregate.fill_nan(None).alias(f"{name}_{metric.key}") for metric in OF_FINISHED),
    ]
    classes = flows.with_columns(pl.col("class").cast(pl.String)).group_by("class", maintain_order=True).agg(values)
    return classes, flows.select(pl.lit(None, pl.String).alias("class"), *values)
