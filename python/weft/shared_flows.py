"""Two runs over the flows that finished in both.

A scheme that leaves its slowest flows unfinished has a low mean over the others. So a difference of completion times,
slowdowns or throughputs is taken over the flows that finished under both schemes. Only runs with unfinished flows are
read again for that: without any, the values of each run are those of the same flows.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from .cached_tables import ENTRY, Tables
from .flow_metrics import VALUES
from .metrics import OF_FINISHED
from .rows import flow_rows
from .runs import Runs

SIDES = ("own", "baseline")
_COLUMNS = tuple(dict.fromkeys(name for metric in OF_FINISHED for name in VALUES[metric.key].meta.root_names()))

Pair = tuple[str, str]
"""The ids of a run and of the baseline's run with the same seed at the same point."""


def over_shared(runs: Runs, pairs: Collection[Pair], *, by_class: bool) -> dict[tuple[Pair, Any], dict[str, Any]]:
    """The metrics of finished flows of both runs of each pair, over the flows that finished in both.

    By pair and class (None over all classes): `flows`, their number, and for each of `OF_FINISHED` ``own_<key>`` and
    ``baseline_<key>``. Without such a flow, a pair has no entry.
    """
    if not pairs:
        return {}
    groups = {json.dumps(pair): pair for pair in pairs}

    def compute(some: Sequence[str]) -> Tables:
        wanted = dict.fromkeys(run for name in some for run in groups[name])
        flows = flow_rows(runs.only(wanted).finished, "flow", "class", "fct_ps", *_COLUMNS)
        by_run = {str(run): rows for (run,), rows in flows.group_by(ENTRY)}
        found = [(name, _shared(*(by_run.get(run, flows.clear()) for run in groups[name]))) for name in some]
        tables = [table.with_columns(pl.lit(name).alias(ENTRY)) for name, table in found]
        return {"shared": pl.concat(tables)}

    table = runs.aggregates.of_groups("shared", groups, [metric.key for metric in OF_FINISHED], compute)["shared"]
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
        *(VALUES[metric.key].fill_nan(None).alias(f"{name}_{metric.key}") for metric in OF_FINISHED),
    ]
    classes = flows.with_columns(pl.col("class").cast(pl.String)).group_by("class", maintain_order=True).agg(values)
    return classes, flows.select(pl.lit(None, pl.String).alias("class"), *values)
