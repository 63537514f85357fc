"""The comparison table: means, intervals and paired differences by group of flows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .difference import ALL_FIXED, FEW, FIXED, LEFT_OUT, NOT_SIGNIFICANT, SIGNIFICANT, Difference
from .labels import column
from .matched_differences import Shared
from .metrics import METRIC_KEYS, METRICS, Metric
from .statistics import Estimate
from .steadiness import Mark, lines

if TYPE_CHECKING:
    import polars as pl


NO_FLOWS = (
    "No flow started in the measurement window, so there is nothing to compare: set `measure.window`"
    " to a time at which flows start, or raise `run.duration`."
)


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
    """How each metric differs from the baseline's; empty without a baseline or if one side is marked."""
    least: int = 0
    """Finished flows of the run with the fewest, of those with any."""
    shared: Shared | None = None
    """The flows of the differences; None without differences."""
    mark: Mark | None = None
    """Why its means say nothing, if its runs were not in a steady state."""

    def few(self, metric: Metric) -> bool:
        """Whether a quantile is over so few flows that it lies between their two largest values."""
        return self.mark is None and self.estimates[metric.key] is not None and self.least < metric.least

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
    """Whether runs that are compared have the same flows; else only their seed is the same, or nothing is compared."""
    family: int
    """Differences at a point for whose number their p-values are adjusted; the largest of all points."""
    without_flows: list[str]
    """The finished points without any measured flow."""
    unlike: tuple[str, ...] = ()
    """The schemes whose collectives send the baseline's data as other flows (`weft.matching.unlike_flows`)."""

    @property
    def metrics(self) -> list[Metric]:
        """The metrics to show: rare ones only if some group has enough flows for them."""
        most = max((row.least for row in self.rows), default=0)
        return [metric for metric in METRICS if not metric.rare or most >= metric.least]

    @property
    def _known(self) -> list[Estimate]:
        """The means and differences that are shown."""
        rows = [row for row in self.rows if row.mark is None]
        means = [row.estimates[metric.key] for row in rows for metric in self.metrics]
        changes = [one.change for row in rows for one in row.differences.values() if one]
        return [one for one in [*means, *changes] if one is not None]

    @property
    def is_fixed(self) -> bool:
        """Whether all of several seeds gave the same values."""
        return bool(self._known) and all(one.is_fixed for one in self._known)

    def signs(self) -> list[str]:
        """The meaning of each sign after a number of the table, one sentence each."""
        found = [one for row in self.rows for one in row.differences.values() if one]
        few = {metric.title: metric.least for row in self.rows for metric in self.metrics if row.few(metric)}
        counted = (
            "only flows that finished under both count"
            if self.same_flows
            else "flows did not finish; each side's finished flows count, as flows may differ"
        )
        each = {
            f"{NOT_SIGNIFICANT}: the 95 % interval contains zero.": any(one.vague for one in found),
            f"{SIGNIFICANT}: significant at 5 % after Holm's correction for all differences at a point (up to"
            f" {self.family}); without {SIGNIFICANT}, it may be chance.": self.family > 0 and not self.is_fixed,
            f"{LEFT_OUT}: {counted}; the side with more unfinished flows is never called the better one. Unfinished:"
            " the scheme's/the baseline's.": any(any(one.unfinished) for one in found),
            f"{FEW}: of so few flows that it lies between their two largest values (fewer finished in a run than"
            f" {', '.join(f'{least} for {title}' for title, least in few.items())}).": bool(few),
            ALL_FIXED if self.is_fixed else FIXED: any(one.is_fixed for one in self._known),
        }
        return [text for text, shown in each.items() if shown]

    def unsteady(self) -> list[str]:
        """One line for each marked group: its values and the reason; groups that differ in their class only are one."""
        return lines(self.by, ((row.group, row.mark) for row in self.rows))

    def without_means(self) -> list[str]:
        """Why there is no mean to show, one sentence and the reasons; empty unless all groups are marked."""
        if not self.rows or any(row.mark is None for row in self.rows):
            return []
        return ["No point was in a steady state, so there are no means to show.", *self.unsteady()]

    def cautions(self) -> list[str]:
        """Why means, intervals or differences are missing, and remedies: a sentence each; empty if none is."""
        if not self.rows:
            return [NO_FLOWS]
        found = [f"{line}. There is no mean and no difference from these runs." for line in self.unsteady()]
        found += self.without_differences()
        counting = [row for row in self.rows if row.mark is None]
        if self.baseline is None or not counting:
            return found
        if len({row.group["scheme"] for row in self.rows}) < 2:
            found.append(f"Only {self.baseline} has runs, so there is nothing to compare with it: sweep `scheme.name`.")
        elif max(len(row.seeds) for row in counting) < 2:
            found.append(
                "One seed: intervals and p-values are null. Run with 5 seeds or more (`seeds=5`, `--seeds 5`)."
            )
        elif not found and not any(row.differences for row in self.rows):
            found.append(
                f"No scheme has a run of the same seed as {self.baseline} at one point: give all the same seeds."
            )
        return found

    def without_differences(self) -> list[str]:
        """Why completion times and the like are not compared, a sentence; empty if they are."""
        if not self.unlike:
            return []
        return [
            f"Not compared with {self.baseline}: completion times, slowdowns and throughputs of flows under"
            f" {', '.join(self.unlike)}, whose collectives consist of other flows: on connections that stay open, all"
            " that a rank sends around a ring is one flow, else each message is one. Compare the times of collectives,"
            ' or set connections = "persistent" in [traffic] for all.'
        ]

    def frame(self) -> pl.DataFrame:
        """The summary as a wide table: for each metric `<key>`, `<key>_low` and `<key>_high`.

        With a baseline also the paired difference, `<key>_diff…`, and the ratio, `<key>_ratio…`.
        """
        import polars as pl

        records = []
        for row in self.rows:
            record: dict[str, Any] = {column(key): value for key, value in row.group.items()}
            record |= {"seeds": len(row.seeds), "flows": row.flows, "finished": row.finished}
            if self.baseline is not None:
                record["compared"] = None if row.shared is None else float(row.shared.flows)
                record["baseline_unfinished"] = None if row.shared is None else float(row.shared.baseline_unfinished)
            record |= {"mark": None if row.mark is None else row.mark.label}
            for metric in METRICS:
                record |= _columns(metric.key, row.estimates[metric.key])
                if self.baseline is not None:
                    found = row.differences.get(metric.key)
                    record[f"{metric.key}_p"] = found.adjusted if found else None
                    record |= _columns(f"{metric.key}_diff", found.absolute if found else None)
                    record |= _columns(f"{metric.key}_ratio", found.ratio if found else None)
            records.append(record)
        kinds: dict[str, Any] = {
            name: pl.Float64 for record in records for name in record if name.startswith(METRIC_KEYS)
        }
        return pl.DataFrame(records, schema_overrides=kinds | {"mark": pl.String}, infer_schema_length=None)

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain data for JSON."""
        return {
            "by": self.by,
            "baseline": self.baseline,
            "same_flows": self.same_flows,
            "several_runs": self.several_runs,
            "unlike": list(self.unlike),
            "without_flows": self.without_flows,
            "rows": [
                {
                    **row.group,
                    "seeds": row.seeds,
                    "flows": row.flows,
                    "finished": row.finished,
                    **({"compared": asdict(row.shared)} if row.shared else {}),
                    "mark": None if row.mark is None else row.mark.as_dict(),
                    "metrics": {
                        metric.key: _interval(row.estimates[metric.key])
                        | ({} if metric.quantile is None else {"few_flows": row.few(metric)})
                        | _compared(row, metric.key)
                        for metric in METRICS
                    },
                }
                for row in self.rows
            ],
        }


def _compared(row: Row, key: str) -> dict[str, Any]:
    """How a metric differs from the baseline's, as plain data; empty without a baseline."""
    found = row.differences.get(key)
    absolute, ratio = (found.absolute, found.ratio) if found else (None, None)
    if not row.differences:
        return {}
    p, adjusted = (found.p, found.adjusted) if found else (None, None)
    return {"difference": _interval(absolute), "ratio": _interval(ratio), "p": p, "p_adjusted": adjusted}


def _columns(key: str, value: Estimate | None) -> dict[str, float | None]:
    mean, low, high = _interval(value).values()
    return {key: mean, f"{key}_low": low, f"{key}_high": high}


def _interval(value: Estimate | None) -> dict[str, float | None]:
    return value.as_dict() if value else {"mean": None, "low": None, "high": None}
