"""The data of the setups that claims need of their own, as one table: a row for each part, load, scheme and seed."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from ...one_run import Run
from ...results import Results
from ...samples import QUANTILE
from .own import ELEPHANT_BPS
from .survey import PACKET_ON_WIRE, SEGMENT, TITLES

MEASURES = (
    *("mean_fct_s", "small_mean", "large_mean", "small_p99_s", "variation", "imbalance", "drops", "bisection"),
    *("unfinished", "small_unfinished", "large_unfinished"),
)
SCHEMA: dict[str, Any] = {"part": pl.String, "load": pl.Float64, "scheme": pl.String, "seed": pl.Int64}
SCHEMA |= dict.fromkeys(MEASURES, pl.Float64)
"""Mean completion time; mean slowdowns of small and large flows; 99th percentile of small flows' completion times;
variance of flows' throughputs over their squared mean; standard deviation over mean of the uplinks' use, averaged over
leaves; dropped packets; goodput over the largest that the hosts' links allow; shares of unfinished flows, of all, small
and large ones."""

UNFINISHED = {
    "mean_fct_s": "unfinished",
    "small_mean": "small_unfinished",
    "large_mean": "large_unfinished",
    "small_p99_s": "small_unfinished",
    "variation": "unfinished",
}
"""For each measure over finished flows, the share of unfinished flows that it leaves out."""


def gather(results: Mapping[str, Results]) -> pl.DataFrame:
    """The table (`SCHEMA`) of the parts that do not belong to the survey."""
    frames = [_part(name, part) for name, part in results.items() if name.partition("_")[0] not in TITLES]
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)


def _part(name: str, part: Results) -> pl.DataFrame:
    # Elephants start before the window in which their goodput is measured, and do not end.
    elephants = name.startswith("elephants-")
    optima = _optima(part) if elephants else {}
    rows = [
        {
            "run": run.id,
            "part": name,
            "load": run.overrides.get("traffic.load"),
            "scheme": run.scheme,
            "seed": run.seed,
            "imbalance": imbalance(summary),
            "drops": float(sum(summary["counters"]["packets_dropped"].values())),
            "bisection": _goodput(run, summary) / optima[run.id] if optima else None,
        }
        for run, summary in zip(part.finished, part.summaries(), strict=True)
    ]
    named = pl.DataFrame(rows, schema={"run": pl.String} | {k: v for k, v in SCHEMA.items() if k in rows[0]})
    small, large = pl.col("class") == "mouse", pl.col("class") == "elephant"
    rate, unfinished = pl.col("throughput_bps"), pl.col("fct_ps").is_null()
    flows = (
        part.scan_flows(measured=not elephants)
        .group_by("run")
        .agg(
            pl.col("fct_s").mean().alias("mean_fct_s"),
            pl.col("slowdown").filter(small).mean().alias("small_mean"),
            pl.col("slowdown").filter(large).mean().alias("large_mean"),
            pl.col("fct_s").filter(small).quantile(0.99, interpolation=QUANTILE).alias("small_p99_s"),
            (rate.var() / rate.mean() ** 2).alias("variation"),
            unfinished.mean().alias("unfinished"),
            unfinished.filter(small).mean().alias("small_unfinished"),
            unfinished.filter(large).mean().alias("large_unfinished"),
        )
        .collect()
    )
    return named.join(flows, on="run").select(pl.col(key).cast(kind) for key, kind in SCHEMA.items())


def imbalance(summary: Mapping[str, Any]) -> float | None:
    """Standard deviation over mean of the use of a lowest switch's uplinks, averaged over those that carry data."""
    switches = {node["name"]: node["tier"] for node in summary["nodes"] if node["role"] == "switch"}
    lowest = {name for name, tier in switches.items() if tier == min(switches.values())}
    uses: dict[str, list[float]] = {name: [] for name in sorted(lowest)}
    for link in summary["links"]:
        if link["from"] in lowest and link["to"] in switches.keys() - lowest and link["up"]:
            uses[link["from"]].append(link["utilisation"])
    each = [_deviation(use) for use in uses.values() if sum(use) > 0]
    return sum(each) / len(each) if each else None


def _deviation(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)) / mean


def _goodput(run: Run, summary: Mapping[str, Any]) -> float:
    """Bits per second that applications received in the measurement window, averaged over its samples."""
    first, last = summary["window_ps"]
    within = (pl.col("metric") == "throughput_bps") & (pl.col("time_ps") > first) & (pl.col("time_ps") <= last)
    samples = last // summary["interval_ps"] - first // summary["interval_ps"]
    found = (
        pl.scan_parquet(run.path / "series.parquet", glob=False).filter(within).select(pl.col("value").sum()).collect()
    )
    return float(found.item()) / float(samples)


def _optima(part: Results) -> dict[str, float]:
    """The goodput of all flows if only the links of hosts limited them, by run."""
    flows = part.flows(measured=False).select("run", "src", "dst")
    goodput = ELEPHANT_BPS * SEGMENT / PACKET_ON_WIRE
    return {
        str(run): goodput * sum(fair_shares(pairs.select("src", "dst").iter_rows()))
        for (run,), pairs in flows.group_by("run")
    }


def fair_shares(pairs: Iterable[tuple[str, str]]) -> list[float]:
    """The max-min fair rates of flows between hosts whose links carry 1 in each direction."""
    ends = [(("from", src), ("to", dst)) for src, dst in pairs]
    rates = [0.0] * len(ends)
    room = {end: 1.0 for pair in ends for end in pair}
    growing = set(range(len(ends)))
    while growing:
        users = Counter(end for flow in growing for end in ends[flow])
        step = min(room[end] / number for end, number in users.items())
        for end, number in users.items():
            room[end] -= step * number
        for flow in growing:
            rates[flow] += step
        growing = {flow for flow in growing if all(room[end] > 1e-9 for end in ends[flow])}
    return rates
