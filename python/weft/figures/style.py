"""Style of the paper figures: sizes, fonts and the helpers that all figures use."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

from ..errors import OutputError
from ..files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..statistics import Estimate

PANEL = (2.9, 2.3)
"""Width and height of a panel in inches."""
_NARROWEST = 2.2
"""Width below which panels continue in another row."""
WIDTHS = {"column": 3.5, "text": 7.16}
"""Widths in inches of a column and of the text in two-column papers (IEEE)."""

FORMATS: dict[str, dict[str, None] | None] = {
    "pdf": {"CreationDate": None},
    "png": {},
    "svg": {"Date": None},
    "jpg": None,
    "tif": None,
    "webp": None,
}
"""File types of figures, with the metadata that keeps the time stamp out of each (None: no metadata)."""

_SETTINGS: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.labelsize": 8.5,
    "axes.edgecolor": "#66727e",
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#e3e8ec",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "xtick.color": "#44505c",
    "ytick.color": "#44505c",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "savefig.dpi": 200,
    # Show names literally; otherwise dollar signs turn them into formulas.
    "text.parse_math": False,
    "pdf.fonttype": 42,
    # Without it, the ids in an SVG are random.
    "svg.hashsalt": "weft",
    "figure.constrained_layout.use": True,
}


_width: ContextVar[float | None] = ContextVar("width", default=None)


@contextmanager
def fitted(width: float | None) -> Iterator[None]:
    """Draw figures exactly `width` inches wide; None: as wide as their panels need."""
    token = _width.set(width)
    try:
        yield
    finally:
        _width.reset(token)


def labels(usual: int) -> int:
    """Maximum number of intervals between the labels of an axis: `usual`, at most 3 in a figure of given width."""
    return usual if _width.get() is None else min(usual, 3)


@contextmanager
def panels(
    columns: int, rows: int = 1, *, width: float = PANEL[0], height: float = PANEL[1], share_y: bool = False
) -> Iterator[tuple[Figure, Any]]:
    """A figure with a grid of axes (always two-dimensional), closed afterwards.

    In a figure of given width (`fitted`), a row of panels that would be too narrow continues in the next row.
    """
    fit = _width.get()
    across = columns if fit is None else max(1, min(columns, int((fit - 0.3) / _NARROWEST)))
    down = -(-columns // across)
    if fit is not None:
        height *= min(1.0, max(0.75, (fit - 0.3) / across / width))
    with plt.rc_context(_SETTINGS):
        size = (width * columns + 0.3 if fit is None else fit, height * rows * down + 0.35)
        figure, axes = plt.subplots(rows * down, across, figsize=size, squeeze=False, sharey=share_y)
        grid = axes.reshape(rows, down * across)
        for unused in grid[:, columns:].flat:
            unused.remove()
        try:
            yield figure, grid[:, :columns]
        finally:
            plt.close(figure)


def save(figure: Figure, path: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figure in each format; without time stamps, so the same data gives the same bytes.

    Raises:
        OutputError: A file cannot be written, or the format is unknown.
    """
    written = []
    for kind in formats:
        if kind not in FORMATS:
            raise OutputError(f"cannot write figures as `{kind}`: choose from {', '.join(FORMATS)}")
        buffer = BytesIO()
        figure.savefig(buffer, format=kind, metadata=FORMATS[kind])
        target = path.parent / f"{path.name}.{kind}"
        write_bytes(target, buffer.getvalue())
        written.append(target)
    return written


def label_with(axis: Any, spell: Callable[[float], str]) -> None:
    """Label an axis with a formatter of `weft.quantity`, without trailing zeros and without a unit at zero."""

    def label(value: float, _: int) -> str:
        return "0" if value == 0 else re.sub(r"(\.\d*?)0+(?!\d)", r"\1", spell(value)).replace(". ", " ").rstrip(".")

    axis.set_major_formatter(FuncFormatter(label))


def intervals(
    axes: Axes, values: Iterable[tuple[float, Estimate | None]], color: str, marker: str, label: str, **line: Any
) -> None:
    """A line of means with their intervals at the given positions; nothing if all values are None."""
    found = [(place, value) for place, value in values if value is not None]
    if not found:
        return
    axes.errorbar(
        [place for place, _ in found],
        [value.mean for _, value in found],
        yerr=[value.half or 0.0 for _, value in found],
        color=color,
        marker=marker,
        capsize=2,
        elinewidth=0.9,
        label=label,
        **line,
    )


def legend(figure: Figure, axes: Axes) -> None:
    """One legend above all panels, from the entries of one of them, in as many columns as fit, at most six."""
    handles, labels = axes.get_legend_handles_labels()
    for columns in range(min(len(labels), 6), 0, -1):
        drawn = figure.legend(handles, labels, loc="outside upper center", ncols=columns)
        if columns == 1 or drawn.get_window_extent().width <= figure.bbox.width:
            return
        drawn.remove()
