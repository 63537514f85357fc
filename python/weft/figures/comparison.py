"""The figures of a comparison: by class with intervals, distributions, time series, queues, and the fabric."""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from .. import extracts, paths, quantity
from ..content import CROWDED, Content
from ..labels import visible
from ..metrics import METRICS
from ..palette import UTILISATION, Style, styles
from .style import label_with, labels, legend, panels, save

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "||||")
"""Patterns of bars."""


def by_class(content: Content, metric: str, path: Path, formats: Sequence[str]) -> list[Path]:
    """A metric with its interval for each scheme: one column of panels per class, one row per further swept value."""
    data = content.intervals().filter(pl.col("metric") == metric)
    kind = next(m for m in METRICS if m.key == metric)
    rows = data["panels"].unique(maintain_order=True).to_list() if content.others else [None]
    with panels(len(content.classes), len(rows)) as (figure, axes):
        for line, row in zip(axes, rows, strict=True):
            part = data if row is None else data.filter(pl.col("panels") == row)
            for ax, name in zip(line, content.classes, strict=True):
                panel = part.filter(pl.col("class") == name)
                if content.x is not None:
                    _lines(ax, panel, content.x, content.schemes)
                    ax.set_xlabel(content.x_title)
                else:
                    _bars(ax, panel, content.schemes, content.points)
                ax.set_title(visible(name if row is None else f"{name}, {row}"))
                ax.set_ylim(bottom=0)
                label_with(ax.yaxis, quantity.FORMATS[kind.kind])
            line[0].set_ylabel(kind.title)
        _not_shown(figure, content)
        legend(figure, axes[0][0])
        return save(figure, path, formats)


def collectives(
    content: Content, rows: Sequence[paths.Row], key: str, path: Path, formats: Sequence[str]
) -> list[Path]:
    """Completion of collectives, or its ratio to the bound, with intervals: one panel per collective."""
    column = next(one for one in paths.COLLECTIVE_COLUMNS if one.key == key)
    names = list(dict.fromkeys(row.collective for row in rows))
    kinds = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    with panels(len(names), 1) as (figure, axes):
        for ax, name in zip(axes[0], names, strict=True):
            own = [row for row in rows if row.collective == name and row.mark is None]
            known = [(row, one) for row in own if (one := row.estimates[key]) is not None]
            values = [(row.point, row.scheme, one.mean, one.low, one.high) for row, one in known]
            frame = pl.DataFrame(values, {"point": pl.String, "scheme": pl.String, **kinds}, orient="row")
            _bars(ax, frame, content.schemes, content.points)
            ax.set_title(visible(name))
            ax.set_ylim(bottom=0)
            label_with(ax.yaxis, quantity.FORMATS[column.kind])
        axes[0][0].set_ylabel(column.title)
        _not_shown(figure, content)
        legend(figure, axes[0][0])
        return save(figure, path, formats)


def _not_shown(figure: Figure, content: Content) -> None:
    """Below the panels, the groups of runs that are left out, with the reasons."""
    if left_out := content.summary.unsteady():
        short = [textwrap.shorten(visible(line), 110, placeholder=" ...") for line in left_out]
        figure.supxlabel("\n".join(["Not shown:", *short]), fontsize=5, ha="center")


def _errors(frame: pl.DataFrame) -> Any:
    """Lengths of the error bars; zero without an interval."""
    below, above = pl.col("mean") - pl.col("low"), pl.col("high") - pl.col("mean")
    return frame.select(below.fill_null(0).alias("below"), above.fill_null(0).alias("above")).to_numpy().T


def _lines(ax: Any, frame: pl.DataFrame, x: str, schemes: Sequence[str]) -> None:
    values = sorted(frame[x].unique().to_list())
    crowded = len(values) * len(schemes) > CROWDED
    step = 0.0 if crowded else _dodge(values, len(schemes))
    for i, (scheme, style) in enumerate(styles(schemes).items()):
        part = frame.filter(pl.col("scheme") == scheme).sort(x)
        if part.is_empty():
            continue
        if crowded:
            known = part.drop_nulls("low")
            ax.fill_between(known[x], known["low"], known["high"], color=style.color, alpha=0.18, linewidth=0)
        ax.errorbar(
            part[x] + (i - (len(schemes) - 1) / 2) * step,
            part["mean"],
            yerr=None if crowded else _errors(part),
            color=style.color,
            linestyle=_dashed(style),
            marker=style.marker,
            markersize=2.5 if crowded else None,
            capsize=2,
            elinewidth=0.9,
            label=visible(scheme),
        )
    if not crowded:
        ax.set_xticks(values)


def _dodge(values: Sequence[float], schemes: int) -> float:
    """Distance on the axis between schemes at one value, so that their intervals stand side by side."""
    if len(values) < 2:
        return 0.0
    closest = min(b - a for a, b in pairwise(values))
    return min(0.035 * (values[-1] - values[0]), 0.7 * closest / schemes)


def _dashed(style: Style) -> Any:
    """The line style of a scheme, which a print in black and white keeps."""
    return (0, style.dash) if style.dash else "solid"


def _bars(ax: Any, frame: pl.DataFrame, schemes: Sequence[str], points: Sequence[str]) -> None:
    width = 0.8 / len(schemes)
    for i, (scheme, style) in enumerate(styles(schemes).items()):
        part = frame.filter(pl.col("scheme") == scheme)
        at = [points.index(p) + (i - (len(schemes) - 1) / 2) * width for p in part["point"]]
        ax.bar(
            at,
            part["mean"],
            width * 0.92,
            yerr=_errors(part),
            color=style.color,
            hatch=_HATCHES[i % len(_HATCHES)],
            edgecolor="white",
            linewidth=0,
            label=visible(scheme),
            error_kw={"elinewidth": 0.9, "ecolor": "#25303b"},
        )
    slanted = {"rotation": 30, "ha": "right"} if len(points) > 1 else {}
    ax.set_xticks(range(len(points)), [visible(point) for point in points], **slanted)
    ax.grid(visible=False, axis="x")


def curves(content: Content, frame: pl.DataFrame, point: str, path: Path, formats: Sequence[str]) -> list[Path]:
    """FCT distributions at a point, one panel per class."""
    data = frame.filter(pl.col("point") == point)
    names = content.labels(point)
    with panels(len(content.classes)) as (figure, axes):
        for ax, name in zip(axes[0], content.classes, strict=True):
            for scheme, style in styles(content.schemes).items():
                part = data.filter((pl.col("class") == name) & (pl.col("scheme") == scheme))
                ax.step(
                    part["fct_s"],
                    part["share"],
                    where="post",
                    color=style.color,
                    linestyle=_dashed(style),
                    label=names[scheme],
                )
            ax.set_xscale("log")
            ax.set_title(visible(name))
            ax.set_xlabel("flow completion time")
            label_with(ax.xaxis, quantity.seconds)
            ax.xaxis.set_minor_formatter("")
            label_with(ax.yaxis, quantity.percent)
        axes[0][0].set_ylabel("share of flows")
        legend(figure, axes[0][0])
        return save(figure, path, formats)


def over_time(content: Content, frame: pl.DataFrame, point: str, path: Path, formats: Sequence[str]) -> list[Path]:
    """Delivered bytes over time at a point, one panel per class."""
    data = frame.filter(pl.col("point") == point)
    names = [*content.classes, "all"] if len(content.classes) > 1 else content.classes
    with panels(len(names)) as (figure, axes):
        for ax, name in zip(axes[0], names, strict=True):
            _series(ax, data.filter(pl.col("class") == name), "bps", content.labels(point))
            ax.set_title(visible(name))
            label_with(ax.yaxis, quantity.rate)
        axes[0][0].set_ylabel("delivered")
        legend(figure, axes[0][0])
        return save(figure, path, formats)


def queues(
    content: Content, largest: pl.DataFrame, exceedance: pl.DataFrame, point: str, path: Path, formats: Sequence[str]
) -> list[Path]:
    """The fullest queue over time next to the distribution of occupancy."""
    with panels(2, width=3.6) as (figure, axes):
        left, right = axes[0]
        _series(left, largest.filter(pl.col("point") == point), "bytes", content.labels(point))
        left.set_ylabel("fullest queue")
        label_with(left.yaxis, quantity.size)
        for scheme, style in styles(content.schemes).items():
            part = exceedance.filter((pl.col("point") == point) & (pl.col("scheme") == scheme))
            right.step(part["bytes"], part["share"], where="pre", color=style.color, linestyle=_dashed(style))
        right.set_yscale("log")
        right.set_xlabel("queued bytes (at least)")
        right.set_ylabel("share of samples")
        right.xaxis.set_major_locator(MaxNLocator(labels(5)))
        label_with(right.xaxis, quantity.size)
        label_with(right.yaxis, quantity.percent)
        legend(figure, left)
        return save(figure, path, formats)


def _series(ax: Any, frame: pl.DataFrame, value: str, schemes: Mapping[str, str]) -> None:
    """A line over time for each scheme; `schemes` has their names in the legend."""
    for scheme, style in styles(schemes).items():
        part = frame.filter(pl.col("scheme") == scheme)
        line = {"color": style.color, "linestyle": _dashed(style), "linewidth": 1.0}
        ax.plot(part["time_s"], part[value], label=schemes[scheme], **line)
    ax.set_xlabel("time in the run")
    ax.xaxis.set_major_locator(MaxNLocator(labels(4)))
    ax.set_ylim(bottom=0)
    label_with(ax.xaxis, quantity.seconds)


def fabric(content: Content, point: str, path: Path, formats: Sequence[str]) -> list[Path]:
    """The fabric with its link utilisation, one panel per scheme."""
    drawn = content.fabric
    places = drawn.places()
    use = extracts.link_use(content.results).filter(pl.col("point") == point)
    colors = LinearSegmentedColormap.from_list("utilisation", UTILISATION)
    columns = min(len(content.schemes), 3)
    rows = -(-len(content.schemes) // columns)
    with panels(columns, rows, width=3.4, height=2.1) as (figure, axes):
        for ax in axes.flat[len(content.schemes) :]:
            ax.axis("off")
        shown = None
        for ax, scheme in zip(axes.flat, content.schemes, strict=False):
            part = use.filter(pl.col("scheme") == scheme)
            measured = part.drop_nulls("utilisation")
            share = {(a, b): u for a, b, u in measured.select("from", "to", "utilisation").iter_rows()}
            # The busier direction of a link is drawn on top, so that the idle one never hides it.
            links = sorted(drawn.links, key=lambda link: share.get((link.source, link.target), 0.0))
            values = [share.get((link.source, link.target), 0.0) for link in links]
            shown = LineCollection(
                [[places[link.source], places[link.target]] for link in links],
                array=values,
                cmap=colors,
                norm=Normalize(0, 1),
                linewidths=[0.8 + 2 * v for v in values],
                linestyles=["solid" if link.up else "dotted" for link in links],
            )
            ax.add_collection(shown)
            for nodes, marker, size in ((drawn.hosts, "o", 6), (drawn.switches, "s", 22)):
                xs, ys = ([places[node.name][axis] for node in nodes] for axis in (0, 1))
                ax.scatter(xs, ys, s=size, marker=marker, color="#4b5763", zorder=3)
            ax.set_title(content.labels(point)[scheme])
            ax.margins(0.04, 0.08)
            ax.axis("off")
        if shown is not None:
            bar = figure.colorbar(shown, ax=axes, shrink=0.7, label="link utilisation in the measurement window")
            label_with(bar.ax.yaxis, quantity.percent)
        return save(figure, path, formats)
