"""Matches runs with those of the baseline: the runs compared, and the flows compared in them."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .metrics import OF_FINISHED
from .runs import Runs

Record = dict[str, Any]
"""A run in a group of flows: `run`, `seed`, `flows`, `finished`, the metrics and the columns to group by."""
Group = tuple[Any, ...]
"""The values of the columns to group by."""
Pair = tuple[Record, Record]
"""A run, and the baseline's run with the same seed at the same point."""

_WAIT = re.compile(r"\bafter_(received|acknowledged)\b")
"""The keys by which listed flows wait for others."""


@dataclass(frozen=True)
class Match:
    """A pair with the values that are compared, and the number of flows of which they are.

    Runs of `unlike_flows` have no values of finished flows here.
    """

    own: Record
    baseline: Record
    flows: int


def same_flows_of(results: Runs) -> bool:
    """Whether all runs of a seed at a point have the same measured flows.

    True of sweeps over schemes alone, unless flows that wait for others start after the window under some schemes.
    """
    found: dict[tuple[int, str], set[Hashable]] = {}
    identities = _identities(results)
    for run in results.finished:
        if run.id in identities:
            found.setdefault((run.seed, run.point), set()).add(identities[run.id])
    return all(len(different) == 1 for different in found.values())


def _identities(results: Runs) -> dict[str, Hashable]:
    """For each run, the condition that selects its measured flows; none for a run without flows.

    If some of its flows wait for others, their starts depend on the scheme: then the settings of the traffic that the
    sweep changes stand for the starts.
    """
    heads, runs = results.heads(), {run.id: run for run in results.finished}
    lists: dict[Path, bool] = {}
    found: dict[str, Hashable] = {}
    for ident, timed, untimed in results.aggregates.whole().select("run", "identity", "untimed").iter_rows():
        run = runs[ident]
        file = run.path.parent.parent / "scenario.toml"
        if file not in lists:
            lists[file] = (
                file.is_file() and _WAIT.search(file.read_text(encoding="utf-8", errors="replace")) is not None
            )
        waits = lists[file] or bool(heads[ident].get("collectives"))
        traffic = sorted((key, repr(value)) for key, value in run.overrides.items() if key.startswith("traffic"))
        found[ident] = (untimed, *traffic) if waits else timed
    return found


def unlike_flows(results: Runs) -> Callable[[Pair], bool]:
    """Whether the collectives of both runs send the same data as different flows.

    On connections that stay open, all that a rank sends around a ring is one flow, else each message is one: then flows
    of the two runs are different things, and neither their completion times nor their throughputs can be compared.
    """
    heads, runs = results.heads(), {run.id: run for run in results.finished}

    def form(ident: str) -> tuple[Hashable, Hashable] | None:
        head = heads[ident]
        if not head.get("collectives"):
            return None
        settings = (repr(value) for key, value in sorted(runs[ident].overrides.items()) if key.startswith("traffic"))
        return (runs[ident].seed, *settings), tuple(group["flows"] for group in head["traffic"].get("groups", ()))

    forms = {ident: form(ident) for ident in runs}

    def differ(pair: Pair) -> bool:
        own, other = (forms[record["run"]] for record in pair)
        return own is not None and other is not None and own[0] == other[0] and own[1] != other[1]

    return differ


def matched(results: Runs, pairs: Mapping[Group, Sequence[Pair]], *, by_class: bool) -> dict[Group, list[Match]]:
    """Each pair of records with the values that are compared."""
    from .shared_flows import SIDES, over_shared

    identities = _identities(results)
    wanted = {
        (own["run"], other["run"])
        for listed in pairs.values()
        for own, other in listed
        if identities[own["run"]] == identities[other["run"]]
        and (own["finished"] < own["flows"] or other["finished"] < other["flows"])
    }
    shared = over_shared(results, sorted(wanted), by_class=by_class)
    are_unlike = unlike_flows(results)
    none = {metric.key: None for metric in OF_FINISHED}

    def match(own: Record, other: Record) -> Match:
        runs = own["run"], other["run"]
        if are_unlike((own, other)):
            return Match(own | none, other | none, 0)
        if runs not in wanted:
            return Match(own, other, own["finished"])
        values = shared.get((runs, own.get("class")), {})
        sides = [
            record | {metric.key: values.get(f"{side}_{metric.key}") for metric in OF_FINISHED}
            for side, record in zip(SIDES, (own, other), strict=True)
        ]
        return Match(sides[0], sides[1], values.get("flows", 0))

    return {group: [match(own, other) for own, other in listed] for group, listed in pairs.items()}


def over_seeds(matches: Sequence[Match], count: Callable[[Match], float]) -> float:
    """A count over all seeds; of several runs of a seed, the mean."""
    counts: dict[int, list[float]] = {}
    for match in matches:
        counts.setdefault(match.own["seed"], []).append(count(match))
    return round(sum(sum(found) / len(found) for found in counts.values()), 6)


def alike(matches: Sequence[Match], key: str) -> tuple[dict[int, float], dict[int, float]]:
    """Both sides' means for each seed, over the points at which both have a value."""
    both: dict[int, list[tuple[float, float]]] = {}
    for match in matches:
        one, other = match.own[key], match.baseline[key]
        if one is not None and other is not None:
            both.setdefault(match.own["seed"], []).append((one, other))
    means = {seed: [sum(side) / len(pairs) for side in zip(*pairs, strict=True)] for seed, pairs in both.items()}
    return {seed: mean for seed, (mean, _) in means.items()}, {seed: mean for seed, (_, mean) in means.items()}
