"""Weft: a packet-level simulator for data-centre networks that compares path-selection schemes.

    >>> import weft
    >>> results = weft.run("scenario.toml")
    >>> results.compare(baseline="ecmp")

`run` simulates in memory, `Scenario.run` into a directory, `Results` reads the output as Polars frames. `fabric` reads
a file or a graph. `figure` draws one figure, `plot` and `report` write all. `docs/python.md` is a walk-through.
"""

from __future__ import annotations

from .keywords import named

TYPE_CHECKING = False
"""As in `typing`, whose import would take longer than everything else before the command can handle Ctrl-C."""
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from .catalogue import distributions, profiles, schema, schemes
    from .comparison import Comparison
    from .errors import OutputError, PluginError, ResultsError, ScenarioError, WeftError
    from .figures.image import Drawing
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
    "Comparison",
    "Drawing",
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
    "figure",
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
    "figures.image": ("Drawing",),
    "comparison": ("Comparison",),
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


@named
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


@named
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
        The files written. A warning says why there are no means.
    """
    import warnings

    from .figures import missing, write
    from .labels import visible
    from .results import Results

    opened = results if isinstance(results, Results) else Results(results)
    files = write(opened, out, formats, only=only, width=width, baseline=baseline)
    if not only and (reasons := missing(opened)):
        warnings.warn(visible("\n  ".join(reasons)), stacklevel=3)
    return files


@named
def figure(
    results: str | Path | Results,
    name: str,
    *,
    at: str | Mapping[str, Any] | None = None,
    width: float | str | None = None,
    log_x: bool | None = None,
    log_y: bool | None = None,
    ccdf: bool | None = None,
    labels: Mapping[str, str] | None = None,
    font: str | None = None,
    font_size: float | None = None,
) -> Drawing:
    """Draw one of the report's figures, for a notebook or a paper.

    Args:
        results: A result directory, an opened one, or what `run` returned.
        name: The name of the figure, such as ``fct-cdf``; an unknown one lists the names.
        at: The point of the sweep, as a text (``"load 0.4"``) or by its values (``{"traffic.load": 0.4}``); needed for
            figures of a point if there are several.
        width: Width in inches, ``"column"`` (3.5) or ``"text"`` (7.16); default as wide as its panels need.
        log_x: Whether the horizontal axis is logarithmic; default as in the report.
        log_y: Whether the vertical axis is.
        ccdf: Whether a distribution shows the share that takes longer.
        labels: Other texts for schemes, classes and points by their names, and for the axis titles ``x`` and ``y``.
        font: The font of all texts; default Liberation Sans, which Weft contains.
        font_size: Size of axis titles in points, other texts in proportion; default 9.

    Returns:
        The figure: a notebook shows it, `Drawing.save` writes it as PDF, PNG, SVG, JPEG, TIFF or WebP.

    Raises:
        ResultsError: The directory has no results, or no run has finished.
        OutputError: There is no such figure, point, name of a label, axis or font.
    """
    from .errors import OutputError
    from .figures import one
    from .figures.options import FONT, FONT_SIZE, Options
    from .figures.paper import WIDTHS
    from .results import Results

    opened = results if isinstance(results, Results) else Results(results)
    inches = WIDTHS.get(width, 0.0) if isinstance(width, str) else width
    if inches is not None and not 1.5 <= inches <= 40:
        raise OutputError(f"width is 1.5 to 40 inches, `column` (3.5) or `text` (7.16), not `{width}`")
    options = Options(log_x, log_y, ccdf, labels or {}, font or FONT, FONT_SIZE if font_size is None else font_size)
    return one(opened, name, at=at, width=inches, options=options)
