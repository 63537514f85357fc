"""Results of the study's runs as tables."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from ...results import Results
from ...samples import QUANTILE
from .setups import ANSWER_BITS, DELAY_S, FRAMED, LINE_BPS, OVERSUBSCRIPTION, PACKET, RATE_BPS

BALANCE: dict[str, Any] = {
    "scheme": pl.String,
    "load": pl.Int64,
    "seed": pl.Int64,
    "mean": pl.Float64,
    "p99": pl.Float64,
    "unfinished": pl.Int64,
}
"""Slowdowns of the flows of a run that started in its measurement window; `load` in per cent of the uplinks."""

FIXED: dict[str, Any] = {"senders": pl.Int64, "marked": pl.Float64, "unfairness": pl.Float64, "unfinished": pl.Int64}
"""DCQCN: share of marked packets once the start is over; largest relative difference of a sender's mean rate, over the
longer run, from its fair share."""

LOSSES: dict[str, Any] = {"part": pl.String, "packets": pl.Int64, "dropped": pl.Int64, "pauses": pl.Int64}
"""Packets sent and dropped and pause frames in the runs with flow control."""


@dataclass(frozen=True)
class Tables:
    """The tables of the study."""

    balance: pl.DataFrame
    fixed: pl.DataFrame
    losses: pl.DataFrame


def gather(results: dict[str, Results]) -> Tables:
    """The tables of the results of the study's parts."""
    balance: list[dict[str, Any]] = []
    fixed: list[dict[str, Any]] = []
    losses: list[dict[str, Any]] = []
    for name, part in results.items():
        kind, _, number = name.partition("-")
        if kind == "dcqcn":
            fixed += fixed_point(part, int(number))
            continue
        losses += _losses(part, name)
        if name != "incast":
            balance += _balance(part, name)
    return Tables(
        pl.DataFrame(balance, schema=BALANCE), pl.DataFrame(fixed, schema=FIXED), pl.DataFrame(losses, LOSSES)
    )


def _balance(part: Results, scheme: str) -> list[dict[str, Any]]:
    back = pl.col("hops") * round(1e12 * (DELAY_S + ANSWER_BITS / RATE_BPS))
    slowdown = ((pl.col("fct_ps") + back) / (pl.col("ideal_fct_ps") + back)).clip(lower_bound=1)
    found = (
        part.scan_flows(measured=True)
        .group_by("run")
        .agg(
            slowdown.mean().alias("mean"),
            slowdown.quantile(0.99, interpolation=QUANTILE).alias("p99"),
            pl.col("fct_ps").is_null().sum().alias("unfinished"),
        )
    )
    values = {row["run"]: row for row in found.collect().iter_rows(named=True)}
    return [
        {
            "scheme": scheme,
            "load": round(100 * OVERSUBSCRIPTION * run.overrides["traffic.load"]),
            "seed": run.seed,
            **{key: values[run.id][key] for key in ("mean", "p99", "unfinished")},
        }
        for run in part.finished
    ]


def fixed_point(part: Results, senders: int) -> list[dict[str, Any]]:
    """A row of `FIXED`; none without two runs of different lengths."""
    fair = LINE_BPS * PACKET / FRAMED / senders
    rate = pl.col("bytes") * 8e12 / pl.col("fct_ps")
    found = (
        part.scan_flows(measured=False)
        .group_by("run")
        .agg(
            pl.col("bytes").max(),
            pl.col("ecn_marks").sum().cast(pl.Int64),
            pl.col("first_transmissions_received").sum().cast(pl.Int64).alias("packets"),
            (rate / fair - 1).abs().max().alias("unfairness"),
            pl.col("fct_ps").is_null().sum().alias("unfinished"),
        )
        .sort("bytes")
        .collect()
    )
    if found["packets"].n_unique() < 2:
        return []
    short, long = found.row(0, named=True), found.row(-1, named=True)
    marked = (long["ecn_marks"] - short["ecn_marks"]) / (long["packets"] - short["packets"])
    unfinished = short["unfinished"] + long["unfinished"]
    return [{"senders": senders, "marked": marked, "unfairness": long["unfairness"], "unfinished": unfinished}]


def _losses(part: Results, name: str) -> list[dict[str, Any]]:
    return [
        {
            "part": name,
            "packets": summary["counters"]["packets_sent"],
            "dropped": sum(summary["counters"]["packets_dropped"].values()),
            "pauses": sum(link["pause_frames"] for link in summary["links"]),
        }
        for summary in part.summaries()
    ]
