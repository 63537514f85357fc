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

from . import stored_values
from .difference import Difference, corrected
from .errors import ResultsError
from .grouped_runs import GroupedRuns
from .grouping import group_keys
from .matched_differences import differences, shared
from .matching import Group, Match, Pair, Record, matched, same_flows_of, unlike_flows
from .metrics import METRICS
from .runs import Runs
from .statistics import estimate
from .summary_table import Row, Summary


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
    grouped = GroupedRuns(results, keys, found)
    pairs: dict[Group, list[Pair]] = {}
    for group in grouped.groups if baseline is not None else ():
        reference = grouped.with_scheme(group, str(baseline))
        if group != reference:
            pairs[group] = grouped.pairs(group, reference)
    are_unlike = unlike_flows(results) if pairs else lambda pair: False
    unlike = [grouped.named(group)["scheme"] for group, listed in pairs.items() if any(map(are_unlike, listed))]
    matches = {} if baseline is None else matched(results, pairs, by_class="class" in keys)
    rows = [
        replace(
            _row(grouped.named(group), grouped.seeds[group], grouped.places[group].values(), matches.get(group)),
            mark=grouped.mark(group),
        )
        for group in grouped.groups
    ]
    lead = [key for key in keys if key not in ("scheme", "class")]
    families: dict[tuple[Any, ...], list[dict[str, Difference | None]]] = {}
    for row in rows:
        families.setdefault(tuple(row.group[key] for key in lead), []).append(row.differences)
    return Summary(
        by=keys,
        baseline=baseline,
        rows=rows,
        several_runs=len(grouped.over_seeds) < len(grouped.records),
        same_flows=found is None and same_flows_of(results),
        family=max((corrected(family) for family in families.values()), default=0),
        without_flows=_without_flows(results, {record["run"] for record in grouped.records}),
        unlike=tuple(dict.fromkeys(unlike)),
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
    compared = [metric for metric in METRICS if not metric.rare or least >= metric.least]
    return replace(row, differences=differences(matches, compared), shared=shared(matches))


def _without_flows(results: Runs, runs: set[str]) -> list[str]:
    """The finished points without a run in `runs`; with the compared value where it may change the flows."""
    same_flows = results.compared is None or results.compared.startswith("transport.")
    points: dict[str, bool] = {}
    for run in results.finished:
        name = run.point if same_flows else f"{run.point}, {run.scheme}"
        points[name] = points.get(name, False) or run.id in runs
    return [name for name, there in points.items() if not there]
