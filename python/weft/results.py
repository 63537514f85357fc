"""A result directory as tables: its runs with their flows, series, links and settings.

The layout of the directory and the meaning of every column are in ``docs/results.md``. Statistics are in
`weft.summary`.
"""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from .aggregates import Aggregates, Watch
from .errors import ResultsError
from .labels import column, short_key, show
from .rows import DERIVED, FLOWS, SERIES, SUMMARY
from .variants import SCHEME_KEY, VARIANT_KEY, compared_key, dimensions, label_of, scheme_label

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Escaped surrogates in JSON."""


@dataclass(frozen=True)
class Run:
    """One run: a point of the sweep with one seed."""

    id: str
    label: str
    seed: int
    overrides: dict[str, Any]
    path: Path
    """The directory of its files, whether or not it has finished."""
    scheme: str
    """The scheme with those of its parameters that the sweep varies, e.g. ``flowlet gap=500 us``.

    With a single scheme and several swept keys, one of these is such a parameter too: `Results.compared`."""
    dimensions: dict[str, Any]
    """The other sweep keys, with this run's values."""
    point: str
    """The values of `dimensions` as one short text, the same for all schemes and seeds of a point."""

    @property
    def finished(self) -> bool:
        """Whether its results exist; they appear atomically."""
        return (self.path / SUMMARY).is_file()


def _read_json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text)
        if _HALF.search(text):
            # JSON can escape a lone surrogate, which cannot be encoded in a table or a page.
            json.dumps(data, ensure_ascii=False).encode()
        return data
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ResultsError(f"{path}: not valid JSON ({error})") from None


def _ignore(what: str, done: float, total: float) -> None:
    """Show no progress."""


class Results:
    """The results of one scenario: every point of its sweep, every seed.

    Args:
        directory: The directory given to `weft run -o`.

    Raises:
        ResultsError: It is not a result directory, or a file in it cannot be read.
    """

    keeps = True
    """Whether numbers of large results are kept in the directory."""

    def __init__(self, directory: str | Path) -> None:
        self.path = Path(directory)
        self.watch: Watch = _ignore
        """Called while large results are read; see `weft.aggregates.Watch`."""
        self._asked: str | None = None
        index = self.path / "sweep.json"
        if not index.is_file():
            what = "is not a result directory (no sweep.json)" if self.path.exists() else "does not exist"
            raise ResultsError(f"{self.path} {what}: give the directory that `weft run -o` wrote")
        self._index: dict[str, Any] = _read_json(index)
        if not isinstance(self._index, dict) or not isinstance(self._index.get("runs"), list):
            raise ResultsError(f"{index}: expected an object with a list `runs`")

    def __repr__(self) -> str:
        return f"Results({str(self.path)!r}: {self.name}, {len(self.finished)} of {len(self.runs)} runs)"

    @property
    def where(self) -> str:
        """The directory, or directories, for messages."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self._index.get("name") or self.path.name)

    @property
    def description(self) -> str:
        """The description in the scenario; may be empty."""
        return str(self._index.get("description") or "")

    @property
    def version(self) -> str:
        """The version of Weft that wrote the results."""
        return str(self._index.get("version", "unknown"))

    @property
    def fingerprint(self) -> str:
        """The same in all results of a scenario and version, whatever their seeds and baseline."""
        return json.dumps([self._index.get(key) for key in ("scenario_sha", "version", "inputs", "emulated")])

    @property
    def overrides(self) -> list[dict[str, Any]]:
        """The swept keys with their values, of each run."""
        return [entry.get("overrides") or {} for entry in self._index["runs"]]

    @property
    def stored_baseline(self) -> str | None:
        """The baseline as the scenario names it."""
        value = self._index.get("baseline")
        return None if value is None else str(value)

    @property
    def baseline(self) -> str | None:
        """The label that the scenario names as its baseline, if any; None if no finished run has it."""
        return None if self.stored_baseline is None else self.label_of(self.stored_baseline)

    @property
    def ignored_baseline(self) -> str | None:
        """A warning if the scenario names a baseline that no finished run has."""
        if self.stored_baseline is None or self.baseline is not None or not self.finished:
            return None
        have = ", ".join(self.schemes)
        return f"the baseline `{self.stored_baseline}` is ignored: no finished run in {self.where} has it, only {have}"

    def label_of(self, baseline: str) -> str | None:
        """The label that a user means by `baseline`; None if no finished run has it."""
        values = {run.scheme: run.overrides.get(self.compared) if self.compared else None for run in self.finished}
        return label_of(baseline, values, self.compared)

    def comparing(self, baseline: str | None) -> Results:
        """The same results; if `baseline` is a value of a swept key that is not compared, with that key compared."""
        if baseline is None or self.label_of(baseline) is not None:
            return self
        found = copy(self)
        found._asked = baseline
        for name in ("runs", "finished", "keys", "compared", "aggregates", "schemes", "points"):
            found.__dict__.pop(name, None)
        return found

    @property
    def has_scenario(self) -> bool:
        """Whether these are runs of a scenario; emulated runs of the smoc study are not."""
        return (self.path / "scenario.toml").is_file()

    @property
    def scenario_text(self) -> str:
        """The scenario, exactly as it was given."""
        path = self.path / "scenario.toml"
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror or error}") from None

    @cached_property
    def runs(self) -> list[Run]:
        """Every run of the sweep, finished or not, in the order of the sweep."""
        entries: list[dict[str, Any]] = self._index["runs"]
        try:
            default = self._default_scheme(entries)
            return [self._run(entry, default) for entry in entries]
        except KeyError as error:
            raise ResultsError(f"{self.path / 'sweep.json'}: a run has no {error}") from None

    @cached_property
    def finished(self) -> list[Run]:
        """The runs that have results."""
        return [run for run in self.runs if run.finished]

    def only(self, runs: Collection[str]) -> Results:
        """The same results, restricted to the runs with these ids."""
        wanted, part = frozenset(runs), copy(self)
        part.__dict__["finished"] = [run for run in self.finished if run.id in wanted]
        for name in ("_summaries", "aggregates", "schemes", "points"):
            part.__dict__.pop(name, None)
        return part

    @cached_property
    def aggregates(self) -> Aggregates:
        """What tables and figures need of the finished runs, without their rows."""
        return Aggregates(self)

    @cached_property
    def _summaries(self) -> dict[str, dict[str, Any]]:
        return self.read_summaries()

    def read_summaries(self) -> dict[str, dict[str, Any]]:
        """The `summary.json` of each finished run, by run, read again at every call."""
        return {run.id: self.summary_of(run) for run in self.finished}

    def summary_of(self, run: Run) -> dict[str, Any]:
        """The `summary.json` of a run, read again at every call."""
        found: dict[str, Any] = _read_json(run.path / SUMMARY)
        return found

    @cached_property
    def schemes(self) -> list[str]:
        """The schemes that have results, in the order of the sweep."""
        return list(dict.fromkeys(run.scheme for run in self.finished))

    @cached_property
    def points(self) -> list[str]:
        """The points (see `Run.point`) that have results, in the order of the sweep."""
        return list(dict.fromkeys(run.point for run in self.finished))

    @property
    def seeds(self) -> list[int]:
        """The seeds that have results."""
        return sorted({run.seed for run in self.finished})

    @cached_property
    def keys(self) -> list[str]:
        """The swept keys other than the scheme's."""
        return list(dict.fromkeys(key for run in self.runs for key in dimensions(run.overrides, None)))

    @property
    def dimensions(self) -> list[str]:
        """The swept keys that make a point: `keys` without the one that is compared."""
        return [key for key in self.keys if key != self.compared]

    @cached_property
    def compared(self) -> str | None:
        """The key that is compared in the schemes' place, if any; see `weft.variants.compared_key`."""
        return compared_key(self.overrides, self._asked if self._asked is not None else self.stored_baseline)

    def summaries(self, runs: Sequence[Run] | None = None) -> list[dict[str, Any]]:
        """The `summary.json` of each finished run (or of the given ones)."""
        return [self._summaries[run.id] for run in (self.finished if runs is None else runs)]

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
        frame = self.scan(FLOWS).with_columns(pl.col("src", "dst", "class").cast(pl.String))
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
            windows = [(run, *head["window_ps"]) for run, head in self.aggregates.heads().items()]
            bounds = pl.LazyFrame(windows, {"run": pl.String, "from_ps": pl.Int64, "to_ps": pl.Int64}, orient="row")
            within = (pl.col("time_ps") > pl.col("from_ps")) & (pl.col("time_ps") <= pl.col("to_ps"))
            frame = frame.join(bounds, on="run", maintain_order="left").filter(within).drop("from_ps", "to_ps")
        return frame.with_columns((pl.col("time_ps") / 1e12).alias("time_s"))

    def links(self) -> pl.DataFrame:
        """One row per directed link and run: rate, delay, utilisation in the window, bytes, drops, largest queue."""
        links = self.aggregates.links()
        identity = pl.DataFrame(_identifying(self.finished))
        named = links.join(identity, on="run", how="left", maintain_order="left")
        return named.select(*identity.columns, *(name for name in links.columns if name != "run"))

    def summary(self, *, by: Sequence[str] | None = None, baseline: str | None = None) -> pl.DataFrame:
        """Means over seeds with 95 % intervals, one row per point, scheme and class; see `weft.summary.summarise`."""
        from .summary import summarise

        return summarise(self, by=by, baseline=baseline).frame()

    def query(self, sql: str) -> pl.DataFrame:
        """The answer to an SQL query over the views `flows`, `series` and `runs`; needs DuckDB.

        `flows` and `series` have the columns of `flows` and `series`, flows outside of the measurement window included;
        `runs` has a row per finished run. A query can neither write nor read anything else. Sums of integers are Int64
        where they fit.

        Raises:
            QueryError: The query is wrong (with DuckDB's message) or needs too much memory, or DuckDB is missing.
            ResultsError: No run has finished.
        """
        from .query import frame

        return frame(self, sql)

    def scan(self, file: str) -> pl.LazyFrame:
        """The rows of a file of every finished run as they are stored, with the columns that tell runs apart."""
        paths = self.files(file)
        runs = self.run_table().with_columns(pl.Series("file", paths))
        return (
            pl.scan_parquet(paths, include_file_paths="file", glob=False)
            .join(runs.lazy(), on="file", maintain_order="left")
            .drop("file")
        )

    def files(self, name: str) -> list[str]:
        """The path of the file of this name of every finished run."""
        if not self.finished:
            raise ResultsError(f"{self.where} has no finished run yet: repeat `weft run` to resume it")
        paths = [run.path / name for run in self.finished]
        for path in paths:
            if not path.is_file():
                raise ResultsError(f"{path} is missing: delete {path.parent} and run the scenario again")
        return [str(path) for path in paths]

    def run_table(self) -> pl.DataFrame:
        """The finished runs with their identifying columns: `run`, `scheme`, `seed`, `point` and the swept keys."""
        columns = _identifying(self.finished)
        columns |= {column(key): [cell(run.overrides.get(key)) for run in self.finished] for key in self.keys}
        return pl.DataFrame(columns, strict=False)

    def _run(self, entry: dict[str, Any], default_scheme: str) -> Run:
        overrides: dict[str, Any] = dict(entry.get("overrides") or {})
        place = dimensions(overrides, self.compared)
        return Run(
            id=str(entry["id"]),
            label=str(entry.get("label", entry["id"])),
            seed=int(entry["seed"]),
            overrides=overrides,
            path=self.path / str(entry.get("path", f"runs/{entry['id']}")),
            scheme=scheme_label(overrides, default_scheme, self.compared),
            dimensions=place,
            point=", ".join(f"{short_key(k, place)} {show(v)}" for k, v in place.items()),
        )

    def _default_scheme(self, entries: list[dict[str, Any]]) -> str:
        """The scheme of runs whose overrides do not name one: the same for all, so one summary is enough."""
        if all((entry.get("overrides") or {}).keys() & {SCHEME_KEY, VARIANT_KEY} for entry in entries):
            return ""
        for entry in entries:
            path = self.path / str(entry.get("path", f"runs/{entry['id']}")) / SUMMARY
            if path.is_file() and SCHEME_KEY not in (entry.get("overrides") or {}):
                return str(_read_json(path)["scheme"]["name"])
        return "scheme"


def _identifying(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """The columns that tell runs apart, without the swept keys."""
    return {
        "run": [run.id for run in runs],
        "scheme": [run.scheme for run in runs],
        "seed": [run.seed for run in runs],
        "point": [run.point for run in runs],
    }


def cell(value: Any) -> Any:
    """A sweep value as a table cell: numbers and text unchanged, nested values as text."""
    return value if value is None or isinstance(value, (str, int, float, bool)) else show(value)
