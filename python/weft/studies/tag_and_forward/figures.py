"""The paper's figures from our data: round trips by packet size, packets a second by packet size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import quantity
from ...figures.style import label_with, legend, panels, save
from ...palette import styles
from ...statistics import estimate
from .claims import AS_PAPER
from .setup import ECHO_SIZES, LABELS, LOAD_SIZES, MTU, PEERS
from .table import Measured, by_round


def draw(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """Write ``round-trips`` and ``packets``, with 90 % intervals as in the paper; returns the files."""
    return _round_trips(runs, out, formats) + _packets(runs, out, formats)


def _round_trips(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(1, width=3.6, height=2.8) as (sheet, axes):
        ax = axes[0][0]
        _lines(ax, runs, "round_trip_s", ECHO_SIZES)
        ax.axvline(MTU, color="#66727e", linewidth=0.7, linestyle=":")
        ax.set_yscale("log")
        ax.set_xlabel("bytes of an IP packet")
        ax.set_ylabel("round trip")
        label_with(ax.yaxis, quantity.FORMATS["s"])
        legend(sheet, ax)
        return save(sheet, out / "round-trips", formats)


def _packets(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(2, width=3.0, height=2.8) as (sheet, axes):
        titles = {"carried": "packets a second", "by_processor": "packets for a second of a processor"}
        for ax, (what, title) in zip(axes[0], titles.items(), strict=True):
            _lines(ax, runs, what, LOAD_SIZES)
            ax.set_title(title)
            ax.set_xlabel("bytes of an IP packet")
            ax.set_ylim(bottom=0)
            label_with(ax.yaxis, quantity.FORMATS["count"])
        legend(sheet, axes[0][0])
        return save(sheet, out / "packets", formats)


def _lines(ax: Any, runs: Sequence[Measured], what: str, sizes: Sequence[int]) -> None:
    """A line for each peer: the mean over rounds with its interval, by packet size."""
    for peer, style in styles(PEERS).items():
        found = [(size, estimate(by_round(runs, peer, what, size).values(), AS_PAPER)) for size in sizes]
        there = [(size, one) for size, one in found if one is not None]
        if not there:
            continue
        ax.errorbar(
            [size for size, _ in there],
            [one.mean for _, one in there],
            yerr=[one.half or 0.0 for _, one in there],
            color=style.color,
            marker=style.marker,
            capsize=2,
            elinewidth=0.9,
            label=LABELS[peer],
        )
