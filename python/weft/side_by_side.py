"""Several result directories as one: each directory is one more thing to compare, as a variant is.

Directories of the same scenario (with other seeds, say) are merged instead. Whether runs of two directories have the
same flows is checked as within a directory: see `weft.matching`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .errors import ResultsError
from .results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .results import Run


class SideBySide(Results):
    """The runs of several directories.

    Args:
        directories: Two or more result directories; the first one has the baseline.

    Raises:
        ResultsError: One is not a result directory, or is given twice.
    """

    keeps = False

    def __init__(self, directories: Sequence[Path]) -> None:
        super().__init__(directories[0])
        parts = [Results(directory) for directory in directories]
        if len({part.path.resolve() for part in parts}) < len(parts):
            raise ResultsError("a result directory is given twice: give different ones")
        names = [part.path.resolve().name for part in parts]
        if len(set(names)) < len(names):
            names = [str(part.path) for part in parts]
        self.merged = len({part.fingerprint for part in parts}) == 1
        """Whether all directories have the same scenario."""
        runs: list[Run] = []
        for name, part in zip(names, parts, strict=True):
            for run in part.runs:
                label = run.scheme if self.merged else _label(name, run.scheme, part)
                runs.append(replace(run, id=f"{name}/{run.id}", scheme=label))
        if self.merged:
            runs = _once(runs)
        found = self.__dict__
        found["runs"] = runs
        found["compared"] = parts[0].compared if self.merged else None
        found["keys"] = (
            parts[0].keys if self.merged else list(dict.fromkeys(key for run in runs for key in run.dimensions))
        )
        first = parts[0].baseline or (parts[0].schemes[0] if parts[0].schemes else None)
        self._baseline = parts[0].baseline if self.merged or first is None else _label(names[0], first, parts[0])

    @property
    def baseline(self) -> str | None:
        """The first directory's baseline, or its first scheme."""
        return self._baseline

    def comparing(self, baseline: str | None) -> Results:
        """The same results: the directories are compared."""
        return self


def _label(name: str, scheme: str, part: Results) -> str:
    """A directory's name, followed by the scheme if the directory has several."""
    return f"{name} {scheme}" if len({run.scheme for run in part.runs}) > 1 else name


def _once(runs: Sequence[Run]) -> list[Run]:
    """The runs of directories of one scenario; of a run that is in several, a finished one."""
    found: dict[str, Run] = {}
    for run in runs:
        own = run.id.rpartition("/")[2]
        if own not in found or (run.finished and not found[own].finished):
            found[own] = run
    return list(found.values())


def opened(directories: Sequence[Path]) -> Results:
    """The results in one directory, or those of several side by side."""
    return Results(directories[0]) if len(directories) == 1 else SideBySide(directories)
