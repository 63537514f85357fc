"""Weft: a packet-level simulator for data-centre networks that compares path-selection schemes.

    >>> import weft
    >>> results = weft.Scenario.from_file("scenario.toml").run("results/mine")
    >>> results.summary(baseline="ecmp")

`Scenario` runs simulations, `Results` reads their output as Polars frames, `fabric` reads a fabric; `report` and `plot`
draw figures. `docs/python.md` is a walk-through.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""As in `typing`, whose import would take longer than everything else before the command can handle Ctrl-C."""
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from .catalogue import distributions, profiles, schema, schemes
    from .errors import OutputError, PluginError, ResultsError, ScenarioError, WeftError
    from .graph import Link, Node
    from .in_memory import InMemory, run
    from .one_run import Run
    from .plugins import load_plugin
    from .results import Results
    from .scenario import Point, Scenario
    from .statistics import Estimate
    from .topology import Fabric, FabricPath, fabric, write_fabric

__version__: str

__all__ = [
    "Estimate",
    "Fabric",
    "FabricPath",
    "InMemory",
    "Link",
    "Node",
    "OutputError",
    "PluginError",
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
    "load_plugin",
    "plot",
    "profiles",
    "report",
    "run",
    "schema",
    "schemes",
    "write_fabric",
]


_FROM = {
    "catalogue": ("distributions", "profiles", "schema", "schemes"),
    "errors": ("OutputError", "PluginError", "ResultsError", "ScenarioError", "WeftError"),
    "graph": ("Link", "Node"),
    "in_memory": ("InMemory", "run"),
    "plugins": ("load_plugin",),
    "results": ("Results",),
    "one_run": ("Run",),
    "scenario": ("Point", "Scenario"),
    "statistics": ("Estimate",),
    "topology": ("Fabric", "FabricPath", "fabric", "write_fabric"),
}
"""Names that are imported on first use, by module."""
_MODULES = {name: module for module, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a module on first use: the command line starts quickly, and is soon ready for Ctrl-C."""
    from importlib import import_module

    if name == "__version__":
        value = import_module("._weft", __name__).version()
    elif name in _MODULES:
        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All public names, also those not imported yet."""
    return sorted(set(globals()) | set(__all__))


def report(results: str | Path | Results, out: str | Path | None = None, *, baseline: str | None = None) -> Path:
    """Write the report of a result directory as one self-contained HTML page.

    Args:
        results: A result directory, or an opened one.
        out: The page; default ``report.html`` in the directory.
        baseline: The scheme to compare with, or a value of a swept key such as ``load=0.2``; default the scenario's.

    Returns:
        The path of the page.
    """
    from .reporting import write
    from .results import Results

    return write(results if isinstance(results, Results) else Results(results), out, baseline=baseline)


def plot(
    results: str | Path | Results,
    out: str | Path | None = None,
    formats: tuple[str, ...] = ("pdf", "png"),
    *,
    only: tuple[str, ...] = (),
    width: float | None = None,
    baseline: str | None = None,
) -> list[Path]:
    """Write the report's figures as files for a paper.

    Args:
        results: A result directory, or an opened one.
        out: A directory; default ``figures`` in the result directory.
        formats: File types: pdf, png, svg, jpg, tif, webp.
        only: Names of the figures to write, such as ``fct-cdf``; default all.
        width: Width of each figure in inches; default as wide as its panels need.
        baseline: A value of a swept key such as ``load=0.2``, whose values are then drawn as schemes are; or a scheme.

    Returns:
        The files written.
    """
    from .figures import write
    from .results import Results

    opened = results if isinstance(results, Results) else Results(results)
    return write(opened, out, formats, only=only, width=width, baseline=baseline)
