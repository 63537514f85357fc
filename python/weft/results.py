"""A result directory as tables: its runs with their flows, series, links and settings.

The layout of the directory and the meaning of every column are in ``docs/results.md``. Statistics are in
`weft.summary`.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from polars import selectors as cs

from . import query, steps
from .comparison import Comparison, compared
from .explanation import Explanation, explain
from .html_table import facts
from .labels import short_key, show, visible
from .one_run import FLOWS, SERIES
from .rows import DERIVED
from .runs import IDENTITY, Runs
from .scheme_pairs import all_pairs
from .scheme_ranks import ranked
from .selection import matching


class Results(Runs):
    """The results of one scenario: every point of its sweep, every seed.

    Args:
        directory: The directory given to `weft run -o`.

    Raises:
        ResultsError: It is not a result directory, or a file in it cannot be read.
    """

    def _repr_html_(self) -> str:
        """Its runs, schemes, swept values and seeds, for a notebook."""
        swept = {key: dict.fromkeys(show(run.dimensions.get(key)) for run in self.finished) for key in self.dimensions}
        rows = [
            ("", self.description),
            ("runs", f"{len(self.finished)} of {len(self.runs)} finished"),
            (short_key(self.compared, [self.compared]) if self.compared else "schemes", ", ".join(self.schemes)),
            *((key, ", ".join(values)) for key, values in swept.items()),
            ("seeds", ", ".join(map(str, self.seeds))),
            ("directory", "in memory" if self.in_memory else str(self.path)),
        ]
        return facts(self.name, rows)

    def flows(self, *, measured: bool = True) -> pl.DataFrame:
        """One row per flow, over all finished runs.

        In addition to the columns of ``flows.parquet``: `run`, `scheme`, `seed`, `point`, one column for each swept key
        with underscores for its dots (``traffic_load``), and `fct_s` (s), `slowdown` (FCT over that of the same flow on
        an idle fabric) and `throughput_bps` (bit/s).

        Args:
            measured: Leave out flows that do not count: those that started outside the scenario's measurement window.
        """
        return self.scan_flows(measured=measured).collect()

    def scan_flows(self, *, measured: bool = True) -> pl.LazyFrame:
        """`flows` as a lazy frame, for results that do not fit into memory."""
        texts = cs.by_name("src", "dst", "class", "path", require_all=False)
        frame = self.scan(FLOWS).with_columns(texts.cast(pl.String))
        if measured:
            frame = frame.filter(pl.col("measured"))
        return frame.with_columns(value.alias(name) for name, value in DERIVED.items())

    def series(self, *metrics: str, measured: bool = False) -> pl.DataFrame:
        """The sampled series over all finished runs, in long form, or only the named metrics.

        In addition to the columns of ``series.parquet``: `run`, `scheme`, `seed`, `point`, `time_s` and the swept keys.

        Args:
            metrics: Names of metrics; default all.
            measured: Leave out samples outside the measurement window: up to its start, and after its end.
        """
        return self.scan_series(*metrics, measured=measured).collect()

    def scan_series(self, *metrics: str, measured: bool = False) -> pl.LazyFrame:
        """`series` as a lazy frame."""
        frame = self.scan(SERIES).with_columns(pl.col("metric", "entity").cast(pl.String))
        if metrics:
            frame = frame.filter(pl.col("metric").is_in(metrics))
        if measured:
            frame = self.aggregates.measured(frame)
        return frame.with_columns((pl.col("time_ps") / 1e12).alias("time_s"))

    def links(self) -> pl.DataFrame:
        """One row per directed link and run: rate, delay, utilisation in the window, bytes, drops, largest queue."""
        links = self.aggregates.links()
        identity = self.run_table().select(*IDENTITY)
        named = links.join(identity, on="run", how="left", maintain_order="left")
        return named.select(*identity.columns, *(name for name in links.columns if name != "run"))

    def steps(self) -> pl.DataFrame:
        """One row per round of a collective, and per trace whose flows wait for each other.

        Columns: those that identify the run, then `job` (its place in ``collectives`` of ``summary.json``) with the
        values from there, `time_s`, the sums of its critical path (``path_compute_ps`` to ``path_delayed_start_ps``),
        and the means over its ranks (``ranks_compute_ps``, ``ranks_exposed_ps``, ``ranks_idle_ps``).
        """
        return steps.steps(self)

    def rank_times(self) -> pl.DataFrame:
        """One row per job and rank: computing, exposed communication and idle time; they add up to the job's time."""
        return steps.rows(self, steps.RANKS)

    def work(self) -> pl.DataFrame:
        """One row per step of a processor: when it was ready, began and ended; empty without such steps."""
        return steps.rows(self, steps.WORK)

    def ring_steps(self) -> pl.DataFrame:
        """One row per rank and step of each ring in parts; empty unless the scenario has `measure.ring_steps`."""
        return steps.rows(self, steps.RING_STEPS)

    def critical_path(self) -> pl.DataFrame:
        """One row per part of the critical path of each job, in order of time; see ``docs/results.md``."""
        return steps.rows(self, steps.PATH)

    def summary(self, *, by: Sequence[str] | None = None, baseline: str | None = None) -> pl.DataFrame:
        """`compare` as a frame: for each metric its mean, `_low` and `_high`, and with a baseline the differences."""
        found = compared(self, by=by, baseline=baseline)
        _caution(found.cautions())
        return found.frame()

    def compare(self, *, by: Sequence[str] | None = None, baseline: str | None = None) -> Comparison:
        """Means over seeds with 95 % intervals, one row per point, scheme and class; a notebook shows the table.

        A warning says why means, intervals or differences are missing.

        Args:
            by: Columns to group by; default all swept keys, the class and the scheme.
            baseline: The scheme to compare with, or a value of a swept key (``load=0.2``); default the scenario's.

        Raises:
            ResultsError: No run has finished, or there is no such baseline (with those that exist) or column.
        """
        found = compared(self, by=by, baseline=baseline)
        _caution(found.cautions())
        return found

    def pairs(
        self, *, by: Sequence[str] | None = None, metrics: Sequence[str] | None = None, baseline: str | None = None
    ) -> pl.DataFrame:
        """The paired difference of every two schemes: one row per group, metric and pair.

        Columns: those of `by`, then `metric`, `scheme`, `other`, `seeds`, `flows` (those compared, over all seeds), the
        mean of the scheme's value minus the other's in the metric's unit with its 95 % interval (`diff`, `diff_low`,
        `diff_high`), the geometric mean of their ratio (`ratio`, `ratio_low`, `ratio_high`; null unless all values are
        positive), the p-value (`p`), the same after Holm's correction for all differences at a point (`p_adjusted`),
        `significant` (at 5 %, corrected) and `few_flows`. A warning says why pairs are missing.

        Args:
            by: Columns to group by, with the scheme; default all swept keys, the class and the scheme.
            metrics: Keys of metrics such as ``mean_fct_s``; default all. Fewer metrics are fewer tests to correct for.
            baseline: A value of a swept key (``load=0.2``) to compare the values of this key.

        Raises:
            ResultsError: A column, metric or the baseline is unknown, or there are fewer than two schemes or seeds.
        """
        found = all_pairs(self, by=by, metrics=metrics, baseline=baseline)
        _caution(found.cautions())
        return found.frame()

    def ranks(
        self, *, by: Sequence[str] | None = None, metrics: Sequence[str] | None = None, baseline: str | None = None
    ) -> pl.DataFrame:
        """The schemes by their mean rank, best first: one row per group, metric and scheme.

        Columns: those of `by`, then `metric`, `scheme`, `rank` (1 is the best; mean over blocks, each a seed at a
        point), `groups` (letters; schemes with a common letter cannot be told apart at 5 %), `blocks`, `seeds` and
        `friedman_p` (the p-value of Friedman's test that all schemes are equal). A warning says why schemes or points
        are missing.

        Args:
            by: Columns to group by, with the scheme; default the class and the scheme. Other swept keys make blocks.
            metrics: Keys of metrics such as ``mean_fct_s``; default all. Fewer metrics are fewer tests to correct for.
            baseline: A value of a swept key (``load=0.2``) to compare the values of this key.

        Raises:
            ResultsError: A column, metric or the baseline is unknown, or there are fewer than two schemes or seeds.
        """
        found = ranked(self, by=by, metrics=metrics, baseline=baseline)
        _caution(found.cautions())
        return found.frame()

    def why(
        self,
        flow: int,
        *,
        scheme: str | None = None,
        seed: int | None = None,
        at: Mapping[str, Any] | None = None,
        scenario: str | Path | None = None,
    ) -> Explanation:
        """The causes of a flow's completion time, from a repeated run; see ``docs/why.md``.

        Args:
            flow: The number of the flow, as in `flows`.
            scheme: The scheme of the run; default the first.
            seed: Its seed; default the first.
            at: Values of swept keys of the run, such as ``{"traffic.load": 0.4}``; default the first.
            scenario: The scenario's file, if it names other files such as a fabric.

        Raises:
            ResultsError: No run matches, or it cannot be simulated again.
            ScenarioError: There is no such flow, or it has no explanation.
        """
        run = matching(self, scheme, seed, at or {})[0]
        return explain(self, run, [flow], scenario=scenario)[0]

    def query(self, sql: str) -> pl.DataFrame:
        """The answer to an SQL query over the views `flows`, `series` and `runs`; needs DuckDB.

        `flows` and `series` have the columns of `flows` and `series`, flows outside of the measurement window included;
        `runs` has a row per finished run. A query can neither write nor read anything else. Sums of integers are Int64
        where they fit.

        Raises:
            QueryError: The query is wrong (with DuckDB's message) or needs too much memory, or DuckDB is missing.
            ResultsError: No run has finished.
        """
        with query.opened(self) as database:
            return database.frame(sql)

    def scan(self, file: str) -> pl.LazyFrame:
        """The rows of a file of every finished run as they are stored, with the columns that identify the run."""
        paths = self.files(file)
        runs = self.run_table().with_columns(pl.Series("file", paths))
        return (
            pl.scan_parquet(paths, include_file_paths="file", glob=False)
            .join(runs.lazy(), on="file", maintain_order="left")
            .drop("file")
        )


def _caution(reasons: Sequence[str]) -> None:
    """Warn the caller of a method that a comparison is not complete."""
    if reasons:
        warnings.warn(visible("\n  ".join(reasons)), stacklevel=3)
