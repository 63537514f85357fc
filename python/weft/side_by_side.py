"""Several result directories as one.

Directories of one scenario with different seeds are merged. Any others are compared: each directory is one more scheme.
Whether runs of two directories have the same flows is checked as within a directory: see `weft.matching`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .errors import ResultsError
from .results import Results
from .variants import compared_key, dimensions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


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
        """Seed and swept values of each run, which tell the runs of a scenario apart."""
        entries = self._index["runs"]
        return {json.dumps([entry.get("seed"), entry.get("overrides")], sort_keys=True) for entry in entries}

    def entries(self, name: str) -> list[dict[str, Any]]:
        """The entries of `sweep.json`, with the directory's name in ids and with absolute paths."""
        return [
            entry | {"id": f"{name}/{run.id}", "path": str(run.path.absolute())}
            for entry, run in zip(self._index["runs"], self.runs, strict=True)
        ]


class _Several(Results):
    """The runs of several directories.

    Args:
        parts: The directories by the names they have in labels; the first one has the baseline.
    """

    keeps = False

    def __init__(self, parts: Mapping[str, _Part]) -> None:
        self._parts = dict(parts)
        super().__init__(next(iter(parts.values())).path)

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
        runs = [
            replace(run, id=f"{name}/{run.id}", scheme=_label(name, run.scheme, part))
            for name, part in parts.items()
            for run in part.runs
        ]
        found = self.__dict__
        found["runs"] = runs
        found["compared"] = None
        found["keys"] = list(dict.fromkeys(key for run in runs for key in run.dimensions))

    @property
    def baseline(self) -> str | None:
        """The first directory's baseline, or its first scheme."""
        first = self._first.baseline or next(iter(self._first.schemes), None)
        return None if first is None else _label(self._name, first, self._first)

    def comparing(self, baseline: str | None) -> Results:
        """The same results: the directories are compared."""
        return self


def _label(name: str, scheme: str, part: Results) -> str:
    """A directory's name, followed by the scheme if the directory has several."""
    return f"{name} {scheme}" if len({run.scheme for run in part.runs}) > 1 else name


def opened(directories: Sequence[Path]) -> Results:
    """The results in one directory, or those of several as one.

    Raises:
        ResultsError: One is not a result directory, or is given twice.
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
