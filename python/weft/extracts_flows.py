"""The flows of one point of a sweep: the same flow under each scheme, and the slowest flows of each class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from .one_run import FLOWS, files
from .results import Results
from .rows import flow_rows, numbered, of_runs
from .statistics import Estimate, estimate

SLOWEST = 10
"""Flows listed for each scheme and class, and the number of unfinished flows listed before them."""
_UNFINISHED = 3
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Pair:
    """Flows of one class under two schemes: numbers of flows, and the ratio of completion times."""

    faster: int
    """Flows that finished sooner under the first scheme."""
    slower: int
    equal: int
    only_first: int
    """Flows that finished only under the first scheme."""
    only_second: int
    ratio: Estimate | None
    """Geometric mean of (first / second) for flows that finished under both, over seeds, as a logarithm."""


class PointFlows:
    """The measured flows of a point of the sweep."""

    def __init__(self, results: Results, point: str, classes: Sequence[str]) -> None:
        self.classes = list(classes)
        self._runs = [run for run in results.finished if run.point == point]
        self.schemes = list(dict.fromkeys(run.scheme for run in self._runs))
        found = flow_rows(self._runs, "flow", "class", "fct_s", "slowdown")
        self._places = list(of_runs(found, len(self._runs)))
        self._flow = found["flow"].to_numpy()
        self._class = numbered(found["class"], self.classes)
        self._seconds = found["fct_s"].to_numpy()
        self._rank = found["slowdown"].fill_null(found["fct_s"]).fill_nan(float("inf")).to_numpy()

    @property
    def comparable(self) -> bool:
        """Whether each flow has a single row per scheme; those of Multipath TCP studies have one per subflow."""
        return all(len(np.unique(self._flow[own])) == own.stop - own.start for own in self._places)

    def compared(self) -> Compared:
        """The flows that are measured under all schemes of the point, in the order of seed and flow."""
        seeds, flows, classes, seconds = [], [], [], []
        for seed in sorted({run.seed for run in self._runs}):
            sides = [self._of(scheme, seed) for scheme in self.schemes]
            sides = [side[np.argsort(self._flow[side], kind="stable")] for side in sides]
            shared = self._flow[sides[0]]
            for side in sides[1:]:
                if not np.array_equal(shared, self._flow[side]):
                    shared = shared[np.isin(shared, self._flow[side])]
            rows = [side[np.searchsorted(self._flow[side], shared)] for side in sides]
            seeds.append(np.full(len(shared), seed))
            flows.append(shared)
            classes.append(self._class[rows[0]])
            seconds.append(np.stack([self._seconds[own] for own in rows]))
        return Compared(
            self.schemes,
            len(self.classes),
            np.concatenate(seeds),
            np.concatenate(flows),
            np.concatenate(classes),
            np.concatenate(seconds, axis=1),
        )

    def _of(self, scheme: str, seed: int | None = None) -> np.ndarray:
        """The rows of a scheme, of all seeds or one."""
        own = [
            np.arange(place.start, place.stop)
            for run, place in zip(self._runs, self._places, strict=True)
            if run.scheme == scheme and seed in (None, run.seed)
        ]
        return np.concatenate(own) if own else np.empty(0, dtype=np.int64)

    def slowest(self) -> pl.DataFrame:
        """For each scheme and class the slowest flows, by slowdown; a few unfinished ones come first.

        Columns: `run`, `flow`, `class`, `seed`, `src`, `dst`, `bytes`, `fct_s` (null if unfinished), `slowdown`, `path`
        (null if unknown), `explored` (null if unknown), `scheme`.
        """
        run_of = np.repeat(np.arange(len(self._runs)), [own.stop - own.start for own in self._places])
        seed_of = np.array([run.seed for run in self._runs])[run_of]
        chosen: dict[tuple[str, int], str] = {}
        for scheme in self.schemes:
            rows = self._of(scheme)
            for number in range(len(self.classes)):
                for row in self._slow(rows[self._class[rows] == number], seed_of):
                    chosen.setdefault((self._runs[run_of[row]].id, int(self._flow[row])), scheme)
        order = pl.DataFrame(
            [(*flow, scheme, at) for at, (flow, scheme) in enumerate(chosen.items())],
            {"run": pl.String, "flow": pl.Int64, "scheme": pl.String, "at": pl.Int64},
            orient="row",
        )
        found = self._described(order).join(order, on=["run", "flow"], maintain_order="left")
        return found.sort("at", maintain_order=True).drop("at")

    def _slow(self, rows: np.ndarray, seed_of: np.ndarray) -> np.ndarray:
        """The listed flows of `rows`, in order."""
        ended = ~np.isnan(self._seconds[rows])
        never, rows = rows[~ended], rows[ended]
        never = never[np.lexsort((self._flow[never], seed_of[never]))]
        if len(rows) > SLOWEST:
            # A threshold is cheaper than sorting all; ties at it remain, so that their order decides.
            rank = self._rank[rows]
            rows = rows[rank >= np.partition(rank, -SLOWEST)[-SLOWEST]]
        rows = rows[np.lexsort((self._flow[rows], seed_of[rows], -self._rank[rows]))]
        return np.concatenate([never[:_UNFINISHED], rows[:SLOWEST]])

    def _described(self, flows: pl.DataFrame) -> pl.DataFrame:
        """The columns of `slowest` for these flows, and for others with their numbers in other runs."""
        named = set(flows["run"])
        runs = [run for run in self._runs if run.id in named] or self._runs[:1]
        there = pl.scan_parquet(files(runs, FLOWS)[0], glob=False).collect_schema()
        path = pl.col("path") if "path" in there else pl.lit(None, dtype=pl.String).alias("path")
        explored = (
            pl.col("exploration_ps").is_not_null() if "exploration_ps" in there else pl.lit(None, dtype=pl.Boolean)
        )
        found = flow_rows(
            runs,
            *("flow", "class", "src", "dst", "bytes", "fct_s", "slowdown"),
            path,
            explored.alias("explored"),
            where=pl.col("flow").is_in(flows["flow"].to_list()),
        )
        seeds = pl.Series("seed", [run.seed for run in runs], dtype=pl.Int64)
        found = found.with_columns(seeds.gather(found["run"].to_physical()))
        names = ["run", "class", "src", "dst", "path"]
        return found.with_columns(pl.col(names).cast(pl.String)).select(
            "run", "flow", "class", "seed", "src", "dst", "bytes", "fct_s", "slowdown", "path", "explored"
        )


@dataclass(frozen=True)
class Compared:
    """Completion times of the same flows under several schemes: `seconds[scheme, flow]`, NaN if unfinished."""

    schemes: list[str]
    classes: int
    seed: np.ndarray
    flow: np.ndarray
    klass: np.ndarray
    seconds: np.ndarray

    def pairs(self) -> Iterator[tuple[int, int, list[Pair]]]:
        """Each pair of schemes by number, with one `Pair` per class and a last one for all classes."""
        for first, second in combinations(range(len(self.schemes)), 2):
            yield first, second, self._pair(self.seconds[first], self.seconds[second])

    def _pair(self, one: np.ndarray, other: np.ndarray) -> list[Pair]:
        ended, also = ~np.isnan(one), ~np.isnan(other)
        both = ended & also
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.log(one / other)
        # Faster, slower, equal, only the first finished, only the second, neither.
        kind = np.select([both & (one < other), both & (one > other), both, ended, also], range(5), 5)
        counts = np.bincount(self.klass * 6 + kind, minlength=6 * self.classes).reshape(self.classes, 6).T[:5]
        counts = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
        seeds, place = np.unique(self.seed, return_inverse=True)
        cell = (place * self.classes + self.klass)[both]
        size = len(seeds) * self.classes
        shape = len(seeds), self.classes
        total = np.bincount(cell, logs[both], minlength=size).reshape(shape)
        number = np.bincount(cell, minlength=size).reshape(shape)
        total = np.concatenate([total, total.sum(axis=1, keepdims=True)], axis=1)
        number = np.concatenate([number, number.sum(axis=1, keepdims=True)], axis=1)
        pairs = []
        for at in range(self.classes + 1):
            known = number[:, at] > 0
            ratio = estimate((total[known, at] / number[known, at]).tolist())
            faster, slower, equal, first, second = (int(count) for count in counts[:, at])
            pairs.append(Pair(faster, slower, equal, first, second, ratio))
        return pairs

    def sample(self, per_class: int) -> np.ndarray:
        """Places of at most `per_class` flows of each class, chosen by a hash of seed and flow, in ascending order."""
        mixed = (self.seed.astype(np.uint64) << np.uint64(40)) + self.flow.astype(np.uint64) + np.uint64(1)
        with np.errstate(over="ignore"):
            for shift in (30, 27, 31):
                mixed = (mixed ^ (mixed >> np.uint64(shift))) * _MIX
        chosen = []
        for number in range(self.classes):
            places = np.flatnonzero(self.klass == number)
            chosen.append(places[np.argsort(mixed[places], kind="stable")[:per_class]])
        return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.int64)
