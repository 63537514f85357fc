"""Figures for papers: the report's figures as PDF and PNG, drawn with matplotlib from the same extracts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import extracts, paths
from ..content import Content
from ..errors import OutputError
from ..labels import visible

if TYPE_CHECKING:
    from ..results import Results

_METRICS = {
    "fct-mean": "mean_fct_s",
    "fct-median": "median_fct_s",
    "fct-p99": "p99_fct_s",
    "slowdown": "mean_slowdown",
    "throughput": "mean_throughput_bps",
    "out-of-order": "out_of_order_share",
}
_COLLECTIVES = {"collective-time": "completion_s", "collective-ratio": "bound_ratio"}
_Draw = Callable[[Path, Sequence[str]], list[Path]]


@dataclass(frozen=True)
class _Figure:
    """A figure that can be drawn."""

    name: str
    point: str
    """End of the file's name where there are several points."""
    draw: _Draw

    @property
    def stem(self) -> str:
        return f"{self.name}-{self.point}" if self.point else self.name


def write(
    results: Results,
    out: str | Path | None = None,
    formats: Sequence[str] = ("pdf", "png"),
    *,
    only: Sequence[str] = (),
    width: float | None = None,
) -> list[Path]:
    """Write the figures of a result directory for which there is data.

    Args:
        results: The results to draw.
        out: A directory; default ``figures`` in the result directory.
        formats: File types from `weft.figures.style.FORMATS`: pdf, png, svg, jpg, tif, webp.
        only: Names of figures (``fct-cdf``: at all points; ``fct-cdf-load-0.4``: at one); default all.
        width: Width of each figure in inches; default as wide as its panels need.

    Returns:
        The files written.

    Raises:
        ResultsError: No run has finished.
        OutputError: A figure in `only` does not exist, or a file cannot be written.
    """
    from .style import fitted

    content = Content(results, None)
    figures = list(_figures(content))
    known = dict.fromkeys(name for figure in figures for name in (figure.name, figure.stem))
    for name in only:
        if name in _METRICS and name not in known and (why := content.summary.without_means()):
            raise OutputError(f"there is no figure `{name}`: " + visible("\n  ".join(why)))
        if name not in known:
            raise OutputError(f"there is no figure `{name}`: {_choices(figures)}")
    folder = Path(out) if out is not None else results.path / "figures"
    files: list[Path] = []
    chosen = [figure for figure in figures if not only or figure.name in only or figure.stem in only]
    with fitted(width):
        for done, figure in enumerate(chosen):
            results.watch("Drawing figures", done, len(chosen))
            files += figure.draw(folder / figure.stem, formats)
    return files


def missing(results: Results) -> list[str]:
    """Why there are no figures of means, one sentence and the reasons; empty if there are any, or no flows."""
    return Content(results, None).summary.without_means()


def _figures(content: Content) -> Iterator[_Figure]:
    """The figures for which there is data; nothing is drawn yet."""
    from . import comparison

    results = content.results
    known = set(content.intervals()["metric"])
    if rows := paths.collectives(results):
        for name, key in _COLLECTIVES.items():
            yield _Figure(name, "", partial(comparison.collectives, content, rows, key))
    for name, metric in _METRICS.items():
        if metric in known:
            yield _Figure(name, "", partial(comparison.by_class, content, metric))
    curves, delivered = extracts.completion_curves(results), extracts.throughput_over_time(results)
    largest, exceedance = extracts.largest_queue(results), extracts.queue_exceedance(results)
    for point in content.points:
        end = slug(point) if len(content.points) > 1 else ""
        if point in curves["point"]:
            yield _Figure("fct-cdf", end, partial(comparison.curves, content, curves, point))
        if content.classes:
            yield _Figure("throughput-time", end, partial(comparison.over_time, content, delivered, point))
        yield _Figure("queues", end, partial(comparison.queues, content, largest, exceedance, point))
        yield _Figure("fabric", end, partial(comparison.fabric, content, point))


def _choices(figures: Sequence[_Figure]) -> str:
    """The names of the figures; those of points, of which there may be many, one per line."""
    names = dict.fromkeys(figure.name for figure in figures)
    points = dict.fromkeys(figure.point for figure in figures if figure.point)
    text = f"choose from {', '.join(names)}"
    if not points:
        return text
    several = dict.fromkeys(figure.name for figure in figures if figure.point)
    example = f"{next(iter(several))}-{next(iter(points))}"
    return f"{text}. {', '.join(several)} can be followed by a point (`{example}`):" + "".join(
        f"\n  {point}" for point in points
    )


def slug(text: str) -> str:
    """Text as part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-") or "point"
