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

from . import steadiness, stored_values
from .difference import Difference, corrected, difference
from .errors import ResultsError
from .grouping import group_keys
from .labels import column
from .matching import Group, Match, Pair, Record, alike, matched, over_seeds, same_flows_of
from .metrics import METRICS
from .runs import Runs
from .statistics import estimate
from .steadiness import Mark
from .summary_table import Row, Shared, Summary


def summarise(
    results: Runs, *, by: Sequence[str] | None = None, baseline: str | None = None, stored: bool = False
) -> Summary:
    """Mean over seeds, 95 % interval and paired difference for each group.

    Args:
        results: The results to summarise.
        by: Columns to group by; default all swept keys, the class and the scheme.
        baseline: The scheme to compare with, for which `by` must include the scheme; default the scenario's baseline,
            if any run has it.
        stored: Without a baseline, take the values of classes from ``summary.json``; see `weft.stored_values`.

    Raises:
        ResultsError: The scheme or column does not exist, `by` leaves out the scheme of a given baseline, or no run has
            finished.
    """
    results = results.comparing(baseline)
    given = baseline
    baseline = results.baseline if given is None else results.labelled(given)
    keys = group_keys(results, by)
    if "scheme" not in keys:
        if given is not None:
            raise ResultsError("`--baseline` needs `scheme` among the columns to group by: add it to --by")
        baseline = None
    if baseline is not None and results.compared in keys:
        if given is not None:
            raise ResultsError(f"remove `{results.compared}` from --by: the scheme's label contains it")
        baseline = None
    found = stored_values.per_run(results, keys) if stored and baseline is None else None
    runs, seeds = (found, found) if found is not None else _computed(results, keys)
    order = _sweep_order(results, keys)
    groups: dict[tuple[Any, ...], dict[int, dict[str, Any]]] = {}
    for record in seeds:
        groups.setdefault(tuple(record[key] for key in keys), {})[record["seed"]] = record
    points = {run.id: run.point for run in results.finished}
    single: dict[Group, dict[tuple[int, str], Record]] = {}
    for record in runs:
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
    matches = {} if baseline is None else matched(results, pairs, by_class="class" in keys)
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
        several_runs=len(seeds) < len(runs),
        same_flows=found is None and same_flows_of(results),
        family=max((corrected(family) for family in families.values()), default=0),
        without_flows=_without_flows(results, {record["run"] for record in runs}),
    )


def _computed(results: Runs, keys: Sequence[str]) -> tuple[list[Record], list[Record]]:
    """One record per group and run, and one per group and seed, from the rows of flows."""
    from .group_values import over_runs, per_run

    runs = per_run(results, keys)
    return list(runs.iter_rows(named=True)), list(over_runs(runs, keys).iter_rows(named=True))


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
    runs = results.run_columns()
    listed |= {key: runs[column(key)] for key in results.keys}

    def rank(key: str) -> Any:
        positions: dict[str, int] = {}
        for position, value in enumerate(listed[key]):
            positions.setdefault(str(value), position)
        return lambda value: (positions.get(str(value), len(positions)), str(value))

    return {key: rank(key) for key in keys}
