"""The error for a path that is no result directory, with those that are meant."""

import difflib
from pathlib import Path

from .errors import ResultsError

INDEX = "sweep.json"
_MOST = 12
"""Directories that a message lists."""


def missing_results(path: Path) -> ResultsError:
    """The error for a path without results: the result directories in or beside it, or how to make one."""
    if path.is_file():
        run = f": `weft run {path}` writes its results" if path.suffix == ".toml" else ""
        return ResultsError(f"{path} is a file, not a result directory{run}")
    make = "give the directory that `weft run -o` wrote"
    if not path.exists():
        near = difflib.get_close_matches(path.name, [one.name for one in _within(path.parent)], 1)
        meant = f"did you mean {path.parent / near[0]}?" if near else make
        return ResultsError(f"{path} does not exist: {meant}")
    found = _within(path)
    if not found:
        return ResultsError(f"{path} is not a result directory (no {INDEX}): {make}")
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    names = ", ".join(str(one) for one in found[:_MOST])
    return ResultsError(f"{path} holds result directories and is not one itself: give one of {names}{more}")


def _within(folder: Path) -> list[Path]:
    """The result directories in a directory."""
    try:
        return sorted(index.parent for index in folder.glob(f"*/{INDEX}"))
    except OSError:
        return []
