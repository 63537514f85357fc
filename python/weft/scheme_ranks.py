"""Ranks of schemes by class and metric, over all seeds and points, with the groups that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from . import comparing_all
from .grouped_runs import GroupedRuns
from .grouping import group_keys
from .labels import column, plural
from .matching import Group, Match, Pair, matched
from .metrics import Metric
from .ranking import Block, Contest, Duel, Two, contest, groups, letters, told_apart
from .runs import Runs
from .statistics import holm
from .steadiness import lines
from .summary_table import NO_FLOWS

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Ranking:
    """The ranks of schemes in a group of flows by one metric."""

    group: dict[str, Any]
    """The values of the columns to group by, without the scheme."""
    metric: Metric
    contest: Contest
    adjusted: dict[Two, float]
    """The p-value of each pair after the correction."""

    @property
    def schemes(self) -> list[str]:
        """The schemes, best first."""
        return list(self.contest.ranks)

    @property
    def groups(self) -> list[list[str]]:
        """The groups of schemes that cannot be told apart; a scheme may be in several."""
        return groups(self.schemes, told_apart(self.contest, self.adjusted))

    @property
    def letters(self) -> dict[str, str]:
        """The letters of each scheme's groups."""
        return letters(self.schemes, self.groups)


@dataclass(frozen=True)
class RankTable:
    """The ranks of schemes."""

    by: list[str]
    metrics: list[Metric]
    rankings: list[Ranking]
    family: int
    """Pairs of all rankings, for whose number the p-values are adjusted."""
    left_out: list[str]
    """The schemes and points that are in no ranking, and the reason: a sentence each."""
    groups: int
    """Groups of flows under a scheme, with those that are not ranked."""
    unsteady: list[str]
    """The groups that were not in a steady state, with the remedies: a line each."""

    def cautions(self) -> list[str]:
        """Why schemes, points or all ranks are missing, and remedies: a sentence each; empty if none is."""
        if not self.groups:
            return [NO_FLOWS]
        if self.rankings or self.left_out:
            return [*self.left_out, *self.unsteady]
        return [comparing_all.NO_SEED]

    def find(self, group: dict[str, Any], metric: Metric) -> Ranking | None:
        """The ranking of a group by a metric, if there is one."""
        found = (one for one in self.rankings if one.group == group and one.metric == metric)
        return next(found, None)

    def notes(self) -> list[str]:
        """The meaning of the numbers, one sentence each."""
        if not self.rankings:
            return self.left_out
        blocks = sorted({one.contest.blocks for one in self.rankings})
        seeds = min(one.contest.seeds for one in self.rankings)
        number = f"{blocks[0]} to {blocks[-1]}" if len(blocks) > 1 else str(blocks[0])
        tests = plural(self.family, "pair")
        few = [f"Caution, {comparing_all.few_seeds(seeds, self.family)}"] if seeds < comparing_all.FEW_SEEDS else []
        return [
            f"Mean ranks over {number} blocks (a seed at a point of the sweep); 1 is the best.",
            f"Schemes with a common letter cannot be told apart at 5 % (Student's paired t test over seeds, Holm's"
            f" correction for {tests} of all classes and metrics).",
            *(
                ["A pair whose better side left more flows unfinished is not told apart; in a block, it is a tie."]
                if any(one.contest.undecided for one in self.rankings)
                else []
            ),
            *few,
            *self.left_out,
        ]

    def frame(self) -> pl.DataFrame:
        """One row per group, metric and scheme; see `weft.Results.ranks`."""
        import polars as pl

        records = [
            {
                **{column(key): value for key, value in one.group.items()},
                "metric": one.metric.key,
                "scheme": scheme,
                "rank": rank,
                "groups": one.letters[scheme],
                "blocks": one.contest.blocks,
                "seeds": one.contest.seeds,
                "friedman_p": one.contest.overall,
            }
            for one in self.rankings
            for scheme, rank in one.contest.ranks.items()
        ]
        if records:
            return pl.DataFrame(records, schema_overrides={"friedman_p": pl.Float64}, infer_schema_length=None)
        names = [*(column(key) for key in self.by if key != "scheme"), "metric", "scheme", "groups"]
        numbers: dict[str, Any] = {"rank": pl.Float64, "blocks": pl.Int64, "seeds": pl.Int64, "friedman_p": pl.Float64}
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String) | numbers)

    def as_dict(self) -> dict[str, Any]:
        """The table as plain data for JSON."""
        return {
            "by": self.by,
            "tests": self.family,
            "left_out": self.left_out,
            "rankings": [
                {
                    **one.group,
                    "metric": one.metric.key,
                    "blocks": one.contest.blocks,
                    "seeds": one.contest.seeds,
                    "friedman_p": one.contest.overall,
                    "ranks": one.contest.ranks,
                    "groups": one.groups,
                    "p_adjusted": [
                        {"scheme": own, "other": other, "p_adjusted": p} for (own, other), p in one.adjusted.items()
                    ],
                }
                for one in self.rankings
            ],
        }


def ranked(
    results: Runs,
    *,
    by: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
) -> RankTable:
    """Rank the schemes in each group of flows.

    Args:
        results: The results.
        by: Columns to group by, with the scheme; default the class and the scheme. Other swept keys make blocks.
        metrics: Keys of metrics; default all. Fewer metrics are fewer tests to correct for.
        baseline: A value of a swept key, whose values are then compared; see `weft.runs.Runs.comparing`.

    Raises:
        ResultsError: A column, metric or the baseline is unknown, or there are fewer than two schemes or seeds.
    """
    results = comparing_all.compared(results, baseline)
    shown = comparing_all.chosen(metrics)
    keys = comparing_all.columns(results, ["class", "scheme"] if by is None else by)
    places = [key for key in (*results.dimensions, "point") if key not in keys]
    grouped = GroupedRuns(results, group_keys(results, [*places, *keys]))
    field = _Field(results, grouped, [key for key in keys if key != "scheme"])
    contests = [
        (group, metric, found)
        for group, pairs in field.matches().items()
        for metric in shown
        if (found := contest(field.schemes[group], _duels(pairs, metric), metric.better, metric.kind)) is not None
    ]
    tests = [(at, pair, p) for at, (_, _, found) in enumerate(contests) for pair, p in found.tests.items()]
    adjusted: list[dict[Two, float]] = [{} for _ in contests]
    for (at, pair, _), p in zip(tests, holm([p for _, _, p in tests]), strict=True):
        adjusted[at][pair] = p
    lead = [key for key in keys if key != "scheme"]
    rankings = [
        Ranking(dict(zip(lead, group, strict=True)), metric, found, own)
        for (group, metric, found), own in zip(contests, adjusted, strict=True)
    ]
    named = [key for key in grouped.keys if key != "point"]
    unsteady = lines(named, ((grouped.named(group), grouped.mark(group)) for group in grouped.groups))
    return RankTable(keys, shown, rankings, len(tests), field.left_out, len(grouped.groups), unsteady)


class _Field:
    """The schemes that can be ranked in each group, and the points at which all of them have values that count."""

    def __init__(self, results: Runs, grouped: GroupedRuns, lead: Sequence[str]) -> None:
        self._results, self._grouped = results, grouped
        cells: dict[Group, dict[Group, dict[str, bool]]] = {}
        for cell in grouped.groups:
            named = grouped.named(cell)
            group = tuple(named[key] for key in lead)
            of_place = cells.setdefault(group, {}).setdefault(grouped.with_scheme(cell, ""), {})
            of_place[str(named["scheme"])] = grouped.mark(cell) is None
        self.schemes: dict[Group, list[str]] = {}
        self._places: dict[Group, list[Group]] = {}
        reasons: dict[str, None] = {}
        for group, of_group in cells.items():
            counting = {name for of_place in of_group.values() for name, counts in of_place.items() if counts}
            self.schemes[group] = [name for name in results.schemes if name in counting]
            self._places[group] = [
                place
                for place, of_place in of_group.items()
                if all(of_place.get(name, False) for name in self.schemes[group])
            ]
            for name in results.schemes:
                if name not in counting:
                    reasons[f"{name} is not ranked: at no point was it in a steady state with flows that count."] = None
            for place, of_place in of_group.items():
                if place not in self._places[group]:
                    reasons[self._reason(place, of_place, self.schemes[group])] = None
        self.left_out = list(reasons)

    def _reason(self, place: Group, of_place: dict[str, bool], schemes: Sequence[str]) -> str:
        """The sentence about a point that is left out."""
        missing = [name for name in schemes if not of_place.get(name, False)]
        point = self._grouped.named(place).get("point") or "The only point"
        return f"{point} is left out: no values that count, or no steady state, under {', '.join(missing)}."

    def matches(self) -> dict[Group, dict[tuple[Group, Two], list[Match]]]:
        """The matched runs of every two schemes by place, in each group with two schemes or more."""
        pairs: dict[Group, list[Pair]] = {}
        owners: dict[Group, tuple[Group, tuple[Group, Two]]] = {}
        for group, places in self._places.items():
            for place in places:
                for own, other in combinations(self.schemes[group], 2):
                    key = (*place, own, other)
                    sides = (self._grouped.with_scheme(place, name) for name in (own, other))
                    pairs[key] = self._grouped.pairs(*sides)
                    owners[key] = group, (place, (own, other))
        found: dict[Group, dict[tuple[Group, Two], list[Match]]] = {}
        for key, matches in matched(self._results, pairs, by_class="class" in self._grouped.keys).items():
            group, of = owners[key]
            found.setdefault(group, {})[of] = matches
        return found


def _duels(pairs: dict[tuple[Group, Two], list[Match]], metric: Metric) -> dict[Block, dict[Two, Duel]]:
    """The values of every two schemes by block, as far as both have one."""
    found: dict[Block, dict[Two, Duel]] = {}
    for (place, pair), matches in pairs.items():
        for match in matches:
            own, other = match.own[metric.key], match.baseline[metric.key]
            if own is None or other is None:
                continue
            left = (
                side["flows"] - side["finished"] if metric.of_finished else 0 for side in (match.own, match.baseline)
            )
            found.setdefault((match.own["seed"], place), {})[pair] = Duel(own, other, *left)
    return found
