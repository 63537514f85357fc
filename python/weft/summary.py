"""From flows to the comparison table: one value per run for each metric, then mean, interval and paired difference.

Only flows that started in the measurement window count; FCT, slowdown and throughput are over the finished ones. A
run's value is a mean, a quantile, a share, a count or a sum over its flows; the table shows the mean of these values
over the seeds, for counts too. If a group has several runs of a seed (grouped without a swept key), the seed's value is
the mean over these runs. A run without flows in the group has no value. Differences are over the flows that finished
in both runs (`weft.shared_flows`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from . import steadiness
from .difference import Difference, corrected, difference
from .errors import ResultsError
from .labels import column
from .matching import Group, Match, Pair, Record, alike, matched, over_seeds, same_flows_of
from .metrics import COUNTED, METRIC_KEYS, METRICS
from .runs import Runs
from .statistics import estimate
from .steadiness import Mark
from .summary_table import Row, Shared, Summary


def per_seed(results: Runs, by: Sequence[str] | None = None) -> pl.DataFrame:
    """One row per group and seed: `flows`, `finished` and one column for each of `METRICS`.

    Each is the value of the run; if a group has several runs of the seed, the mean over those that have a value. Groups
    are in the order of the sweep; `by` defaults to every swept key, the class and the scheme.
    """
    keys = group_keys(results, by)
    return _over_runs(_per_run(results, keys), keys)


def _per_run(results: Runs, keys: Sequence[str]) -> pl.DataFrame:
    """One row per group and run, with the columns of `per_seed` and `run`."""
    _check_columns(results)
    found = results.aggregates.classes() if "class" in keys else results.aggregates.whole()
    runs = results.run_table().rename({column(key): key for key in results.keys})
    return (
        found.join(runs, on="run", how="left", maintain_order="left")
        .select(*keys, "seed", "run", "flows", "finished", *METRIC_KEYS)
        .with_columns(pl.col(key).fill_nan(None) for key in METRIC_KEYS)
    )


def _over_runs(runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows of `_per_run` as one row per group and seed; counts of single runs remain integers."""
    group = [*keys, "seed"]
    if not runs.select(group).is_duplicated().any():
        return runs.drop("run")
    return runs.group_by(group, maintain_order=True).agg(pl.col("flows", "finished", *METRIC_KEYS).mean())


def _check_columns(results: Runs) -> None:
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


def group_keys(results: Runs, by: Sequence[str] | None) -> list[str]:
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


def summarise(results: Runs, *, by: Sequence[str] | None = None, baseline: str | None = None) -> Summary:
    """Mean over seeds, 95 % interval and paired difference for each group.

    Args:
        results: The results to summarise.
        by: Columns to group by; default all swept keys, the class and the scheme.
        baseline: The scheme to compare with, for which `by` must include the scheme; default the scenario's baseline,
            if any run has it.

    Raises:
        ResultsError: The scheme or column does not exist, `by` leaves out the scheme of a given baseline, or no run has
            finished.
    """
    results = results.comparing(baseline)
    given = baseline
    baseline = results.baseline if given is None else results.label_of(given)
    if given is not None and baseline is None:
        raise ResultsError(f"no scheme `{given}` in {results.where}: choose from {', '.join(results.schemes)}")
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
    single: dict[Group, dict[tuple[int, str], Record]] = {}
    for record in runs.iter_rows(named=True):
        place = record["seed"], points[record["run"]]
        single.setdefault(tuple(record[key] for key in keys), {})[place] = record
    ordered = sorted(groups, key=lambda v: tuple(order[key](x) for key, x in zip(keys, v, strict=True)))
    marks = steadiness.marks(results, [key for key in keys if key != "class"])

    def mark(values: Group) -> Mark | None:
        return marks.get(tuple(value for key, value in zip(keys, values, strict=True) if key != "class"))

    pairs: dict[Group, list[Pair]] = {}
    for values in ordered if baseline is not None else ():
        reference = tuple(baseline if k == "scheme" else v for k, v in zip(keys, values, strict=True))
        if values != reference and not (mark(values) or mark(reference)):
            others = single.get(reference, {})
            pairs[values] = [(own, others[at]) for at, own in single[values].items() if at in others]
    matches = matched(results, pairs, by_class="class" in keys)
    rows = [
        replace(
            _row(dict(zip(keys, values, strict=True)), groups[values], single[values].values(), matches.get(values)),
            mark=mark(values),
        )
        for values in ordered
    ]
    lead = [key for key in keys if key not in ("scheme", "class")]
    families: dict[tuple[Any, ...], list[dict[str, Difference | None]]] = {}
    for row in rows:
        families.setdefault(tuple(row.group[key] for key in lead), []).append(row.differences)
    return Summary(
        by=keys,
        baseline=baseline,
        rows=rows,
        several_runs=len(table) < len(runs),
        same_flows=same_flows_of(results),
        family=max((corrected(family) for family in families.values()), default=0),
        without_flows=_without_flows(results, set(runs["run"])),
    )


def _row(
    group: dict[str, Any], seeds: Mapping[int, dict[str, Any]], own: Iterable[Record], matches: Sequence[Match] | None
) -> Row:
    # Rounded, as sums of means are not exact; integers stay integers.
    flows, finished = (round(sum(record[key] for record in seeds.values()), 6) for key in ("flows", "finished"))
    estimates = {metric.key: estimate(record[metric.key] for record in seeds.values()) for metric in METRICS}
    least = min((record["finished"] for record in own if record["finished"]), default=0)
    row = Row(group, sorted(seeds), flows, finished, estimates, {}, least)
    if not matches:
        return row
    shared = Shared(
        over_seeds(matches, lambda match: match.flows),
        over_seeds(matches, lambda match: match.own["flows"] - match.own["finished"]),
        over_seeds(matches, lambda match: match.baseline["flows"] - match.baseline["finished"]),
    )
    left_out = shared.unfinished, shared.baseline_unfinished
    differences = {
        metric.key: difference(*alike(matches, metric.key), left_out if metric.of_finished else (0, 0))
        for metric in METRICS
    }
    return replace(row, differences=differences, shared=shared)


def _without_flows(results: Runs, runs: set[str]) -> list[str]:
    """The finished points without a run in `runs`; with the compared value where it may change the flows."""
    same_flows = results.compared is None or results.compared.startswith("transport.")
    points: dict[str, bool] = {}
    for run in results.finished:
        name = run.point if same_flows else f"{run.point}, {run.scheme}"
        points[name] = points.get(name, False) or run.id in runs
    return [name for name, there in points.items() if not there]


def _sweep_order(results: Runs, keys: Sequence[str]) -> dict[str, Any]:
    """A sort key for each column: the order of the sweep; for the usual classes, by size."""
    listed: dict[str, list[Any]] = {
        "scheme": results.schemes,
        "point": results.points,
        "class": ["mouse", "short", "rabbit", "elephant", "long"],
    }
    runs = results.run_table()
    listed |= {key: runs[column(key)].to_list() for key in results.keys}

    def rank(key: str) -> Any:
        positions: dict[str, int] = {}
        for position, value in enumerate(listed[key]):
            positions.setdefault(str(value), position)
        return lambda value: (positions.get(str(value), len(positions)), str(value))

    return {key: rank(key) for key in keys}
