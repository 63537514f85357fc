"""The runs of each group of flows of a comparison, in the order of the sweep."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from . import steadiness
from .labels import column
from .matching import Group, Pair, Record
from .runs import Runs
from .steadiness import Mark


class GroupedRuns:
    """Runs by the values of some columns.

    Args:
        results: The results.
        keys: The columns, as of `weft.grouping.group_keys`.
        runs: One record per group and run; default computed from the rows of flows.
    """

    def __init__(self, results: Runs, keys: Sequence[str], runs: Sequence[Record] | None = None) -> None:
        self.keys = list(keys)
        self._results = results
        self._marks = steadiness.marks(results, [key for key in keys if key != "class"])
        self.records, self.over_seeds = _computed(results, keys) if runs is None else (list(runs), list(runs))
        """One record per group and run, and one per group and seed."""

    @cached_property
    def places(self) -> dict[Group, dict[tuple[int, str], Record]]:
        """The runs of each group by seed and point."""
        points = {run.id: run.point for run in self._results.finished}
        found: dict[Group, dict[tuple[int, str], Record]] = {}
        for record in self.records:
            found.setdefault(self._group(record), {})[record["seed"], points[record["run"]]] = record
        return found

    @cached_property
    def seeds(self) -> dict[Group, dict[int, Record]]:
        """The values of each group by seed."""
        found: dict[Group, dict[int, Record]] = {}
        for record in self.over_seeds:
            found.setdefault(self._group(record), {})[record["seed"]] = record
        return found

    @cached_property
    def groups(self) -> list[Group]:
        """The groups in the order of the sweep; the usual classes by size."""
        order = _sweep_order(self._results, self.keys)
        return sorted(self.seeds, key=lambda v: tuple(order[key](x) for key, x in zip(self.keys, v, strict=True)))

    def _group(self, record: Record) -> Group:
        return tuple(record[key] for key in self.keys)

    def named(self, group: Group) -> dict[str, Any]:
        """The values of a group by column."""
        return dict(zip(self.keys, group, strict=True))

    def with_scheme(self, group: Group, scheme: str) -> Group:
        """The group with the same values under another scheme."""
        return tuple(scheme if key == "scheme" else value for key, value in self.named(group).items())

    def mark(self, group: Group) -> Mark | None:
        """The mark of a group; None if its means count."""
        return self._marks.get(tuple(value for key, value in self.named(group).items() if key != "class"))

    def pairs(self, own: Group, other: Group) -> list[Pair]:
        """The runs of two groups with the same seed at the same point; none if a group is marked."""
        if self.mark(own) or self.mark(other):
            return []
        others = self.places.get(other, {})
        return [(record, others[at]) for at, record in self.places.get(own, {}).items() if at in others]


def _computed(results: Runs, keys: Sequence[str]) -> tuple[list[Record], list[Record]]:
    """One record per group and run, and one per group and seed, from the rows of flows."""
    from .group_values import over_runs, per_run

    runs = per_run(results, keys)
    return list(runs.iter_rows(named=True)), list(over_runs(runs, keys).iter_rows(named=True))


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
