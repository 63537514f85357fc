"""The data of the figures as small tables: distributions, time series, link use; thinned and averaged over seeds.

The page and files draw the same extracts with the same specifications (`figures`), so they cannot disagree.
"""

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from .cached_tables import ENTRY, Tables
from .labels import short_key, show
from .metrics import METRICS
from .results import Results
from .rows import flow_rows
from .run_ends import early, links
from .samples import ecdf, ecdf_of_counts
from .statistics import half_width
from .summary_table import Summary

FINEST, COARSEST, BUDGET = 160, 12, 7_000
"""Maximum and minimum points per curve, and the approximate number of points for all curves of a class."""


def detail(results: Results) -> int:
    """Points per curve: as many as a figure can show, fewer if there are many curves, to keep the page small."""
    curves = len({(run.point, run.scheme) for run in results.finished})
    return max(COARSEST, min(FINEST, BUDGET // max(curves, 1)))


def intervals(summary: Summary) -> pl.DataFrame:
    """The summary in long form: the group's columns, `metric`, `mean`, `low`, `high` (null without an interval).

    Groups that are not in a steady state have no rows, as their means say nothing; nor have rare quantiles of few.
    """
    rows = [
        {**row.group, "metric": metric.key, "mean": value.mean, "low": value.low, "high": value.high, "seeds": value.n}
        for row in summary.rows
        if row.mark is None
        for metric in METRICS
        if (value := row.estimates[metric.key]) is not None and not (metric.rare and row.few(metric))
    ]
    floats = {"mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    if not rows:
        return pl.DataFrame(schema={**dict.fromkeys([*summary.by, "metric"], pl.String), **floats, "seeds": pl.Int64})
    return pl.DataFrame(rows, schema_overrides=floats, infer_schema_length=None)


def completion_curves(results: Results) -> pl.DataFrame:
    """FCT distributions, all seeds pooled: `point`, `scheme`, `class`, `fct_s`, `share` of flows no slower.

    Unfinished flows count as slower than all others, so a curve ends below 1 if there are any.
    """
    limit = detail(results)
    groups: dict[str, list[str]] = {}
    names: dict[str, tuple[str, str]] = {}
    for run in results.finished:
        name = json.dumps([run.point, run.scheme])
        groups.setdefault(name, []).append(run.id)
        names[name] = run.point, run.scheme

    def compute(some: Sequence[str]) -> Tables:
        group_of = {run: name for name in some for run in groups[name]}
        part = results.only(group_of)
        found = flow_rows(part.finished, "class", "fct_s")
        names_of = pl.Series("group", [group_of[run.id] for run in part.finished], dtype=pl.Enum(some))
        pooled = (
            found.with_columns(names_of.gather(found[ENTRY].to_physical()))
            .group_by("group", "class", maintain_order=True)
            .agg(pl.col("fct_s").drop_nulls(), pl.len().alias("flows"))
            .with_columns(pl.col("class").cast(pl.String))
        )
        rows = [
            (name, kind, value, share * len(values) / flows)
            for name, kind, values, flows in zip(
                *(pooled[key] for key in ("group", "class", "fct_s", "flows")), strict=True
            )
            for value, share in ecdf(values.to_numpy(), limit)
        ]
        schema = {ENTRY: pl.String, "class": pl.String, "fct_s": pl.Float64, "share": pl.Float64}
        return {"curves": pl.DataFrame(rows, schema, orient="row")}

    curves = results.aggregates.of_groups("curves", groups, limit, compute)["curves"]
    labels = [(name, *names[name]) for name in groups]
    schema = dict.fromkeys((ENTRY, "point", "scheme"), pl.String)
    named = curves.join(pl.DataFrame(labels, schema, orient="row"), on=ENTRY, how="left", maintain_order="left")
    return named.select("point", "scheme", "class", "fct_s", "share")


def _samples_of(results: Results, table: str) -> pl.LazyFrame:
    places = results.run_table().select(ENTRY, "point", "scheme").lazy()
    return results.aggregates.samples(table).lazy().join(places, on=ENTRY, how="left", maintain_order="left")


def throughput_over_time(results: Results) -> pl.DataFrame:
    """Delivered application bytes: `point`, `scheme`, `class` (`all` for the sum), `time_s`, `bps`, `half`.

    A class without any flow at a point has no rows there.

    `bps` is the mean over seeds, `half` the half-width of its 95 % interval, null with one seed.
    """
    by_class = _samples_of(results, "throughput")
    total = by_class.with_columns(pl.lit("all").alias("class"))
    grid = _grid(results)
    values = (
        pl.concat([by_class, total])
        .join(grid.lazy(), on="point", maintain_order="left")
        .group_by("run", "point", "scheme", "class", _bin(), maintain_order=True)
        .agg(pl.col("value").sum() / pl.col("samples_per_bin").first())
        .collect(engine="in-memory")  # The streaming engine sums in any order, with other last digits each time.
    )
    found = _spread(results, grid, values, ("class",)).rename({"value": "bps"})
    carried = found.group_by("point", "class").agg(pl.col("bps").max() > 0)
    points = results.run_table().select(ENTRY, "point")
    counting = results.aggregates.classes().select(ENTRY, pl.col("class").cast(pl.String)).join(points, on=ENTRY)
    empty = carried.filter(~pl.col("bps"), pl.col("class") != "all").join(counting, on=["point", "class"], how="anti")
    return found.join(empty, on=["point", "class"], how="anti", maintain_order="left")


def largest_queue(results: Results) -> pl.DataFrame:
    """The fullest port of the fabric: `point`, `scheme`, `time_s`, `bytes`, `half`.

    `bytes` is the maximum in the bin, as mean over seeds; `half` is the half-width of its 95 % interval, null with one
    seed.
    """
    grid = _grid(results, of_links=True)
    values = (
        _samples_of(results, "fullest")
        .join(grid.lazy(), on="point", maintain_order="left")
        .group_by("run", "point", "scheme", _bin(), maintain_order=True)
        .agg(pl.col("value").max())
        .collect()
    )
    return _spread(results, grid, values, ()).rename({"value": "bytes"})


def time_axes(results: Results) -> pl.DataFrame:
    """The end of the time axis of each point: `point`, `end_s`."""
    end = pl.col("interval_ps") * pl.col("samples_per_bin") * pl.col("bins") / 1e12
    return _grid(results).select("point", end.alias("end_s"))


def _grid(results: Results, *, of_links: bool = False) -> pl.DataFrame:
    """The time axis of each point: `point`, `interval_ps`, `samples_per_bin`, `bins`.

    The number of active flows is sampled at every interval, so it gives the sample times. The axis ends with the
    measurement window; after it there is only the tail of the last flows. With `of_links`, the interval is that of the
    link samples, which an emulation takes less often.
    """
    interval = pl.coalesce("links_ps", pl.col("first_ps").min())
    samples = (pl.min_horizontal(pl.col("last_ps").max(), "end_ps") / interval).round().cast(pl.Int64)
    per_bin = (pl.col("samples") / detail(results)).ceil().cast(pl.Int64)
    return (
        _samples_of(results, "scalars")
        .filter(pl.col("first_ps").is_not_null())
        .join(_ends(results).lazy(), on="point", maintain_order="left")
        .join(_link_intervals(results if of_links else None).lazy(), on="point", how="left", maintain_order="left")
        .group_by("point", "end_ps", "links_ps", maintain_order=True)
        .agg(interval.first().alias("interval_ps"), samples.first().alias("samples"))
        .with_columns(pl.col("samples").clip(1))
        .with_columns(per_bin.alias("samples_per_bin"))
        .with_columns((pl.col("samples") / pl.col("samples_per_bin")).ceil().cast(pl.Int64).alias("bins"))
        .drop("end_ps", "links_ps")
        .collect()
    )


def _link_intervals(results: Results | None) -> pl.DataFrame:
    """Median interval between an emulation's link samples, by point: `point`, `links_ps`; empty for simulations."""
    found = {"point": pl.String, "links_ps": pl.Int64}
    if results is None or not _emulated(results):
        return pl.DataFrame(schema=found)
    between = pl.col("time_ps").diff().over("run").median().cast(pl.Int64)
    return (
        _samples_of(results, "link_times")
        .sort("run", "time_ps")
        .group_by("point", maintain_order=True)
        .agg(between.alias("links_ps"))
        .collect()
    )


def _emulated(results: Results) -> bool:
    """Whether these are emulated runs, whose link samples are not equally spaced."""
    return any("emulated" in head for head in results.heads().values())


def _ends(results: Results) -> pl.DataFrame:
    """End of the time axis of each point: `point`, `end_ps`.

    It is the end of the measurement window, or unlimited if more was delivered after it than before.
    """
    windows: dict[str, int] = {}
    heads = results.heads()
    for run in results.finished:
        windows[run.point] = max(heads[run.id]["window_ps"][1], windows.get(run.point, 0))
    ends = pl.DataFrame({"point": list(windows), "end_ps": list(windows.values())})
    after = pl.col("time_ps") > pl.col("end_ps")
    late = (
        _samples_of(results, "throughput")
        .join(ends.lazy(), on="point", maintain_order="left")
        .group_by("point")
        .agg((pl.col("value").filter(after).sum() > pl.col("value").filter(~after).sum()).alias("late"))
        .collect()
    )
    return ends.join(late, on="point", how="left", maintain_order="left").select(
        "point", pl.when(pl.col("late").fill_null(True)).then(2**62).otherwise("end_ps").alias("end_ps")
    )


def _bin() -> pl.Expr:
    """The bin of a sample: the sample at the end of the first interval belongs to bin 0."""
    sample = (pl.col("time_ps") / pl.col("interval_ps")).round().cast(pl.Int64) - 1
    return (sample // pl.col("samples_per_bin")).alias("bin")


def _spread(results: Results, grid: pl.DataFrame, values: pl.DataFrame, keep: tuple[str, ...]) -> pl.DataFrame:
    """The mean over runs of `value` in each bin, and `half` its interval; a run without a row in a bin was idle."""
    runs = pl.DataFrame(
        [(run.point, run.scheme) for run in results.finished],
        schema={"point": pl.String, "scheme": pl.String},
        orient="row",
    )
    groups = runs.group_by("point", "scheme", maintain_order=True).agg(pl.len().cast(pl.Int64).alias("runs"))
    value, n, busy = pl.col("value"), pl.col("runs"), pl.col("busy").fill_null(0)
    binned = values.group_by("point", "scheme", *keep, "bin", maintain_order=True).agg(
        value.mean().alias("mean"), value.len().cast(pl.Int64).alias("busy"), value.var(ddof=0).alias("variance")
    )
    if keep:
        groups = groups.join(values.select(*keep).unique(maintain_order=True), how="cross")
    middle = (pl.col("bin") + 0.5) * pl.col("samples_per_bin") * pl.col("interval_ps") / 1e12
    # Of all n runs: the busy ones have `mean` and `variance`, the idle ones are zero.
    mean = pl.col("mean").fill_null(0) * busy / n
    squares = busy * (pl.col("variance").fill_null(0) + pl.col("mean").fill_null(0) ** 2 * (n - busy) / n)
    half = (squares / (n - 1)).sqrt() * _half_widths(groups["runs"])
    return (
        groups.join(grid, on="point", maintain_order="left")
        .with_columns(pl.int_ranges(0, "bins").alias("bin"))
        .explode("bin")
        .join(binned, on=["point", "scheme", *keep, "bin"], how="left", maintain_order="left")
        .select("point", "scheme", *keep, middle.alias("time_s"), mean.alias("value"), half.alias("half"))
    )


def _half_widths(counts: pl.Series) -> pl.Expr:
    """`half_width` of the column with these numbers of values; null for fewer than two."""
    factors = {count: half_width(count) if count > 1 else None for count in set(counts)}
    return pl.col(counts.name).replace_strict(factors, return_dtype=pl.Float64)


def queue_exceedance(results: Results) -> pl.DataFrame:
    """Complementary CDF of queue occupancy: `point`, `scheme`, `bytes`, `share` of (port, sample) with at least this.

    Covers samples in the measurement window, and lists only positive occupancies that occurred, in ascending order.
    """
    sampled = _samples(results).lazy()
    occupied = _samples_of(results, "occupancy").group_by("point", "scheme", maintain_order=True).agg("value", "count")
    ports, limit = _sampled_ports(results), detail(results)
    rows: list[tuple[Any, ...]] = []
    groups = sampled.join(occupied, on=["point", "scheme"], maintain_order="left").collect()
    for point, scheme, samples, values, counts in groups.iter_rows():
        if values is None:
            continue
        share_occupied = sum(counts) / (samples * ports)
        # The share is that of occupied samples <= value; the rest have at least the next value.
        previous = 0.0
        for value, share in ecdf_of_counts(*_counted(values, counts), limit):
            rows.append((point, scheme, value, (1 - previous) * share_occupied))
            previous = share
    schema = {"point": pl.String, "scheme": pl.String, "bytes": pl.Float64, "share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _samples(results: Results) -> pl.DataFrame:
    """Number of link samples in the measurement window: `point`, `scheme`, `samples`, over all seeds.

    For a simulation, it follows from the window and the interval, even if the run ended earlier: queues are empty from
    then on. At points that `weft.run_ends.early` names, it is the number until the last run's end. An emulation samples
    irregularly, so all times with a row count.
    """
    if _emulated(results):
        times = pl.struct("run", "time_ps").n_unique()
        taken = results.aggregates.measured(_samples_of(results, "link_times"))
        sampled = taken.group_by("point", "scheme", maintain_order=True)
        return sampled.agg(times.alias("samples")).collect()
    rows = []
    heads, last = results.heads(), early(results)
    for run in results.finished:
        head = heads[run.id]
        start, end = head["window_ps"]
        start, end = (bound // head["interval_ps"] for bound in (start, last.get(run.point, end)))
        rows.append((run.point, run.scheme, end - start))
    schema = {"point": pl.String, "scheme": pl.String, "samples": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.group_by("point", "scheme", maintain_order=True).agg(pl.col("samples").sum())


def _counted(values: Sequence[float], counts: Sequence[int]) -> tuple[list[float], list[int]]:
    """Each value once, with the sum of its counts."""
    sums: dict[float, int] = {}
    for value, count in zip(values, counts, strict=True):
        sums[value] = sums.get(value, 0) + count
    return list(sums), list(sums.values())


def _sampled_ports(results: Results) -> int:
    """Number of ports sampled: those of switches, and those of hosts too if any of them appears."""
    summary = results.finished[0].summary()
    hosts = {node["name"] for node in summary["nodes"] if str(node["role"]).lower() == "host"}
    sampled = results.aggregates.samples("scalars")["queued_at"].drop_nulls().explode().unique()
    watched = [link for link in summary["links"] if link["from"] not in hosts]
    everything = not hosts.isdisjoint(sampled)
    return max(len(summary["links"] if everything else watched), 1)


def link_use(results: Results) -> pl.DataFrame:
    """Directed links: `point`, `scheme`, `from`, `to`, and means over seeds with half-widths of their intervals.

    The means are `utilisation`, `drops`, `max_queue_bytes`; the half-widths end in `_half` and are null with one seed.
    Utilisation is that of `weft.run_ends.links`.
    """
    names = ("utilisation", "drops", "max_queue_bytes")
    found = (
        links(results)
        .group_by("point", "scheme", "from", "to", maintain_order=True)
        .agg(
            *(pl.col(name).mean() for name in names),
            *(pl.col(name).cast(pl.Float64).std().alias(f"{name}_half") for name in names),
            *(pl.col(name).count().cast(pl.Int64).alias(f"{name}_seeds") for name in names),
        )
    )
    halves = [(pl.col(f"{name}_half") * _half_widths(found[f"{name}_seeds"])) for name in names]
    return found.with_columns(halves).drop(pl.selectors.ends_with("_seeds"))


def axes(results: Results) -> tuple[str | None, list[str]]:
    """The swept key for the horizontal axis of figures, and the other keys, which vary between panels.

    The axis is the numeric key with the most values; None if there is none: each point is then shown separately.
    """
    values: dict[str, set[Any]] = {}
    for run in results.finished:
        for key, value in run.dimensions.items():
            values.setdefault(key, set()).add(show(value) if not isinstance(value, (int, float)) else value)
    varied = {key: found for key, found in values.items() if len(found) > 1}
    numeric = [key for key, found in varied.items() if all(isinstance(v, (int, float)) for v in found)]
    if not numeric:
        return None, []
    axis = max(numeric, key=lambda key: len(varied[key]))
    return axis, [key for key in varied if key != axis]


def panel_label(keys: list[str], among: list[str]) -> pl.Expr:
    """A column that labels a row of panels with the values of `keys`, out of the swept keys `among`."""
    parts = [pl.format("{} {}", pl.lit(short_key(key, among)), pl.col(key).cast(pl.String)) for key in keys]
    return pl.concat_str(parts, separator=", ")
