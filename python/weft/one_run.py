"""One run of a result directory, and its files."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import ResultsError

FLOWS, SERIES, SUMMARY = "flows.parquet", "series.parquet", "summary.json"
"""Files of a run."""
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

    With a single scheme and several swept keys, one of these is such a parameter too: `Runs.compared`."""
    dimensions: dict[str, Any]
    """The other sweep keys, with this run's values."""
    point: str
    """The values of `dimensions` as one short text, the same for all schemes and seeds of a point."""

    @property
    def finished(self) -> bool:
        """Whether its results exist; they appear atomically."""
        return (self.path / SUMMARY).is_file()

    def status(self, name: str) -> os.stat_result:
        """The status of its file of this name. Raises `ResultsError` if the file is missing or cannot be read."""
        path = self.path / name
        try:
            return path.stat()
        except FileNotFoundError:
            raise missing(path) from None
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror or error}") from None

    def summary(self) -> dict[str, Any]:
        """Its `summary.json`, read again at every call."""
        found: dict[str, Any] = read_json(self.path / SUMMARY)
        return found


def files(runs: Iterable[Run], name: str) -> list[str]:
    """The path of the file of this name of every run. Raises `ResultsError` if one is missing."""
    paths = [run.path / name for run in runs]
    for path in paths:
        if not path.is_file():
            raise missing(path)
    return [str(path) for path in paths]


def missing(path: Path) -> ResultsError:
    """The error of a finished run without one of its files."""
    return ResultsError(f"{path} is missing: {again(path)}")


def again(path: Path) -> str:
    """The way to replace a damaged or missing file of the results."""
    return f"delete {path.parent} and run the scenario again"


def read_json(path: Path) -> Any:
    """The content of a JSON file of the results. Raises `ResultsError` if it cannot be read."""
    return decoded(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of the results. Raises `ResultsError` if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None


def decoded(path: Path, data: bytes) -> Any:
    """The content of a JSON file with these bytes. Raises `ResultsError` if it is not valid."""
    try:
        text = data.decode()
        content = json.loads(text)
        if _HALF.search(text):
            # JSON can escape a lone surrogate, which cannot be encoded in a table or a page.
            json.dumps(content, ensure_ascii=False).encode()
        return content
    except ValueError as error:
        why = "not text" if isinstance(error, UnicodeDecodeError) else str(error)
        raise ResultsError(f"{path}: not valid JSON ({why}): {again(path)}") from None
