"""Figures for papers: the report's figures as PDF and PNG, drawn with matplotlib from the same extracts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .. import extracts
from ..content import Content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Results

_METRICS = {
    "fct-mean": "mean_fct_s",
    "fct-median": "median_fct_s",
    "fct-p99": "p99_fct_s",
    "slowdown": "mean_slowdown",
    "throughput": "mean_throughput_bps",
    "out-of-order": "out_of_order_share",
}


def write(results: Results, out: str | Path | None = None, formats: Sequence[str] = ("pdf", "png")) -> list[Path]:
    """Write all figures of a result directory for which there is data.

    Args:
        results: The results to draw.
        out: A directory; default ``figures`` in the result directory.
        formats: File types from `weft.figures.style.FORMATS`: pdf, png, svg, jpg, tif, webp.

    Returns:
        The files written.

    Raises:
        ResultsError: No run has finished.
        OutputError: A file cannot be written.
    """
    from . import comparison

    content = Content(results, None)
    folder = Path(out) if out is not None else results.path / "figures"
    files: list[Path] = []
    known = set(content.intervals()["metric"])
    for name, metric in _METRICS.items():
        if metric not in known:
            continue
        files += comparison.by_class(content, metric, folder / name, formats)
    curves, delivered = extracts.completion_curves(results), extracts.throughput_over_time(results)
    largest, exceedance = extracts.largest_queue(results), extracts.queue_exceedance(results)
    for point in content.points:
        suffix = f"-{slug(point)}" if len(content.points) > 1 else ""
        if point in curves["point"]:
            files += comparison.curves(content, curves, point, folder / f"fct-cdf{suffix}", formats)
        if content.classes:
            files += comparison.over_time(content, delivered, point, folder / f"throughput-time{suffix}", formats)
        files += comparison.queues(content, largest, exceedance, point, folder / f"queues{suffix}", formats)
        files += comparison.fabric(content, point, folder / f"fabric{suffix}", formats)
    return files


def slug(text: str) -> str:
    """Text as part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-") or "point"
