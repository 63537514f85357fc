"""From flows to the comparison table: one value per run for each metric, then mean, interval and paired difference.

Only flows that started in the measurement window count; FCT, slowdown and throughput are over the finished ones. A
run's value is a mean, a quantile, a share, a count or a sum over its flows; the table shows the mean of these values
over the seeds, for counts too. If a group has several runs of a seed (grouped without a swept key), the seed's value is
the mean over these runs. A run without flows in the group has no value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from .difference import Difference, difference
from .errors import ResultsError
from .labels import column
from .metrics import COUNTED, METRICS, Metric
from .statistics import Estimate, estimate
from .variants import label_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .results import Results

__all__ = ["METRICS", "Metric", "Row", "Summary", "group_keys", "per_seed", "summarise"]


@dataclass(frozen=True)
class Row:
    """One line of the comparison: a group of flows (by point, scheme and class, or by `by`)."""

    group: dict[str, Any]
    seeds: list[int]
    flows: float
    """Measured flows, over all seeds; with several runs per seed, each seed counts with the mean over its runs."""
    finished: float
    estimates: dict[str, Estimate | None]
    differences: dict[str, Difference | None]
    """How each metric differs from the baseline's; empty without a baseline."""

    def per_run(self, count: float) -> float:
        """A count over all seeds as the mean per run."""
        return count / len(self.seeds)


@dataclass(frozen=True)
class Summary:
    """The comparison table."""

    by: list[str]
    baseline: str | None
    rows: list[Row]
    several_runs: bool
    """Whether some group has several runs of one seed."""
    same_flows: bool
    """Whether runs that are compared have the same flows; else only their seed is the same."""
    without_flows: list[str]
    """The finished points without any measured flow."""

    def frame(self) -> pl.DataFrame:
        """As a wide table: for each metric `<key>`, `<key>_low` and `<key>_high`.

        With a baseline also the paired difference, `<key>_diff…`, and the ratio, `<key>_ratio…`.
        """
        records = []
        for row in self.rows:
            record: dict[str, Any] = {column(key): value for key, value in row.group.items()}
            record |= {"seeds": len(row.seeds), "flows": row.flows, "finished": row.finished}
            for metric in METRICS:
                record |= _columns(metric.key, row.estimates[metric.key])
                if self.baseline is not None:
                    found = row.differences.get(metric.key)
                    record |= _columns(f"{metric.key}_diff", found.absolute if found else None)
                    record |= _columns(f"{metric.key}_ratio", found.ratio if found else None)
            records.append(record)
        floats = {name: pl.Float64 for record in records for name in record if name.startswith(_METRIC_KEYS)}
        return pl.DataFrame(records, schema_overrides=floats, infer_schema_length=None)

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {
            "by": self.by,
            "baseline": self.baseline,
            "same_flows": self.same_flows,
            "several_runs": self.several_runs,
            "without_flows": self.without_flows,
            "rows": [
                {
                    **row.group,
                    "seeds": row.seeds,
                    "flows": row.flows,
                    "finished": row.finished,
                    "metrics": {
                        metric.key: _interval(row.estimates[metric.key]) | _compared(row, metric.key)
                        for metric in METRICS
                    },
                }
                for row in self.rows
            ],
        }


def _compared(row: Row, key: str) -> dict[str, dict[str, float | None]]:
    """How a metric differs from the baseline's, as plain data; empty without a baseline."""
    found = row.differences.get(key)
    absolute, ratio = (found.absolute, found.ratio) if found else (None, None)
    return {"difference": _interval(absolute), "ratio": _interval(ratio)} if row.differences else {}


_METRIC_KEYS = tuple(metric.key for metric in METRICS)


def _columns(key: str, value: Estimate | None) -> dict[str, float | None]:
    mean, low, high = _interval(value).values()
    return {key: mean, f"{key}_low": low, f"{key}_high": high}


def _interval(value: Estimate | None) -> dict[str, float | None]:
    return value.as_dict() if value else {"mean": None, "low": None, "high": None}


_Runs = dict[tuple[int, str], dict[str, Any]]
"""The runs of a group, by seed and point."""


def per_seed(results: Results, by: Sequence[str] | None = None) -> pl.DataFrame:
    """One row per group and seed: `flows`, `finished` and one column for each of `METRICS`.

    Each is the value of the run; if a group has several runs of the seed, the mean over those that have a value. Groups
    are in the order of the sweep; `by` defaults to every swept key, the class and the scheme.
    """
    keys = group_keys(results, by)
    return _over_runs(_per_run(results, keys), keys)


def _per_run(results: Results, keys: Sequence[str]) -> pl.DataFrame:
    """One row per group and run, with the columns of `per_seed` and `run`."""
    _check_columns(results)
    found = results.aggregates.classes() if "class" in keys else results.aggregates.whole()
    runs = results.run_table().rename({column(key): key for key in results.keys})
    return (
        found.join(runs, on="run", how="left", maintain_order="left")
        .select(*keys, "seed", "run", "flows", "finished", *_METRIC_KEYS)
        .with_columns(pl.col(key).fill_nan(None) for key in _METRIC_KEYS)
    )


def _over_runs(runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows of `_per_run` as one row per group and seed; counts of single runs remain integers."""
    group = [*keys, "seed"]
    if not runs.select(group).is_duplicated().any():
        return runs.drop("run")
    return runs.group_by(group, maintain_order=True).agg(pl.col("flows", "finished", *_METRIC_KEYS).mean())


def _check_columns(results: Results) -> None:
    """Reject emulated runs whose flows lack columns: an earlier version of a study wrote such files."""
    heads = results.aggregates.heads()
    for run in results.finished:
        file = run.path / "flows.parquet"
        if "emulated" not in heads[run.id] or not file.is_file():
            continue
        there = pl.scan_parquet(file, glob=False).collect_schema()
        missing = [name for name in COUNTED if name not in there]
        if missing:
            raise ResultsError(
                f"{file} has no column `{missing[0]}`: it was written by an earlier version of Weft. `weft plot` still"
                " draws its study; for a table or a page, repeat the study in a new directory"
            )


def group_keys(results: Results, by: Sequence[str] | None) -> list[str]:
    """The columns to group by, validated; the short form of a swept key (``load``) is accepted."""
    if by is None:
        return [*results.dimensions, "class", "scheme"]
    known = {key.rpartition(".")[2]: key for key in results.keys}
    known |= {key: key for key in [*results.keys, "scheme", "class", "point"]}
    unknown = [key for key in by if key not in known]
    if unknown:
        have = ", ".join(dict.fromkeys(known.values()))
        raise ResultsError(f"cannot group by `{unknown[0]}`: these results have {have}")
    return list(dict.fromkeys(known[key] for key in by))


def summarise(results: Results, *, by: Sequence[str] | None = None, baseline: str | None = None) -> Summary:
    """Mean over seeds, 95 % interval and paired difference for each group.

    Args:
        results: The results to summarise.
        by: Columns to group by; default all swept keys, the class and the scheme.
        baseline: The scheme to compare with, for which `by` must include the scheme; default the scenario's baseline,
            if any.

    Raises:
        ResultsError: The scheme or column does not exist, `by` leaves out the scheme of a given baseline, or no run has
            finished.
    """
    given, named = baseline, baseline if baseline is not None else results.baseline
    baseline = None if named is None else label_of(named, results.schemes, results.compared)
    if named is not None and baseline is None:
        raise ResultsError(f"no scheme `{named}` in {results.path}: choose from {', '.join(results.schemes)}")
    keys = group_keys(results, by)
    if "scheme" not in keys:
        if given is not None:
            raise ResultsError("`--baseline` needs `scheme` among the columns to group by: add it to --by")
        baseline = None
    if baseline is not None and results.compared in keys:
        if given is not None:
            raise ResultsError(f"remove `{results.compared}` from --by: the scheme's label contains it")
        baseline = None
    runs = _per_run(results, keys)
    table = _over_runs(runs, keys)
    order = _sweep_order(results, keys)
    groups: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}
    for record in table.iter_rows(named=True):
        groups.setdefault(tuple(record[key] for key in keys), {})[record["seed"]] = record
    points = {run.id: run.point for run in results.finished}
    single: dict[tuple[Any, ...], _Runs] = {}
    for record in runs.iter_rows(named=True):
        place = record["seed"], points[record["run"]]
        single.setdefault(tuple(record[key] for key in keys), {})[place] = record
    rows = []
    for values in sorted(groups, key=lambda v: tuple(order[key](x) for key, x in zip(keys, v, strict=True))):
        group = dict(zip(keys, values, strict=True))
        reference: _Runs = {}
        if baseline is not None and group["scheme"] != baseline:
            reference = single.get(
                tuple(baseline if k == "scheme" else v for k, v in zip(keys, values, strict=True)), {}
            )
        rows.append(_row(group, groups[values], single[values], reference))
    same_flows = _same_flows(results)
    return Summary(
        by=keys,
        baseline=baseline,
        rows=rows,
        several_runs=len(table) < len(runs),
        same_flows=same_flows,
        without_flows=_without_flows(results, set(runs["run"]), same_flows=same_flows),
    )


def _same_flows(results: Results) -> bool:
    """Whether the flows depend only on the point and the seed: not on the value that is compared, if any."""
    return results.compared is None or results.compared.startswith("transport.")


def _without_flows(results: Results, runs: set[str], *, same_flows: bool) -> list[str]:
    """The finished points without a run in `runs`; with the compared value where it changes the flows."""
    points: dict[str, bool] = {}
    for run in results.finished:
        name = run.point if same_flows else f"{run.point}, {run.scheme}"
        points[name] = points.get(name, False) or run.id in runs
    return [name for name, there in points.items() if not there]


def _row(group: dict[str, Any], seeds: Mapping[int, dict[str, Any]], own: _Runs, reference: _Runs) -> Row:
    row = Row(
        group=group,
        seeds=sorted(seeds),
        # Rounded, as sums of means are not exact; integers stay integers.
        flows=round(sum(record["flows"] for record in seeds.values()), 6),
        finished=round(sum(record["finished"] for record in seeds.values()), 6),
        estimates={},
        differences={},
    )
    for metric in METRICS:
        row.estimates[metric.key] = estimate(record[metric.key] for record in seeds.values())
        if reference:
            row.differences[metric.key] = difference(*_alike(own, reference, metric.key))
    return row


def _alike(own: _Runs, reference: _Runs, key: str) -> tuple[dict[int, float], dict[int, float]]:
    """Both sides' means for each seed, over the points at which both have a value."""
    both: dict[int, list[tuple[float, float]]] = {}
    for (seed, point), record in own.items():
        other = reference.get((seed, point), {}).get(key)
        if record[key] is not None and other is not None:
            both.setdefault(seed, []).append((record[key], other))
    means = {seed: [sum(side) / len(pairs) for side in zip(*pairs, strict=True)] for seed, pairs in both.items()}
    return {seed: mean for seed, (mean, _) in means.items()}, {seed: mean for seed, (_, mean) in means.items()}


def _sweep_order(results: Results, keys: Sequence[str]) -> dict[str, Any]:
    """A sort key for each column: the order of the sweep; for the usual classes, by size."""
    listed: dict[str, list[Any]] = {
        "scheme": results.schemes,
        "point": results.points,
        "class": ["mouse", "short", "rabbit", "elephant", "long"],
    }
    for run in results.finished:
        for key in results.keys:
            listed.setdefault(key, []).append(run.overrides.get(key))

    def rank(key: str) -> Any:
        positions: dict[str, int] = {}
        for position, value in enumerate(listed[key]):
            positions.setdefault(str(value), position)
        return lambda value: (positions.get(str(value), len(positions)), str(value))

    return {key: rank(key) for key in keys}
