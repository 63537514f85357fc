"""The runs of a result directory: the keys that the sweep varies, the finished runs, and the key that is compared.

Polars is imported where it is used: the table after `weft run` needs none of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from . import heads
from .errors import ResultsError
from .labels import column, plural, short_key, show
from .not_results import missing_results
from .one_run import SUMMARY, Run, again, files, read_json
from .variants import (
    SCHEME_KEY,
    VARIANT_KEY,
    assignments,
    compared_key,
    dimensions,
    label_of,
    scheme_label,
    swept_keys,
    unswept_key,
    varied_keys,
)

if TYPE_CHECKING:
    import polars as pl

    from .aggregates import Aggregates, Watch

DIRECT = 1 << 26
"""Bytes of summaries up to which reading them takes less time than importing Polars."""
IDENTITY = {"run": "id", "scheme": "scheme", "seed": "seed", "point": "point"}
"""The columns that identify a run besides the swept keys, with the attributes of `Run`."""


def _ignore(what: str, done: float, total: float) -> None:
    """Show no progress."""


class Runs:
    """Every point of a sweep, every seed.

    Args:
        directory: The directory given to `weft run -o`.

    Raises:
        ResultsError: It is not a result directory, or a file in it cannot be read.
    """

    keeps = True
    """Whether numbers of large results are kept in the directory."""
    in_memory = False
    """Whether there is no directory of the user's, as for `weft.run`."""

    def __init__(self, directory: str | Path) -> None:
        self.path = Path(directory)
        self.watch: Watch = _ignore
        """Called while large results are read; see `weft.aggregates.Watch`."""
        self._asked: str | None = None
        self._read: dict[Path, dict[str, Any]] = {}
        index = self.path / "sweep.json"
        if not index.is_file():
            raise missing_results(self.path)
        self._index: dict[str, Any] = read_json(index)
        entries = self._index.get("runs") if isinstance(self._index, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ResultsError(f"{index}: expected an object with a list `runs` of objects: {again(index)}")

    def __repr__(self) -> str:
        done = f"{len(self.finished)} of {plural(len(self.runs), 'run')}"
        return f"{type(self).__name__}({str(self.path)!r}: {self.name}, {done})"

    @property
    def where(self) -> str:
        """The directory, or directories, for messages."""
        return str(self.path)

    def place(self, name: str) -> Path:
        """The default path for a file or directory about these results. Raises `OutputError` if they are in memory."""
        return self.path / name

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
    def warnings(self) -> list[str]:
        """Warnings of comparisons between points; those of a run are in its summary."""
        return [str(text) for text in self._index.get("warnings") or ()]

    @property
    def fingerprint(self) -> str:
        """An identity that all results of a scenario and version share, whatever their seeds and baseline."""
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

    def comparing(self, baseline: str | None) -> Self:
        """The same results, with the key compared of which `baseline` is a value.

        If it is the label of one of several schemes, only these are compared, whatever the stored baseline is.
        """
        if baseline is None:
            return self
        found = copy(self)
        found._asked = baseline
        for name in ("runs", "finished", "keys", "compared", "aggregates", "schemes", "points"):
            found.__dict__.pop(name, None)
        of_schemes = len(found.schemes) > 1 and found.label_of(baseline) == baseline
        return found if of_schemes or self.label_of(baseline) is None else self

    def labelled(self, baseline: str) -> str:
        """`label_of`. Raises `ResultsError`, with the possible baselines, if no finished run has the label."""
        found = self.label_of(baseline)
        if found is not None:
            return found
        unswept = unswept_key(baseline, self.overrides)
        if unswept is not None:
            keys = swept_keys(self.overrides)
            raise ResultsError(f"no baseline `{baseline}`: {self.where} does not sweep `{unswept}`; it sweeps {keys}")
        values = self.comparable_values
        also = f", or a value of a swept key: {', '.join(values)}" if values else ""
        raise ResultsError(f"no scheme `{baseline}` in {self.where}: choose from {', '.join(self.schemes)}{also}")

    @property
    def comparable_values(self) -> list[str]:
        """The values of keys that are not compared, as `comparing` takes them: ``load=0.2``."""
        varied = varied_keys([run.overrides for run in self.finished])
        return assignments({key: values for key, values in varied.items() if key in self.dimensions})

    @property
    def has_scenario(self) -> bool:
        """Whether these are runs of a scenario; emulated runs of the smoc study are not."""
        return (self.path / "scenario.toml").is_file()

    @property
    def scenario_text(self) -> str:
        """The scenario, exactly as it was given."""
        import tomllib

        path = self.path / "scenario.toml"
        try:
            text = path.read_text(encoding="utf-8")
            tomllib.loads(text)
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror or error}") from None
        except ValueError as error:
            raise ResultsError(
                f"{path} is not the scenario that was run: {error}", "copy that scenario there"
            ) from None
        return text

    @cached_property
    def runs(self) -> list[Run]:
        """Every run of the sweep, finished or not, in the order of the sweep."""
        entries: list[dict[str, Any]] = self._index["runs"]
        try:
            default = self._default_scheme(entries)
            return [self._run(entry, default) for entry in entries]
        except KeyError as error:
            index = self.path / "sweep.json"
            raise ResultsError(f"{index}: a run has no {error}: {again(index)}") from None
        except (TypeError, ValueError) as error:
            index = self.path / "sweep.json"
            raise ResultsError(f"{index}: a run is not valid ({error}): {again(index)}") from None

    @cached_property
    def finished(self) -> list[Run]:
        """The runs that have results."""
        return [run for run in self.runs if run.finished]

    def at_least_one(self) -> list[Run]:
        """The finished runs. Raises `ResultsError` if there are none."""
        if not self.finished:
            raise ResultsError(f"{self.where} has no finished run yet: repeat `weft run` to resume it")
        return self.finished

    def only(self, runs: Collection[str]) -> Self:
        """These results, restricted to the runs with these ids."""
        wanted, part = frozenset(runs), copy(self)
        part.__dict__["finished"] = [run for run in self.finished if run.id in wanted]
        for name in ("_summaries", "_heads", "aggregates", "schemes", "points"):
            part.__dict__.pop(name, None)
        return part

    @cached_property
    def aggregates(self) -> Aggregates:
        """The data of finished runs that tables and figures need, without their rows."""
        from .aggregates import FOLDER, Aggregates

        folder = self.path / FOLDER if self.keeps else None
        return Aggregates(self.at_least_one(), folder, lambda *done: self.watch(*done))

    def heads(self) -> dict[str, dict[str, Any]]:
        """``summary.json`` of each finished run, of which there must be one, without `links` and `nodes`."""
        return self._heads

    @cached_property
    def _heads(self) -> dict[str, dict[str, Any]]:
        runs = self.at_least_one()
        if sum(run.status(SUMMARY).st_size for run in runs) > DIRECT:
            return self.aggregates.heads()
        return {run.id: self._head(run.path / SUMMARY) for run in runs}

    def _head(self, path: Path) -> dict[str, Any]:
        """The head in a file, read once."""
        if path not in self._read:
            self._read[path] = heads.read(path)
        return self._read[path]

    @cached_property
    def _summaries(self) -> dict[str, dict[str, Any]]:
        return {run.id: run.summary() for run in self.finished}

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

    def files(self, name: str) -> list[str]:
        """The path of the file of this name of every finished run."""
        return files(self.at_least_one(), name)

    def run_table(self) -> pl.DataFrame:
        """The finished runs with their identifying columns: `run`, `scheme`, `seed`, `point` and the swept keys."""
        import polars as pl

        return pl.DataFrame(self.run_columns(), strict=False)

    def run_columns(self) -> dict[str, list[Any]]:
        """The columns of `run_table`, with the same values."""
        columns: dict[str, list[Any]] = {
            name: [getattr(run, field) for run in self.finished] for name, field in IDENTITY.items()
        }
        swept = {column(key): [_cell(run.overrides.get(key)) for run in self.finished] for key in self.keys}
        return columns | {name: _of_one_type(values) for name, values in swept.items()}

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
                return str(self._head(path)["scheme"]["name"])
        return "scheme"


def _of_one_type(values: list[Any]) -> list[Any]:
    """The values of a column as Polars would convert them: with a swept 0.5, 1 is 1.0."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return values
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    import polars as pl

    return pl.Series(values, strict=False).to_list()


def _cell(value: Any) -> Any:
    """A sweep value as a table cell: numbers and text unchanged, nested values as text."""
    return value if value is None or isinstance(value, (str, int, float, bool)) else show(value)
