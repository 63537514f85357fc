"""Figures: one Vega-Lite specification for the page and, in a paper's style, for files.

`registry` lists the figures of a comparison, one file each, made of the parts in `layers`; `style` has the sizes of all
charts, `paper` draws files. `drawing` is the fabric as SVG.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from .. import paths
from ..content import Content
from ..errors import OutputError
from ..labels import visible
from ..metrics import METRICS
from ..palette import Style, styles
from ..results import Results
from . import absent, collectives, events, fabric, paper, rank_times, ranks
from .figure import Drawn, Measure, Toggle
from .image import Drawing, require
from .options import Options
from .registry import FIGURES

_FILES = {measure.key: measure.file for figure in FIGURES for measure in figure.measures if measure.file}
_RANKED = {metric: _FILES[metric.key] for metric in METRICS if metric.key in _FILES and not metric.rare}
"""The metrics by which schemes are ranked, with the names of their figures."""
_LONGEST = 320
"""Letters of a line below a figure."""


@dataclass(frozen=True)
class _Figure:
    name: str
    point: str
    """End of the file's name where there are several points."""
    draw: Callable[..., str]
    """Draws it with a `width` in inches and `options`, as SVG."""
    toggles: Sequence[Toggle] = ()

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
    baseline: str | None = None,
) -> list[Path]:
    """Write the figures of a result directory for which there is data.

    Args:
        results: The results to draw.
        out: A directory; default ``figures`` in the result directory.
        formats: File types from `weft.figures.paper.FORMATS`: pdf, png, svg, jpg, tif, webp.
        only: Names of figures (``fct-cdf``: at all points; ``fct-cdf-load-0.4``: at one); default all.
        width: Width of each figure in inches; default as wide as its panels need.
        baseline: A scheme, or a value of a swept key (``load=0.2``), whose values are then drawn as schemes are.

    Returns:
        The files written.

    Raises:
        ResultsError: No run has finished, or the baseline does not exist.
        OutputError: A figure in `only` does not exist, or a file cannot be written.
    """
    content = Content(results, baseline)
    figures = list(_figures(content))
    for name in only:
        _named(name, figures, content)
    folder = Path(out) if out is not None else results.place("figures")
    files: list[Path] = []
    chosen = [figure for figure in figures if not only or figure.name in only or figure.stem in only]
    for done, figure in enumerate(chosen):
        results.watch("Drawing figures", done, len(chosen))
        files += paper.save(figure.draw(width=width), folder / figure.stem, formats)
    return files


def one(
    results: Results,
    name: str,
    *,
    at: str | Mapping[str, Any] | None = None,
    width: float | None = None,
    options: Options | None = None,
) -> Drawing:
    """Draw one figure; the arguments are those of `weft.figure`.

    Raises:
        ResultsError: No run has finished.
        OutputError: There is no such figure or point, or the figure cannot have these options.
    """
    content, options = Content(results, None), options or Options()
    require(options.font)
    found = _named(name, list(_figures(content, options)), content)
    if len(found) > 1 and at is not None:
        point = slug(_point(results, at))
        found = [figure for figure in found if figure.point == point]
    if len(found) > 1:
        listed = "".join(f"\n  at={point!r}" for point in content.points)
        raise OutputError(f"`{name}` is a figure for each point of the sweep: choose one with{listed}")
    [figure] = found
    options.check(name, figure.toggles)
    return Drawing(figure.stem, figure.draw(width=width, options=options))


def _point(results: Results, at: str | Mapping[str, Any]) -> str:
    """The point with this text or with these values of swept keys."""
    for run in results.finished:
        if at == run.point or at == run.dimensions:
            return run.point
    listed = ", ".join(repr(point) for point in results.points)
    raise OutputError(f"there is no point {at!r}: choose from {listed}")


def _named(name: str, figures: Sequence[_Figure], content: Content) -> list[_Figure]:
    """The figures of this name, at all points or at the one in the name."""
    found = [figure for figure in figures if name in (figure.name, figure.stem)]
    if not found and (why := absent.reasons(name, content)):
        raise OutputError(f"there is no figure `{name}`: " + visible("\n  ".join(why)))
    if not found:
        raise OutputError(f"there is no figure `{name}`: {_choices(figures)}")
    return found


def missing(results: Results) -> list[str]:
    """Why there is no figure of mean completion times, one sentence and the reasons; empty if there is one."""
    return absent.of_means(Content(results, None))


def _figures(content: Content, options: Options | None = None) -> Iterator[_Figure]:
    """The figures for which there is data, with the axes of the options; nothing is drawn yet."""
    options = options or Options()
    results = content.results
    names = [visible(scheme) for scheme in content.schemes]
    left_out = content.summary.unsteady()
    said = ["Not shown:", *map(_short, left_out)] if left_out else []
    if rows := paths.collectives(results):
        for name, key in collectives.KEYS.items():
            spec = collectives.spec(rows, key, names)
            data = {"collectives": collectives.data(rows, key)}
            yield _Figure(name, "", partial(paper.drawn, spec, data, _looks(content, names), notes=said))
    for figure in FIGURES:
        for measure in figure.known(content):
            if measure.file:
                spec = figure.spec(Drawn(content, names, options.on(figure), measure))
                data = {"intervals": _means(content, measure)}
                draw = partial(paper.drawn, spec, data, _looks(content, names), notes=said)
                yield _Figure(measure.file, "", draw, figure.toggles)
    for metric, file in _RANKED.items():
        if ranks.by_class(content, metric):
            yield _Figure(f"ranks-{file}", "", partial(ranks.draw, content, metric))
    of_points = [figure for figure in FIGURES if figure.file]
    tables = {figure.file: figure.data(content) for figure in of_points}
    for point in content.points:
        end = slug(point) if len(content.points) > 1 else ""
        for figure in of_points:
            labels = content.labels(point)
            data = {name: _rows(table, point, labels) for name, table in tables[figure.file].items()}
            if any(data.values()):
                if figure.over_time:
                    data[events.DATA] = _shown(content.events.filter(pl.col("point") == point))
                spec = figure.spec(Drawn(content, list(labels.values()), options.on(figure)))
                looks = _looks(content, list(labels.values()))
                notes = [_short(line) for line in content.explained(point)]
                notes = ["Not shown:", *notes] if figure.steady and notes else notes
                if figure.over_time:
                    notes += map(_short, events.listed(data[events.DATA]))
                yield _Figure(figure.file, end, partial(paper.drawn, spec, data, looks, notes=notes), figure.toggles)
        times, notes = rank_times.data(results, point, content.labels(point))
        if times:
            spec = rank_times.spec(list(dict.fromkeys(row["panel"] for row in times)))
            draw = partial(paper.drawn, spec, {"ranks": times}, rank_times.LOOKS, notes=list(map(_short, notes)))
            yield _Figure(rank_times.NAME, end, draw)
        yield _Figure("fabric", end, partial(fabric.draw, content, point))


def _looks(content: Content, names: Sequence[str]) -> dict[str, Style]:
    return dict(zip(names, styles(content.schemes).values(), strict=True))


def _means(content: Content, measure: Measure) -> list[dict[str, Any]]:
    """The rows of a measure by class; with further swept values, these are part of the class."""
    frame = content.intervals().filter(pl.col("metric") == measure.key)
    if content.others:
        frame = frame.with_columns(pl.format("{}, {}", "class", "panels").alias("class"))
    if content.x is not None:
        frame = frame.with_columns(pl.col(content.x).alias("x"))
    places = [content.schemes.index(scheme) for scheme in frame["scheme"]]
    return _shown(frame.with_columns(pl.Series("place", places, dtype=pl.Int64)))


def _rows(table: pl.DataFrame, point: str, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a table at a point, with the `place` of each scheme."""
    part = table.filter(pl.col("point") == point)
    places = {name: at for at, name in enumerate(labels)}
    place = pl.col("scheme").replace_strict(places, return_dtype=pl.Int64).alias("place")
    return _shown(part.with_columns(place, pl.col("scheme").replace(labels)))


def _short(line: str) -> str:
    """A line below a figure, of a length that leaves room for the figure."""
    return textwrap.shorten(visible(line), _LONGEST, placeholder=" ...")


def _shown(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows with all texts made `visible`."""
    return [
        {key: visible(one) if isinstance(one, str) else one for key, one in row.items()} for row in frame.to_dicts()
    ]


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
