"""A comparison that a notebook shows as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import quantity
from .difference import FEW
from .html_table import dim, judged, notes, table
from .labels import plural, short_key, show
from .markup import escape
from .metrics import Metric
from .runs import Runs
from .statistics import has_intervals
from .summary import summarise
from .summary_note import note
from .summary_table import Row, Summary


@dataclass(frozen=True)
class Comparison(Summary):
    """Means over seeds with 95 % intervals, and paired differences from the baseline.

    Attributes:
        by: The columns of groups: swept keys, class, scheme.
        baseline: The scheme that others are compared with, if any.
        rows: One for each group.
    """

    def __repr__(self) -> str:
        against = f", compared with {self.baseline}" if self.baseline is not None else ""
        return f"Comparison({plural(len(self.rows), 'group')} by {', '.join(self.by)}{against})"

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        if not self.rows:
            return "<div>No flow started in the measurement window, so there is nothing to compare.</div>"
        metrics = [metric for metric in self.metrics if any(_tells(row, metric) for row in self.rows)]
        heads = [short_key(key, self.by).capitalize() for key in self.by]
        heads += ["Flows per run", *(metric.title for metric in metrics)]
        rows = [[*_group(row, self.by), _flows(row), *_cells(row, metrics)] for row in self.rows]
        return table(heads, rows, len(self.by)) + notes([*self.unsteady(), note(self)])


def compared(results: Runs, *, by: Sequence[str] | None = None, baseline: str | None = None) -> Comparison:
    """The comparison of `weft.summary.summarise`, for a notebook."""
    return Comparison(**vars(summarise(results, by=by, baseline=baseline)))


def _tells(row: Row, metric: Metric) -> bool:
    found = row.estimates[metric.key]
    return found is not None and found.mean != 0


def _group(row: Row, by: Sequence[str]) -> list[str]:
    return [escape(show(row.group[key])) for key in by]


def _flows(row: Row) -> str:
    text = quantity.count(row.per_run(row.flows))
    unfinished = row.flows - row.finished
    return text + (f"<br>{dim(f'{quantity.count(row.per_run(unfinished))} unfinished')}" if unfinished else "")


def _cells(row: Row, metrics: Sequence[Metric]) -> list[str]:
    if row.mark is not None:
        return [dim(row.mark.label)] * len(metrics)
    lined = has_intervals(row.estimates[metric.key] for metric in metrics)
    return [_cell(row, metric, lined) for metric in metrics]


def _cell(row: Row, metric: Metric, lined: bool) -> str:
    value = row.estimates[metric.key]
    if value is None:
        return quantity.MISSING
    number, half = quantity.parts(metric.kind, value.mean, value.plus_minus)
    parts = [escape(number + (FEW if row.few(metric) else ""))]
    found = row.differences.get(metric.key)
    if half or (lined and found is not None):
        parts.append(dim(half))
    if found is not None:
        parts.append(judged(found.text(metric.kind), found.verdict(metric.better)))
    return "<br>".join(parts)
