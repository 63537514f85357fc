"""The data of the survey as one table: a row for each situation, workload, load, scheme and seed."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from ...paths import mean_entries, sampled
from ...reduction import TABLE_SIZES
from ...results import Results
from ...samples import QUANTILE
from ..marked_groups import marked_groups
from .survey import TITLES

KEYS: dict[str, Any] = {
    "situation": pl.String,
    "sizes": pl.String,
    "profile": pl.String,
    "load": pl.Float64,
    "scheme": pl.String,
    "seed": pl.Int64,
}
"""Key columns. `scheme` ends with ``+mptcp`` with Multipath TCP; `load` is null without a load."""

MEASURES: dict[str, Any] = dict.fromkeys(
    [
        *(f"{kind}_{measure}" for kind in ("small", "large") for measure in ("mean", "median", "p99")),
        *("mean", "mean_fct_s", "timeouts", "out_of_order", "unfinished", "entries", "control"),
    ],
    pl.Float64,
)
"""Slowdowns of small, large and all flows, and mean completion time; share of flows with a retransmission timeout, each
of which adds at least the minimum timeout; share of segments that arrive out of order; share of flows without an end;
entries in a switch's tables; control messages per flow."""

SCHEMA = KEYS | {"mark": pl.String} | MEASURES
"""`mark`: the label of a group of runs (all seeds) that was not in a steady state (`weft.steadiness`), else null."""
WITH_MPTCP = "+mptcp"


def gather(results: Mapping[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of those parts that belong to the survey."""
    frames = [_part(name, part) for name, part in results.items() if name.partition("_")[0] in TITLES]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def without_marked(survey: pl.DataFrame) -> pl.DataFrame:
    """The table without the measures of marked rows."""
    return survey.with_columns(pl.when(pl.col("mark").is_null()).then(pl.col(*MEASURES)))


def _part(name: str, part: Results) -> pl.DataFrame:
    situation, sizes, profile, *mptcp = name.split("_")
    marks = {run: group.mark.label for group in marked_groups({name: part}) for run in group.runs}
    rows, with_sizes = [], sampled(part)
    for run, summary in zip(part.finished, part.summaries(), strict=True):
        rows.append(
            {
                "run": run.id,
                "situation": situation,
                "sizes": sizes,
                "profile": profile,
                "load": run.overrides.get("traffic.load"),
                "scheme": run.scheme.partition(" ")[0] + (WITH_MPTCP if mptcp else ""),
                "seed": run.seed,
                "mark": marks.get(run.id),
                "entries": _entries(with_sizes(run, summary)),
                "control": _control(summary),
            }
        )
    named = pl.DataFrame(rows, schema={"run": pl.String} | {k: v for k, v in SCHEMA.items() if k in rows[0]})
    return named.join(_of_flows(part), on="run").select(pl.col(key).cast(kind) for key, kind in SCHEMA.items())


def _of_flows(part: Results) -> pl.DataFrame:
    kinds = {"small": pl.col("class") == "mouse", "large": pl.col("class") == "elephant"}
    slowdown = pl.col("slowdown")
    by_kind = []
    for name, kind in kinds.items():
        own = slowdown.filter(kind)
        by_kind += [
            own.mean().alias(f"{name}_mean"),
            own.median().alias(f"{name}_median"),
            own.quantile(0.99, interpolation=QUANTILE).alias(f"{name}_p99"),
        ]
    return (
        part.scan_flows()
        .group_by("run")
        .agg(
            *by_kind,
            slowdown.mean().alias("mean"),
            (pl.col("fct_ps") / 1e12).mean().alias("mean_fct_s"),
            (pl.col("timeouts") > 0).mean().alias("timeouts"),
            (pl.col("out_of_order").sum() / pl.col("first_transmissions_received").sum()).alias("out_of_order"),
            pl.col("fct_ps").is_null().mean().alias("unfinished"),
        )
        .collect()
    )


def _entries(summary: Mapping[str, Any]) -> float | None:
    """Entries in a switch's tables, averaged over switches and samples; None for schemes without any."""
    return sum(mean_entries(summary, metric) or 0.0 for metric in TABLE_SIZES) or None


def _control(summary: Mapping[str, Any]) -> float | None:
    """Frames made or copied by switches, and messages from and to a controller, per flow."""
    counters, controller = summary["counters"], summary.get("controller") or {}
    frames = counters["packets_of_switches"] + counters["packets_copied"]
    messages = controller.get("packet_ins", 0) + controller.get("rules", 0)
    return (frames + messages) / counters["flows_started"] if counters["flows_started"] else None
