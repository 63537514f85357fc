"""Several result directories as one.

Directories of one scenario with different seeds are merged. Any others are compared: each directory is one more scheme.
Whether runs of two directories have the same flows is checked as within a directory: see `weft.matching`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from .errors import ResultsError
from .one_run import Run
from .results import Results
from .variants import compared_key, dimensions

_LISTED = 5
"""Points of a directory that a message names."""


class _Part(Results):
    """One of the directories."""

    shared: frozenset[str] = frozenset()
    """Keys that all directories sweep: these make points, and are not part of labels."""

    @cached_property
    def compared(self) -> str | None:
        return compared_key(
            [{key: value for key, value in of.items() if key not in self.shared} for of in self.overrides],
            self.stored_baseline,
        )

    @property
    def identities(self) -> set[str]:
        """Seed and swept values of each run, which identify the runs of a scenario."""
        entries = self._index["runs"]
        return {json.dumps([entry.get("seed"), entry.get("overrides")], sort_keys=True) for entry in entries}

    def entries(self, name: str) -> list[dict[str, Any]]:
        """The entries of `sweep.json`, with the directory's name in ids and with absolute paths."""
        return [
            entry | {"id": f"{name}/{run.id}", "path": str(run.path.absolute())}
            for entry, run in zip(self._index["runs"], self.runs, strict=True)
        ]


class _Several(Results):
    """The runs of several directories, by the names these have in labels; the first one has the baseline."""

    keeps = False

    def __init__(self, parts: Mapping[str, _Part]) -> None:
        self._parts = dict(parts)
        super().__init__(next(iter(parts.values())).path)

    @property
    def warnings(self) -> list[str]:
        return list(dict.fromkeys(text for part in self._parts.values() for text in part.warnings))

    @property
    def where(self) -> str:
        return ", ".join(str(part.path) for part in self._parts.values())


class Merged(_Several):
    """Directories of one scenario with different seeds, as one directory with all of them."""

    def __init__(self, parts: Mapping[str, _Part]) -> None:
        super().__init__(parts)
        self._index = self._index | {"runs": [entry for name, part in parts.items() for entry in part.entries(name)]}


class SideBySide(_Several):
    """Directories that are compared with the first one."""

    def __init__(self, parts: Mapping[str, _Part]) -> None:
        super().__init__(parts)
        swept = [{key for of in part.overrides for key in dimensions(of, None)} for part in parts.values()]
        for part in parts.values():
            part.shared = frozenset(set.intersection(*swept))
        self._name, self._first = next(iter(parts.items()))
        runs = []
        self._directories: dict[str, str] = {}
        for name, part in parts.items():
            for run in part.runs:
                runs.append(replace(run, id=f"{name}/{run.id}", scheme=_label(name, run.scheme, part)))
                self._directories[runs[-1].id] = name
        found = self.__dict__
        found["runs"] = runs
        found["compared"] = None
        found["keys"] = list(dict.fromkeys(key for run in runs for key in run.dimensions))

    @property
    def baseline(self) -> str | None:
        """The first directory's baseline, or its first scheme."""
        first = self._first.baseline or next(iter(self._first.schemes), None)
        return None if first is None else _label(self._name, first, self._first)

    def comparing(self, baseline: str | None) -> Self:
        """These results: the directories are compared."""
        return self

    @property
    def comparable_values(self) -> list[str]:
        """None: the directories are compared."""
        return []

    def label_of(self, baseline: str) -> str | None:
        """The label that a user means; a scheme's name alone is that of the first directory."""
        own = self._first.label_of(baseline)
        return super().label_of(baseline) or (None if own is None else _label(self._name, own, self._first))

    def apart(self, baseline: str) -> list[str]:
        """One sentence for each directory without a point or a seed in common with the baseline."""
        there: dict[str, list[Run]] = {}
        for run in self.finished:
            there.setdefault(self._directories[run.id], []).append(run)
        reference = [run for run in self.finished if run.scheme == baseline]
        points, seeds = {run.point for run in reference}, {(run.point, run.seed) for run in reference}
        found = []
        for name, runs in there.items():
            if not points & {run.point for run in runs}:
                both = f"{baseline} has {_points(reference)}; {name} has {_points(runs)}"
                found.append(f"no point in common, so no differences: {both}")
            elif not seeds & {(run.point, run.seed) for run in runs}:
                found.append(f"no seed in common, so no differences: {baseline} and {name}")
        return found


def _points(runs: Sequence[Run]) -> str:
    """The points of runs, some of them if there are many."""
    points = list(dict.fromkeys(run.point for run in runs))
    more = f" and {len(points) - _LISTED} more" if len(points) > _LISTED else ""
    return ", ".join(point or "one point without swept keys" for point in points[:_LISTED]) + more


def _label(name: str, scheme: str, part: Results) -> str:
    """A directory's name, followed by the scheme if the directory has several."""
    return f"{name} {scheme}" if len({run.scheme for run in part.runs}) > 1 else name


def opened(directories: Sequence[Path]) -> Results:
    """The results in one directory, or those of several as one.

    Raises `ResultsError` if one is not a result directory, or is given twice.
    """
    if len(directories) == 1:
        return Results(directories[0])
    parts = [_Part(directory) for directory in directories]
    if len({part.path.resolve() for part in parts}) < len(parts):
        raise ResultsError("a result directory is given twice: give different ones")
    names = [part.path.resolve().name for part in parts]
    if len(set(names)) < len(names):
        names = [str(part.path) for part in parts]
    named = dict(zip(names, parts, strict=True))
    return Merged(named) if _is_one_experiment(parts) else SideBySide(named)


def _is_one_experiment(parts: Sequence[_Part]) -> bool:
    """Whether all have the same scenario and no run is in two of them, as that would be a repetition to compare."""
    runs = [part.identities for part in parts]
    return len({part.fingerprint for part in parts}) == 1 and len(set.union(*runs)) == sum(map(len, runs))
