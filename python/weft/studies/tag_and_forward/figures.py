"""The paper's figures from our data: round trips and packets per second by packet size, and times to set gates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from ... import quantity
from ...figures.style import intervals, label_with, legend, panels, save
from ...palette import styles
from ...statistics import estimate
from .claims import AS_PAPER
from .setup import ECHO_SIZES, FLOW_TABLE, LABELS, LOAD_SIZES, MTU, PEERS, TAG_FORWARD
from .table import Measured, by_round, of_peer


def draw(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """Write ``round-trips`` and ``packets``, with 90 % intervals as in the paper, and ``gates``; returns the files."""
    return _round_trips(runs, out, formats) + _packets(runs, out, formats) + _gates(runs, out, formats)


def _round_trips(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """All peers, and separately those that use the same program."""
    with panels(2, width=3.0, height=2.8) as (sheet, axes):
        for ax, peers in zip(axes[0], (PEERS, (FLOW_TABLE, TAG_FORWARD)), strict=True):
            _lines(ax, runs, "round_trip_s", ECHO_SIZES, peers)
            ax.axvline(MTU, color="#66727e", linewidth=0.7, linestyle=":")
            ax.set_xscale("log", base=2)
            ax.set_xlabel("bytes of an IP packet")
        axes[0][0].set_yscale("log")
        axes[0][0].set_ylabel("round trip")
        axes[0][1].set_ylim(bottom=0)
        for ax in axes[0]:
            label_with(ax.xaxis, quantity.FORMATS["count"])
            label_with(ax.yaxis, quantity.FORMATS["s"])
        axes[0][1].set_title("Weft's switch alone")
        legend(sheet, axes[0][0])
        return save(sheet, out / "round-trips", formats)


def _packets(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(2, width=3.0, height=2.8) as (sheet, axes):
        titles = {"carried": "packets a second", "by_processor": "packets a processor's second"}
        for ax, (what, title) in zip(axes[0], titles.items(), strict=True):
            _lines(ax, runs, what, LOAD_SIZES, PEERS)
            ax.set_title(title)
            ax.set_xlabel("bytes of an IP packet")
            ax.set_ylim(bottom=0)
            label_with(ax.yaxis, quantity.FORMATS["count"])
        legend(sheet, axes[0][0])
        return save(sheet, out / "packets", formats)


def _gates(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """Time to set the gates of each switch, cumulative over switches one after the other, and of all in parallel."""
    emulated = next((run.emulated for run in of_peer(runs, TAG_FORWARD) if "gates_in_turn" in run.emulated), None)
    if emulated is None:
        return []
    in_turn, at_once = emulated["gates_in_turn"], emulated["gates_at_once"]
    names = list(in_turn[0]["switches"])
    each = [fmean(one["switches"][name] for one in in_turn) for name in names]
    with panels(1, width=4.4, height=2.8) as (sheet, axes):
        ax = axes[0][0]
        ax.plot(names, list(accumulate(each)), marker="s", color="#4d4d4d", label="cumulative")
        ax.plot(names, each, marker="o", color="#0072B2", label="per switch")
        ax.axhline(fmean(one["seconds"] for one in at_once), color="#D55E00", linestyle="--", label="all in parallel")
        ax.tick_params(axis="x", labelrotation=90)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("setting gates")
        label_with(ax.yaxis, quantity.FORMATS["s"])
        legend(sheet, ax)
        return save(sheet, out / "gates", formats)


def _lines(ax: Any, runs: Sequence[Measured], what: str, sizes: Sequence[int], peers: Sequence[str]) -> None:
    """One line per peer: the mean over rounds with its interval, by packet size."""
    chosen = styles(PEERS)
    for peer in peers:
        style = chosen[peer]
        found = [(size, estimate(by_round(runs, peer, what, size).values(), AS_PAPER)) for size in sizes]
        intervals(ax, found, style.color, style.marker, LABELS[peer])
