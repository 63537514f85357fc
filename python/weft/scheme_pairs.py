"""All pairs of schemes: paired differences of each class and metric, with one correction for all of a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from . import comparing_all
from .difference import FEW, FIXED, LEFT_OUT, NOT_SIGNIFICANT, SIGNIFICANT, Difference, corrected
from .grouped_runs import GroupedRuns
from .labels import column
from .matched_differences import Shared, differences, shared
from .matching import Group, Pair, matched, same_flows_of
from .metrics import Metric
from .runs import Runs
from .statistics import Estimate
from .steadiness import Mark, lines
from .summary_table import NO_FLOWS

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class PairRow:
    """Two schemes in a group of flows."""

    group: dict[str, Any]
    """The values of the columns to group by, without the scheme."""
    scheme: str
    other: str
    seeds: int
    """Seeds that both have."""
    least: int
    """Flows compared in the run with the fewest."""
    shared: Shared
    differences: dict[str, Difference | None]
    """How each metric of `scheme` differs from that of `other`."""

    def few(self, metric: Metric) -> bool:
        """Whether a metric is over too few flows: see `weft.metrics.Metric.least` and `FEW_FLOWS`."""
        return metric.of_finished and self.least < max(metric.least, comparing_all.FEW_FLOWS)


@dataclass(frozen=True)
class PairTable:
    """The differences of all pairs of schemes."""

    by: list[str]
    metrics: list[Metric]
    rows: list[PairRow]
    same_flows: bool
    """Whether both runs of each pair have the same flows; else only their seed is the same."""
    family: int
    """Differences at a point for whose number the p-values are adjusted; the largest of all points."""
    groups: int
    """Groups of flows under a scheme, with those that are not compared."""
    marks: list[tuple[dict[str, Any], Mark]]
    """The groups without comparisons, because they were not in a steady state."""

    def cautions(self) -> list[str]:
        """Why pairs are missing, and remedies: a sentence each; empty if none is."""
        if not self.groups:
            return [NO_FLOWS]
        found = lines(self.by, self.marks)
        if self.rows or found:
            return [f"{line}. No pair has it." for line in found]
        return [comparing_all.NO_SEED]

    def signs(self) -> list[str]:
        """The meaning of each sign, one sentence each."""
        found = [one for row in self.rows for one in row.differences.values() if one]
        fewest = min((row.seeds for row in self.rows), default=comparing_all.FEW_SEEDS)
        few = {metric.title for row in self.rows for metric in self.metrics if row.few(metric)}
        least = ", ".join(
            f"{max(metric.least, comparing_all.FEW_FLOWS)} for {metric.title}"
            for metric in self.metrics
            if metric.title in few
        )
        each = {
            f"{NOT_SIGNIFICANT}: the 95 % interval contains zero.": any(one.vague for one in found),
            f"{SIGNIFICANT}: significant at 5 % after Holm's correction for all differences at a point (up to"
            f" {self.family}). p: after this correction.": self.family > 0,
            f"{LEFT_OUT}: flows did not finish; the side with more of them is never called the better one.": any(
                any(one.unfinished) for one in found
            ),
            FIXED: any(one.change.is_fixed for one in found),
            f"{FEW}: of few flows (fewer compared in a run than {least}).": bool(few),
            f"{comparing_all.FEW}: {comparing_all.few_seeds(fewest, self.family)}": fewest < comparing_all.FEW_SEEDS,
        }
        return [text for text, shown in each.items() if shown]

    def frame(self) -> pl.DataFrame:
        """One row per group, metric and pair; see `weft.Results.pairs`."""
        import polars as pl

        numbers = ("diff", "ratio")
        kinds: dict[str, Any] = {f"{name}{end}": pl.Float64 for name in numbers for end in ("", "_low", "_high")}
        kinds |= {"p": pl.Float64, "p_adjusted": pl.Float64, "significant": pl.Boolean}
        records = [
            {
                **{column(key): value for key, value in row.group.items()},
                "metric": metric.key,
                "scheme": row.scheme,
                "other": row.other,
                "seeds": row.seeds,
                "flows": float(row.shared.flows),
                **_numbers("diff", found.absolute if found else None),
                **_numbers("ratio", found.ratio if found else None),
                "p": found.p if found else None,
                "p_adjusted": found.adjusted if found else None,
                "significant": found.significant if found else None,
                "few_flows": row.few(metric),
            }
            for row in self.rows
            for metric in self.metrics
            for found in [row.differences[metric.key]]
        ]
        if records:
            return pl.DataFrame(records, schema_overrides=kinds, infer_schema_length=None)
        names = [*(column(key) for key in self.by if key != "scheme"), "metric", "scheme", "other"]
        counts = {"seeds": pl.Int64, "flows": pl.Float64}
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String) | counts | kinds | {"few_flows": pl.Boolean})

    def as_dict(self) -> dict[str, Any]:
        """The table as plain data for JSON."""
        return {
            "by": self.by,
            "same_flows": self.same_flows,
            "tests": self.family,
            "unsteady": [group | {"mark": mark.as_dict()} for group, mark in self.marks],
            "rows": [
                {
                    **row.group,
                    "scheme": row.scheme,
                    "other": row.other,
                    "seeds": row.seeds,
                    "compared": asdict(row.shared),
                    "metrics": {
                        metric.key: {
                            "difference": _plain(found.absolute if found else None),
                            "ratio": _plain(found.ratio if found else None),
                            "p": found.p if found else None,
                            "p_adjusted": found.adjusted if found else None,
                            "significant": found.significant if found else None,
                            "few_flows": row.few(metric),
                        }
                        for metric in self.metrics
                        for found in [row.differences[metric.key]]
                    },
                }
                for row in self.rows
            ],
        }


def _plain(value: Estimate | None) -> dict[str, float | None]:
    return value.as_dict() if value else {"mean": None, "low": None, "high": None}


def _numbers(name: str, value: Estimate | None) -> dict[str, float | None]:
    mean, low, high = _plain(value).values()
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def all_pairs(
    results: Runs,
    *,
    by: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
) -> PairTable:
    """Compare every two schemes in each group of flows.

    Args:
        results: The results.
        by: Columns to group by, with the scheme; default all swept keys, the class and the scheme.
        metrics: Keys of metrics; default all. Fewer metrics are fewer tests to correct for.
        baseline: A value of a swept key, whose values are then compared; see `weft.runs.Runs.comparing`.

    Raises:
        ResultsError: A column, metric or the baseline is unknown, or there are fewer than two schemes or seeds.
    """
    results = comparing_all.compared(results, baseline)
    shown, keys = comparing_all.chosen(metrics), comparing_all.columns(results, by)
    grouped = GroupedRuns(results, keys)
    schemes: dict[Group, list[str]] = {}
    for group in grouped.groups:
        # The scheme's place is empty.
        schemes.setdefault(grouped.with_scheme(group, ""), []).append(str(grouped.named(group)["scheme"]))
    pairs: dict[Group, list[Pair]] = {}
    for group, names in schemes.items():
        for other, scheme in combinations([name for name in results.schemes if name in names], 2):
            found = grouped.pairs(grouped.with_scheme(group, scheme), grouped.with_scheme(group, other))
            if found:
                pairs[*group, scheme, other] = found
    rows = []
    for (*place, scheme, other), matches in matched(results, pairs, by_class="class" in keys).items():
        of = {key: value for key, value in grouped.named(tuple(place)).items() if key != "scheme"}
        seeds = len({match.own["seed"] for match in matches})
        least = min(match.flows for match in matches)
        rows.append(PairRow(of, scheme, other, seeds, least, shared(matches), differences(matches, shown)))
    points: dict[tuple[Any, ...], list[dict[str, Difference | None]]] = {}
    for row in rows:
        lead = tuple(value for key, value in row.group.items() if key != "class")
        points.setdefault(lead, []).append(row.differences)
    return PairTable(
        by=keys,
        metrics=shown,
        rows=rows,
        same_flows=same_flows_of(results),
        family=max((corrected(family) for family in points.values()), default=0),
        groups=len(grouped.groups),
        marks=[(grouped.named(group), mark) for group in grouped.groups if (mark := grouped.mark(group))],
    )
