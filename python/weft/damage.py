"""A damaged file of the results: sought after an error that does not name it, so that whole results cost nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ResultsError
from .one_run import FLOWS, SERIES, SUMMARY, Run, again, read_json
from .runs import Runs

_KEYS = ("scheme", "fabric", "traffic", "simulated_ps", "window_ps", "counters", "classes", "links", "nodes")
"""Keys that every ``summary.json`` has."""


@contextmanager
def named(directory: Path) -> Iterator[None]:
    """Turn an error of reading results into one that names the damaged file, if there is one."""
    try:
        yield
    except ResultsError:
        raise
    except Exception as error:
        found = sought(directory)
        if found is None:
            raise
        raise found from error


def sought(directory: Path) -> ResultsError | None:
    """The error that names the first damaged file of a finished run of these results, or of a study's parts."""
    for index in sorted([*directory.glob("sweep.json"), *directory.glob("*/sweep.json")]):
        try:
            results = Runs(index.parent)
            for check in (_of_summary, _of_footers, _of_rows):
                for run in results.finished:
                    if (found := check(run)) is not None:
                        path, why = found
                        about = f"{path} is damaged ({why}): it belongs to the run {run.label}, seed {run.seed}"
                        return ResultsError(about, _remedy(results, run))
        except ResultsError as error:
            return error
    return None


def _remedy(results: Runs, run: Run) -> str:
    """The way to have the run again, with the command if the directory has all that the command needs."""
    index = read_json(results.path / "sweep.json")
    if index.get("emulated") or index.get("inputs") or not results.has_scenario:
        return again(run.path / SUMMARY)
    words: list[object] = ["weft", "run", results.path / "scenario.toml", "-o", results.path]
    for change in index.get("sets") or ():
        words += ["--set", change]
    seeds = sorted({one.seed for one in results.runs})
    if seeds == list(range(1, len(seeds) + 1)):
        words += ["--seeds", len(seeds)]
    return f"delete {run.path}, then {shlex.join(map(str, words))}"


_Damage = tuple[Path, str] | None
"""A damaged file, and the reason."""


def _of_summary(run: Run) -> _Damage:
    content = run.summary()
    missing = _KEYS if not isinstance(content, dict) else [key for key in _KEYS if key not in content]
    return (run.path / SUMMARY, f"no `{missing[0]}` in it") if missing else None


def _of_footers(run: Run) -> _Damage:
    """The end of a Parquet file, which a cut-off file lacks."""
    import polars as pl

    return _unreadable(run, pl.read_parquet_schema)


def _of_rows(run: Run) -> _Damage:
    import polars as pl

    return _unreadable(run, pl.read_parquet)


def _unreadable(run: Run, read: Callable[[Path], object]) -> _Damage:
    """The first Parquet file of a run that cannot be read so."""
    import polars as pl

    for path in (run.path / FLOWS, run.path / SERIES):
        try:
            read(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            return path, str(error).splitlines()[0]
    return None
