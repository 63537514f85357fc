"""The flows of one point of a sweep: the same flow under each scheme, and the slowest flows of each class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from .statistics import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .results import Results

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
    """The measured flows of a point, one column of completion times per scheme.

    Args:
        results: The results.
        point: A point of the sweep.
        classes: The classes, in order.
    """

    def __init__(self, results: Results, point: str, classes: Sequence[str]) -> None:
        runs = [run for run in results.finished if run.point == point]
        self.classes = list(classes)
        self._part = results.only([run.id for run in runs])
        self.schemes = list(dict.fromkeys(run.scheme for run in runs))
        ids = pl.Enum([run.id for run in runs])
        self._flows = (
            self._part.scan_flows()
            .select(
                pl.col("run").cast(ids),
                "seed",
                "flow",
                pl.col("class").replace_strict(self.classes, range(len(classes)), return_dtype=pl.UInt16),
                "fct_s",
                "slowdown",
            )
            .collect()
        )
        self._of_scheme = {s: [run.id for run in runs if run.scheme == s] for s in self.schemes}

    @property
    def comparable(self) -> bool:
        """Whether each flow has a single row per scheme; those of Multipath TCP studies have one per subflow."""
        once = self._flows.group_by("run").agg((pl.col("flow").n_unique() == pl.len()).alias("once"))
        return bool(once["once"].all())

    def compared(self) -> Compared:
        """The flows that are measured under all schemes of the point, in the order of seed and flow."""
        columns = []
        for ids in self._of_scheme.values():
            own = self._flows.filter(pl.col("run").is_in(ids)).select("seed", "flow", "class", "fct_s")
            columns.append(own)
        shared = columns[0].select("seed", "flow", "class").sort("seed", "flow")
        for other in columns[1:]:
            shared = shared.join(other.select("seed", "flow"), on=["seed", "flow"], how="semi", maintain_order="left")
        times = [
            shared.join(own, on=["seed", "flow"], how="left", maintain_order="left")["fct_s"].to_numpy()
            for own in columns
        ]
        return Compared(
            self.schemes,
            len(self.classes),
            shared["seed"].to_numpy(),
            shared["flow"].to_numpy(),
            shared["class"].to_numpy().astype(np.int64),
            np.stack(times) if times else np.empty((0, 0)),
        )

    def slowest(self) -> pl.DataFrame:
        """For each scheme and class the slowest flows, by slowdown; a few unfinished ones come first.

        Columns: `scheme`, `class`, `run`, `seed`, `flow`, `src`, `dst`, `bytes`, `fct_s` (null if unfinished),
        `slowdown`, `path` (null if unknown), `explored` (null if unknown).
        """
        rank = pl.col("slowdown").fill_null(pl.col("fct_s"))
        numbers = self._flows.with_columns(rank.alias("rank"))
        parts = []
        for scheme, ids in self._of_scheme.items():
            own = numbers.filter(pl.col("run").is_in(ids))
            for number in range(len(self.classes)):
                of = own.filter(pl.col("class") == number)
                unfinished = of.filter(pl.col("fct_s").is_null()).sort("seed", "flow").head(_UNFINISHED)
                order = ["rank", "seed", "flow"]
                ended = of.filter(pl.col("fct_s").is_not_null())
                # A threshold is cheaper than sorting all; ties at it remain, so that their order decides.
                least = pl.col("rank").top_k(SLOWEST).min()
                slow = ended.filter(pl.col("rank") >= least).sort(order, descending=[True, False, False])
                both = pl.concat([unfinished, slow.head(SLOWEST)])
                parts.append(both.select("run", "flow", pl.lit(scheme).alias("scheme")))
        chosen = (
            pl.concat(parts).with_columns(pl.col("run").cast(pl.String)).with_row_index("at").unique(["run", "flow"])
        )
        scan = self._part.scan_flows()
        there = scan.collect_schema().names()
        extra = [
            pl.col("path") if "path" in there else pl.lit(None, dtype=pl.String).alias("path"),
            (
                pl.col("exploration_ps").is_not_null() if "exploration_ps" in there else pl.lit(None, dtype=pl.Boolean)
            ).alias("explored"),
        ]
        wanted = ["class", "seed", "src", "dst", "bytes", "fct_s", "slowdown"]
        found = scan.select("run", "flow", *wanted, *extra).join(chosen.lazy(), on=["run", "flow"]).collect()
        return found.sort("at").drop("at")


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
            kinds = [both & (one < other), both & (one > other), both & (one == other), ended & ~also, also & ~ended]
            logs = np.log(one / other)
        counts = np.array([np.bincount(self.klass[kind], minlength=self.classes) for kind in kinds])
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
