"""Details of each point of the sweep, as parts of the page that are read when they are shown.

A part has the use of links, their series, or flows. Parts are bounded: with many points, parts of some are left out,
evenly over the sweep; the page names how many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from .. import drawing, extracts, run_ends
from ..cached_tables import ENTRY, Tables
from ..content import Content
from ..extracts_flows import Compared, Pair, PointFlows
from ..extracts_links import link_series, paired_differences
from ..markup import packed
from ..one_run import FLOWS, SERIES, SUMMARY
from ..run_events import events_of, text
from . import failures

_USE_CELLS, _SERIES_CELLS, _FLOW_CELLS = 500_000, 300_000, 250_000
"""Approximate number of values in all parts of a kind."""
_PAIR_CELLS = 150_000
"""Number of intervals of differences in all parts of the use of links; with more, none is kept."""
_OF_HALF = 0.5
"""Size of a half-width of an interval, see `_coarse`, relative to that of a value."""
_STEPS, _FEWEST_STEPS = 60, 10
"""Steps of the time axis of links."""
_MOST_FLOWS, _FEWEST_FLOWS = 400, 25
"""Flows of a class in the comparison of two schemes."""
LEVELS = 65_000
"""Steps of the logarithmic scale of completion times."""
_QUEUE_LEVELS = 2_000
"""Steps of the scale of queues over time."""
_FINE = 20
"""Half-widths of intervals are whole up to this; larger ones are exact to one part in twice as many."""
_APART = 0.1
"""Least distance of the interval of a significant difference from zero, in steps of the page's whole numbers."""


def spread(count: int, keep: int) -> list[int]:
    """At most `keep` of `count` places, evenly spread, with the first and the last."""
    if keep >= count:
        return list(range(count))
    if keep <= 1:
        return [0]
    return sorted({round(at * (count - 1) / (keep - 1)) for at in range(keep)})


class Details:
    """The parts of all points of a page's contents."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._shown = drawing.drawn_links(content.fabric)
        self.names = [(content.fabric.links[i].source, content.fabric.links[i].target) for i in self._shown]
        schemes, classes, points = len(content.schemes), len(content.classes), len(content.points)
        lines = len(self.names) * schemes
        sampled = round(lines * (1 + _OF_HALF)) if len(content.results.seeds) > 1 else lines
        self._steps = max(_FEWEST_STEPS, min(_STEPS, _SERIES_CELLS // max(sampled * points, 1)))
        self._each = max(_FEWEST_FLOWS, min(_MOST_FLOWS, _FLOW_CELLS // max(schemes * classes * points, 1)))
        self._detailed = 3 * lines * points <= _USE_CELLS
        self._paired = schemes * (schemes - 1) // 2 * len(self.names) * 2 * points <= _PAIR_CELLS
        self._use_at = self._kept(lines, _USE_CELLS)
        self._series_at = self._kept(sampled * self._steps, _SERIES_CELLS)
        cells = self._each * schemes * classes + 5 * classes * schemes**2
        self._flows_at = self._kept(cells, 2 * _FLOW_CELLS) if classes else []

    @property
    def number(self) -> int:
        """Number of parts; fewer are yielded where links were not sampled."""
        return len(self._use_at) + len(self._series_at) + len(self._flows_at)

    def _kept(self, cells: int, budget: int) -> list[int]:
        """The points with parts of `cells` values each."""
        return spread(len(self._content.points), budget // max(cells, 1))

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Each part, packed, with its id: ``use-0``, ``series-0``, ``flows-0`` for point 0."""
        for ident, part in self._use():
            yield ident, packed(part)
        links = [f"{source}->{target}" for source, target in self.names]
        settings = [links, self._steps, self._content.schemes, "down", "ended"]
        series = partial(self._series, links)
        yield from self._of_points("series", self._series_at, "links", settings, series, (SERIES, SUMMARY))
        settings = [self._content.classes, self._each, self.pairs_exist]
        yield from self._of_points("flows", self._flows_at, "pairs", settings, self._flows, (FLOWS,))

    def _of_points(
        self,
        kind: str,
        places: Sequence[int],
        name: str,
        settings: object,
        compute: Callable[[str], dict[str, Any] | None],
        files: Sequence[str],
    ) -> Iterator[tuple[str, bytes]]:
        """The parts of a kind; those of large results are kept, packed, in the aggregates' file of this name."""
        results = self._content.results
        points = [self._content.points[at] for at in places]
        if not points:
            return
        groups: dict[str, list[str]] = {point: [] for point in points}
        for run in results.finished:
            if run.point in groups:
                groups[run.point].append(run.id)

        def tables(some: Sequence[str]) -> Tables:
            found = {point: part for point in some if (part := compute(point)) is not None}
            schema = {ENTRY: pl.String, "part": pl.Binary}
            return {"parts": pl.DataFrame([list(found), [packed(part) for part in found.values()]], schema)}

        kept = results.aggregates.of_groups(name, groups, settings, tables, files)["parts"]
        place_of = dict(zip(points, places, strict=True))
        for point, part in kept.iter_rows():
            yield f"{kind}-{place_of[point]}", part

    def _use(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Utilisation (per mille) of each drawn link by scheme and, unless there are too many, drops and queues.

        Each with half-widths of intervals if there are several seeds; `pairs` has those of differences of two schemes.
        `ended` has the places of the links that are down at the end of the run because of its events.
        """
        content = self._content
        kept = {content.points[at]: at for at in self._use_at}
        order = pl.DataFrame(self.names, schema={"from": pl.String, "to": pl.String}, orient="row")
        use = extracts.link_use(content.results).filter(pl.col("point").is_in(list(kept)))
        shown = [one for one in _SHOWN if self._detailed or one.name == "utilisation"]
        runs = run_ends.links(content.results).partition_by("point", as_dict=True) if self._paired else {}
        for (point,), of_point in use.group_by("point", maintain_order=True):
            by_scheme: dict[str, Any] = {}
            for (scheme,), part in of_point.group_by("scheme", maintain_order=True):
                rows = order.join(part, on=["from", "to"], how="left", maintain_order="left")
                found: dict[str, Any] = {one.name: _whole(rows[one.column], one.scale) for one in shown}
                halves = {one.name: rows[f"{one.column}_half"] for one in shown}
                if any(half.count() for half in halves.values()):
                    found["half"] = {one.name: _coarse(_scaled(halves[one.name], one.scale)) for one in shown}
                by_scheme[str(scheme)] = found
            pairs = self._pairs(runs.get((point,)), shown, by_scheme)
            ended = failures.never_healed(events_of(content.results, str(point)), self.names)
            yield f"use-{kept[str(point)]}", {"schemes": by_scheme, "pairs": pairs, "ended": ended}

    def _pairs(
        self, runs: pl.DataFrame | None, shown: Sequence[_Shown], by_scheme: Mapping[str, Any]
    ) -> list[list[Any]]:
        """Pairs of schemes by place, with half-widths of the intervals of their differences in the drawn metrics.

        `more` has the whole numbers to be added to the differences of those in `by_scheme`, by link.
        """
        if runs is None:
            return []
        schemes = self._content.schemes
        drawn = [one for one in shown if one.drawn]
        differences = paired_differences(runs, schemes, self.names, [one.column for one in drawn])
        found: list[list[Any]] = []
        for pair, own in differences.items():
            part: dict[str, Any] = {"more": {}}
            for one in drawn:
                first, second = (np.array(by_scheme[name][one.name]) for name in pair)
                change, half = (values * one.scale for values in own[one.column])
                whole = _not_zero(first - second, change, half)
                part[one.name] = _coarse_beside(whole, np.abs(change) > half, half)
                more = whole - first + second
                if more.any():
                    part["more"][one.name] = {int(at): int(more[at]) for at in np.flatnonzero(more)}
            found.append([*(schemes.index(name) for name in pair), part])
        return found

    def _series(self, links: Sequence[str], point: str) -> dict[str, Any] | None:
        """Utilisation (per mille) and queue of each drawn link over time, by scheme, step by step; and the events.

        With half-widths of intervals for schemes with several seeds. None where no link was sampled.
        """
        found = link_series(self._content.results, point, links, self._steps)
        if found is None:
            return None
        most = max(float(own.mean.max()) for own in found.queue.values())
        unit = max(1, math.ceil(most / _QUEUE_LEVELS))
        scales = {"utilisation": (found.utilisation, 1000), "queue": (found.queue, 1 / unit)}
        return {
            "step": found.step_ps / 1e12,
            "unit": unit,
            "sampled": [
                int(any(bool(own.mean[i].any()) for own in found.utilisation.values())) for i in range(len(links))
            ],
            "events": self._events(point),
            "down": self._down(point, int(found.step_ps), next(iter(found.queue.values())).mean.shape[1]),
            **{
                name: {scheme: _stepwise(own.mean * scale).round().astype(int).tolist() for scheme, own in of.items()}
                for name, (of, scale) in scales.items()
            },
            "half": {
                name: {s: _coarse(_stepwise(own.half * scale)) for s, own in of.items() if own.half is not None}
                for name, (of, scale) in scales.items()
            },
        }

    def _events(self, point: str) -> list[dict[str, Any]]:
        """The events of a point: seconds in the run, and the change."""
        found: dict[tuple[float, str], None] = {}
        for event in events_of(self._content.results, point):
            found[(event["at_ps"] / 1e12, text(event))] = None
        return [{"at": at, "text": words} for at, words in found]

    def _down(self, point: str, step: int, steps: int) -> list[list[int]]:
        """When links are down: place of the link, first and last step."""
        return failures.steps(failures.intervals(events_of(self._content.results, point), self.names), step, steps)

    def _flows(self, point: str) -> dict[str, Any]:
        """The comparison of schemes flow by flow, and the slowest flows of each scheme and class."""
        flows = PointFlows(self._content.results, point, self._content.classes)
        part: dict[str, Any] = {"slowest": _records(flows.slowest())}
        if self.pairs_exist and flows.comparable:
            part |= _compared(flows.compared(), self._each)
        return part

    @cached_property
    def pairs_exist(self) -> bool:
        """The schemes have the same flows, so that they can be compared flow by flow."""
        return len(self._content.schemes) > 1 and self._content.summary.same_flows


@dataclass(frozen=True)
class _Shown:
    """A quantity of links in the measurement window, or in its part until all runs have ended."""

    name: str
    column: str
    """The columns of `extracts.link_use`."""
    scale: int
    """Steps of the page's whole numbers in one unit."""
    drawn: bool
    """Whether it can be the colour of a link."""


_SHOWN = (
    _Shown("utilisation", "utilisation", 1000, drawn=True),
    _Shown("drops", "drops", 10, drawn=False),
    _Shown("queue", "max_queue_bytes", 1, drawn=True),
)


def _scaled(values: pl.Series, scale: int) -> np.ndarray:
    return np.asarray(np.nan_to_num(values.cast(pl.Float64).to_numpy()) * scale)


def _whole(values: pl.Series, scale: int) -> list[int]:
    whole: list[int] = _scaled(values, scale).round().astype(np.int64).tolist()
    return whole


def _coarse(halves: np.ndarray) -> list[int]:
    """Half-widths of intervals as small whole numbers, which compress well: `widthOf` in ``links.js`` reads them."""
    coarse: list[int] = _level(halves).round().astype(np.int64).tolist()
    return coarse


def _level(halves: np.ndarray) -> np.ndarray:
    """The scale of `_coarse`: up to `_FINE` as it is, logarithmic above."""
    return np.where(halves > _FINE, _FINE + _FINE * np.log(np.maximum(halves, _FINE) / _FINE), halves)


def _width(levels: np.ndarray) -> np.ndarray:
    """The inverse of `_level`."""
    return np.where(levels > _FINE, _FINE * np.exp(np.maximum(levels, _FINE) / _FINE - 1), levels)


def _not_zero(shown: np.ndarray, change: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Whole differences, but with the sign of `change` where that is significant."""
    sign = np.sign(change).astype(np.int64)
    return np.where((np.abs(change) > half) & (np.sign(shown) != sign), sign, shown)


def _coarse_beside(change: np.ndarray, significant: np.ndarray, halves: np.ndarray) -> list[int]:
    """`_coarse`, rounded such that the interval around `change` excludes zero where the difference is significant."""
    levels, size = _level(halves).round(), np.abs(change)
    below = np.floor(_level(np.maximum(size - _APART, 0)))
    above = np.ceil(_level(size))
    levels = np.where(significant & (_width(levels) > size - _APART), below, levels)
    levels = np.where(~significant & (_width(levels) < size), above, levels)
    coarse: list[int] = levels.astype(np.int64).tolist()
    return coarse


def _stepwise(array: np.ndarray) -> np.ndarray:
    """Step after step, the values of all links."""
    return array.T.ravel()


def _records(table: pl.DataFrame) -> dict[str, list[Any]]:
    rounded = table.with_columns(pl.col(pl.Float64).round_sig_figs(5))
    return {name: rounded[name].to_list() for name in rounded.columns}


def _compared(found: Compared, each: int) -> dict[str, Any]:
    """A sample of the flows with completion times on a logarithmic scale (0: unfinished), and the pairs' counts."""
    places = found.sample(each)
    seconds = found.seconds[:, places]
    known = seconds[seconds > 0]
    low, high = (float(known.min()), float(known.max())) if known.size else (1.0, 1.0)
    span = math.log(high / low) or 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = np.rint(np.log(seconds / low) / span * (LEVELS - 1))
    levels = np.where(seconds > 0, 1 + steps, 0).astype(int)
    return {
        "schemes": found.schemes,
        "seed": found.seed[places].tolist(),
        "flow": found.flow[places].tolist(),
        "class": found.klass[places].tolist(),
        "low": low,
        "span": span,
        "fct": levels.tolist(),
        "total": len(found.flow),
        "pairs": [[i, j, [_numbers(pair) for pair in pairs]] for i, j, pairs in found.pairs()],
    }


def _numbers(pair: Pair) -> list[float | None]:
    ratio = pair.ratio
    ends = (None, None, None) if ratio is None else (ratio.mean, ratio.low, ratio.high)
    logs = [None if end is None else round(end, 5) for end in ends]
    return [pair.faster, pair.slower, pair.equal, pair.only_first, pair.only_second, *logs]


def coverage(idents: Sequence[str]) -> dict[str, list[int]]:
    """The points that have parts of each kind."""
    found: dict[str, list[int]] = {"use": [], "series": [], "flows": []}
    for ident in idents:
        kind, _, at = ident.partition("-")
        found[kind].append(int(at))
    return found
