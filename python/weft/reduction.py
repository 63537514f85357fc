"""One run as a few rows: the part of its flows, samples and summary that tables and figures need.

Every number is exactly the one computed from all rows, because sums, counts, maxima and values per run lose nothing
that a comparison of runs needs. Each function takes some runs at a time, so memory depends on their number only.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from .cached_tables import ENTRY, Tables
from .fingerprints import IDENTITY, UNTIMED, fingerprints
from .flow_metrics import VALUES
from .heads import PER_LINK
from .metrics import METRIC_KEYS

VERSION = "6"
"""Change this with any definition here or in `weft.flow_metrics`: cached tables of another version are not used."""
TABLE_SIZES = ("flow_entries", "station_entries", "group_entries")
"""Sampled table sizes of switches."""


_OF_RUN = [
    pl.len().alias("flows"),
    pl.col("fct_ps").count().alias("finished"),
    *(VALUES[key].alias(key) for key in METRIC_KEYS),
]
OF_FLOWS = tuple(dict.fromkeys(["class", *IDENTITY, *(name for value in _OF_RUN for name in value.meta.root_names())]))
"""The columns of flows that `of_flows` needs."""


def of_flows(flows: pl.DataFrame) -> Tables:
    """The metrics of each run: a row for each class (`classes`), and one over all classes (`whole`).

    `flows` are the measured flows of some runs, from `weft.rows.flow_rows`. `whole` also has `identity`, equal in runs
    with the same measured flows, and `untimed`, whatever their starts.
    """
    classes = flows.group_by(ENTRY, "class", maintain_order=True).agg(_OF_RUN)
    whole = flows.group_by(ENTRY, maintain_order=True).agg(_OF_RUN)
    numbers = {"identity": fingerprints(flows, IDENTITY), "untimed": fingerprints(flows, UNTIMED)}
    whole = whole.with_columns(values.alias(name) for name, values in numbers.items())
    return {"classes": _named(classes, "class"), "whole": _named(whole)}


def _named(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """The table with names as text."""
    return table.with_columns(pl.col(ENTRY, *columns).cast(pl.String))


def of_summaries(summaries: Mapping[str, Mapping[str, Any]]) -> Tables:
    """The summaries by run, without their lists of links and nodes, and the links as a table."""
    heads = {
        run: json.dumps({key: value for key, value in summary.items() if key not in PER_LINK})
        for run, summary in summaries.items()
    }
    pairs = [(run, link) for run, summary in summaries.items() for link in summary["links"]]
    names = dict.fromkeys(name for _, link in pairs for name in link)
    links = {ENTRY: [run for run, _ in pairs]} | {name: [link.get(name) for _, link in pairs] for name in names}
    return {
        "heads": pl.DataFrame({ENTRY: list(heads), "head": list(heads.values())}),
        "links": pl.DataFrame(links, strict=False),
    }


def of_series(series: pl.DataFrame, heads: Mapping[str, Mapping[str, Any]]) -> Tables:
    """The samples that figures show.

    * `throughput`: all samples of `throughput_bps`, by class;
    * `fullest`: at each sample time, the bytes in the fullest queue;
    * `occupancy`: how often queues held how many bytes, in the measurement window, empty queues excluded;
    * `link_times`: times with a sample of a link, for emulated runs only, which sample irregularly;
    * `scalars`: first and last sample time, and the nodes with a sampled queue;
    * `tables`: see `table_sizes`.

    Args:
        series: Rows of ``series.parquet`` of some runs, from `weft.rows.rows`.
        heads: The summaries of these runs, with or without links.
    """
    runs = series[ENTRY].dtype
    bounds = _bounds(heads).with_columns(pl.col(ENTRY).cast(runs))
    within = (pl.col("time_ps") > pl.col("from_ps")) & (pl.col("time_ps") <= pl.col("to_ps"))

    def of(metric: str) -> pl.DataFrame:
        return series.filter(pl.col("metric") == metric).drop("metric")

    queues = of("queue_bytes")
    held = queues.filter(pl.col("value") > 0).join(bounds, on=ENTRY, maintain_order="left").filter(within)
    # Simulations, whose links are sampled at equal intervals, have nine samples of links in ten.
    irregular = series.filter(pl.col(ENTRY).is_in(bounds.filter("emulated")[ENTRY].to_list()))
    tables = {
        "throughput": of("throughput_bps").select(ENTRY, pl.col("entity").alias("class"), "time_ps", "value"),
        "fullest": queues.group_by(ENTRY, "time_ps", maintain_order=True).agg(pl.col("value").max()),
        "occupancy": held.group_by(ENTRY, "value", maintain_order=True).agg(pl.len().cast(pl.Int64).alias("count")),
        "link_times": irregular.filter(pl.col("metric") == "link_utilisation")
        .select(ENTRY, "time_ps")
        .unique(maintain_order=True),
        "scalars": _scalars(of("active_flows"), queues, bounds),
    }
    named = {name: _named(table, *(["class"] if "class" in table.columns else [])) for name, table in tables.items()}
    return named | {"tables": table_sizes(series, heads)}


def _scalars(clock: pl.DataFrame, queues: pl.DataFrame, bounds: pl.DataFrame) -> pl.DataFrame:
    """The table `scalars` of `of_series`, one row per run."""
    first, last = pl.col("time_ps").min().alias("first_ps"), pl.col("time_ps").max().alias("last_ps")
    node = pl.col("entity").cast(pl.String).str.split_exact("->", 1).struct.field("field_0").alias("queued_at")
    nodes = queues.select(ENTRY, "entity").unique(maintain_order=True).select(ENTRY, node).unique(maintain_order=True)
    found = bounds.select(ENTRY)
    for part in (clock.group_by(ENTRY).agg(first, last), nodes.group_by(ENTRY).agg("queued_at")):
        found = found.join(part, on=ENTRY, how="left", maintain_order="left")
    return found


def table_sizes(series: pl.DataFrame, heads: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """For each sampled table size, one row per run: sum and number of sample times in the window, and the largest.

    The window ends with the run, as table sizes after it are unknown. The columns are ``flow_entries_sum``, ``_times``
    and ``_most``; null without a sample.
    """
    bounds = _bounds(heads).with_columns(pl.col(ENTRY).cast(series[ENTRY].dtype))
    within = (pl.col("time_ps") > pl.col("from_ps")) & (pl.col("time_ps") <= pl.min_horizontal("to_ps", "end_ps"))
    found = bounds.select(ENTRY)
    known = series.filter(pl.col("metric").is_in(TABLE_SIZES))
    for metric in TABLE_SIZES:
        sizes = known.filter(pl.col("metric") == metric).join(bounds, on=ENTRY, maintain_order="left")
        total, times = pl.col("value").sum(), pl.col("time_ps").n_unique()
        inside = sizes.filter(within).group_by(ENTRY)
        for part in (
            inside.agg(total.alias(f"{metric}_sum"), times.alias(f"{metric}_times")),
            sizes.group_by(ENTRY).agg(pl.col("value").max().alias(f"{metric}_most")),
        ):
            found = found.join(part, on=ENTRY, how="left", maintain_order="left")
    return _named(found)


def _bounds(heads: Mapping[str, Mapping[str, Any]]) -> pl.DataFrame:
    """The measurement window and the end of each run."""
    rows = [(run, *head["window_ps"], head["simulated_ps"], "emulated" in head) for run, head in heads.items()]
    kinds = {ENTRY: pl.String, "from_ps": pl.Int64, "to_ps": pl.Int64, "end_ps": pl.Int64, "emulated": pl.Boolean}
    return pl.DataFrame(rows, kinds, orient="row")


def digest(value: object) -> str:
    """A fingerprint of plain data."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
