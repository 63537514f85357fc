"""Ratios of emulated to simulated means, with their intervals and the tolerance band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..palette import styles
from .style import legend, panels, save

if TYPE_CHECKING:
    from ..studies.agreement import Cell


def draw(
    found: Sequence[Cell], same: float, labels: Mapping[str, str], path: Path, formats: Sequence[str]
) -> list[Path]:
    """One row of panels per measure, one column per class: the ratio for each point and scheme.

    Args:
        found: The comparisons.
        same: Relative tolerance within which means agree; drawn as a band.
        labels: Measures and their labels.
        path: Output path without suffix.
        formats: File types from `weft.figures.style.FORMATS`.
    """
    classes = list(dict.fromkeys(cell.klass for cell in found))
    points = list(dict.fromkeys(cell.point for cell in found))
    chosen = styles(cell.scheme for cell in found)
    with panels(max(len(classes), 1), len(labels), share_y=True) as (sheet, axes):
        for line, (measure, label) in zip(axes, labels.items(), strict=True):
            for ax, klass in zip(line, classes, strict=False):
                ax.axhspan(1 - same, 1 + same, color="#e3e8ec", zorder=0)
                ax.axhline(1, color="#66727e", linewidth=0.7)
                for at, (scheme, style) in enumerate(chosen.items()):
                    shift = 0.2 * (at - (len(chosen) - 1) / 2)
                    cells = [c for c in found if (c.scheme, c.klass) == (scheme, klass) and measure in c.ratios]
                    ax.errorbar(
                        [points.index(cell.point) + shift for cell in cells],
                        [cell.ratios[measure].mean for cell in cells],
                        yerr=[cell.ratios[measure].half or 0.0 for cell in cells],
                        fmt=style.marker,
                        color=style.color,
                        label=scheme,
                        capsize=2,
                    )
                ax.set_xticks(range(len(points)), points)
                ax.set_title(klass)
            line[0].set_ylabel(f"{label}\nemulated / simulated")
        legend(sheet, axes[0][0])
        return save(sheet, path, formats)
