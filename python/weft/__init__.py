"""Weft: what becomes of my flows if the fabric chooses paths another way?

    >>> import weft
    >>> results = weft.Scenario.from_file("scenario.toml").run("results/mine")
    >>> results.summary(baseline="ecmp")

`Scenario` runs simulations, `Results` reads what they wrote as Polars frames, `fabric` reads a fabric alone; `report`
and `plot` draw. `docs/python.md` walks through it.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._weft import version as _version
from .errors import OutputError, ResultsError, ScenarioError, WeftError
from .scenario import Point, Scenario
from .topology import Fabric, FabricPath, Link, Node, fabric, write_fabric

if TYPE_CHECKING:
    from .results import Results, Run
    from .statistics import Estimate

__version__ = _version()

__all__ = [
    "Estimate",
    "Fabric",
    "FabricPath",
    "Link",
    "Node",
    "OutputError",
    "Point",
    "Results",
    "ResultsError",
    "Run",
    "Scenario",
    "ScenarioError",
    "WeftError",
    "__version__",
    "distributions",
    "fabric",
    "plot",
    "profiles",
    "report",
    "schema",
    "schemes",
    "write_fabric",
]


def __getattr__(name: str) -> Any:
    """Import what needs Polars or SciPy when it is first asked for, so that the command line starts at once."""
    modules = {"Results": "results", "Run": "results", "Estimate": "statistics"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{modules[name]}", __name__), name)


def schemes() -> list[dict[str, Any]]:
    """The switching schemes with what they do and their parameters."""
    return _listing("schemes")


def profiles() -> list[dict[str, Any]]:
    """The transport profiles with every parameter."""
    return _listing("profiles")


def distributions() -> list[dict[str, Any]]:
    """The built-in flow size distributions."""
    return _listing("distributions")


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    from . import _weft

    answer: dict[str, Any] = json.loads(_weft.schema())
    return answer


def report(results: str | Path | Results, out: str | Path | None = None) -> Path:
    """Write the report of a result directory as one HTML page that needs no network.

    Args:
        results: A result directory, or one already opened.
        out: The page; default ``report.html`` in the directory.

    Returns:
        Where it was written.
    """
    from .reporting import write
    from .results import Results

    return write(results if isinstance(results, Results) else Results(results), out)


def plot(
    results: str | Path | Results, out: str | Path | None = None, formats: tuple[str, ...] = ("pdf", "png")
) -> list[Path]:
    """Write the report's figures as files for a paper.

    Args:
        results: A result directory, or one already opened.
        out: A directory; default ``figures`` in the result directory.
        formats: File types that matplotlib knows.

    Returns:
        The files written.
    """
    from .figures import write
    from .results import Results

    return write(results if isinstance(results, Results) else Results(results), out, formats)


def _listing(what: str) -> list[dict[str, Any]]:
    from . import _weft

    answer: list[dict[str, Any]] = json.loads(getattr(_weft, what)())
    return answer
