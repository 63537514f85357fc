"""The paper's figures 7 to 12 and 14 to 17 from our data: one column of panels per distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ... import quantity
from ...figures.style import intervals, label_with, legend, panels, save
from ...palette import styles
from ...statistics import Estimate, estimate
from . import equations, measures
from .scenarios import DISTRIBUTIONS, LOADS, MAIN, PAPER_SCHEMES, SCHEMES
from .table import Tables

CLASSES = ("elephant", "rabbit", "mouse")
RATES = {"10mbps": ("10 Mbps", 1e7), "100mbps": ("100 Mbps", 1e8), MAIN: ("1 Gbps", 1e9)}

Value = Callable[[str, str, str, float], "Estimate | None"]
"""Maps distribution, class, scheme and load to a value."""


def draw(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    """Write all figures as ``figure-7.pdf`` and so on; returns the files."""

    def mean(column: str, part: str = MAIN) -> Value:
        return lambda s, k, scheme, load: estimate(measures.values(tables, part, s, scheme, load, k, column).values())

    def gain(column: str, part: str = MAIN) -> Value:
        return lambda s, k, scheme, load: measures.improvement(tables, part, s, load, k, scheme=scheme, column=column)

    rivals = [scheme for scheme in SCHEMES if scheme != "ecmp"]
    by_class = [
        _bars(7, SCHEMES, mean("throughput_bps"), "mean throughput", quantity.FORMATS["bps"], LOADS[:3]),
        _bars(8, rivals, gain("throughput_bps"), "throughput relative to ECMP", quantity.FORMATS["share"], LOADS),
        _bars(9, SCHEMES, mean("fct_s"), "mean FCT", quantity.FORMATS["s"], LOADS[:3]),
        _bars(10, rivals, gain("fct_s"), "FCT relative to ECMP", quantity.FORMATS["share"], LOADS),
    ]
    files = [file for figure in by_class for file in figure(out, formats)]
    files += _over_time(11, tables, MAIN, out, formats)
    files += _over_time(12, tables, "10mbps", out, formats)
    files += _rates(tables, out, formats)
    layered = _bars(
        15, PAPER_SCHEMES, mean("throughput_bps", "three-layer"), "mean throughput", quantity.FORMATS["bps"]
    )
    files += layered(out, formats)
    files += _entries(tables, out, formats)
    return files + _broadcasts(tables, out, formats)


def _bars(
    number: int,
    schemes: Sequence[str],
    value: Value,
    label: str,
    spell: Callable[[float], str],
    loads: Sequence[float] = LOADS,
) -> Callable[[Path, Sequence[str]], list[Path]]:
    """A figure of grouped bars over the load, one row per class and one column per distribution."""

    def write(out: Path, formats: Sequence[str]) -> list[Path]:
        with panels(len(DISTRIBUTIONS), len(CLASSES), width=3.3, height=1.75) as (sheet, axes):
            for row, klass in enumerate(CLASSES):
                for column, sizes in enumerate(DISTRIBUTIONS):
                    ax = axes[row][column]
                    _group(ax, schemes, loads, lambda scheme, load, s=sizes, k=klass: value(s, k, scheme, load))  # type: ignore[misc]
                    label_with(ax.yaxis, spell)
                    if row == 0:
                        ax.set_title(sizes)
                    if row == len(CLASSES) - 1:
                        ax.set_xlabel("offered load")
                    if column == 0:
                        ax.set_ylabel(f"{klass}\n{label}")
            legend(sheet, axes[0][0])
            return save(sheet, out / f"figure-{number}", formats)

    return write


def _group(
    ax: Any, schemes: Sequence[str], loads: Sequence[float], value: Callable[[str, float], Estimate | None]
) -> None:
    """Bars of all schemes at each load with a value, with 95 % intervals."""
    shown = [load for load in loads if any(value(scheme, load) for scheme in schemes)]
    width = 0.8 / len(schemes)
    for at, (scheme, style) in enumerate(styles(schemes).items()):
        found = [(place, value(scheme, load)) for place, load in enumerate(shown)]
        known = [(place, one) for place, one in found if one is not None]
        ax.bar(
            [place + (at - (len(schemes) - 1) / 2) * width for place, _ in known],
            [one.mean for _, one in known],
            width,
            yerr=[one.half or 0.0 for _, one in known],
            color=style.color,
            label=scheme,
            error_kw={"elinewidth": 0.8, "capsize": 1.5, "ecolor": "#333"},
        )
    ax.set_xticks(range(len(shown)), [f"{100 * load:.0f} %" for load in shown])
    ax.axhline(0, color="#66727e", linewidth=0.7)
    ax.grid(axis="x", visible=False)


def _over_time(number: int, tables: Tables, part: str, out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(len(DISTRIBUTIONS), width=3.3, height=2.4, share_y=True) as (sheet, axes):
        for ax, sizes in zip(axes[0], DISTRIBUTIONS, strict=True):
            for scheme, style in styles(PAPER_SCHEMES).items():
                points = measures.evolution(tables.time, part, sizes, scheme)
                ax.plot([t for t, _ in points], [v for _, v in points], color=style.color, label=scheme)
            ax.set_title(f"{sizes}, {RATES[part][0]}, 40 %")
            ax.set_xlabel("start time of elephants, at or after (s)")
        axes[0][0].set_ylim(bottom=0)
        axes[0][0].set_ylabel("mean throughput")
        label_with(axes[0][0].yaxis, quantity.FORMATS["bps"])
        legend(sheet, axes[0][0])
        return save(sheet, out / f"figure-{number}", formats)


def _rates(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    """Figure 14: throughput as a share of the link's rate, so that perfect scaling is a flat line."""
    with panels(len(DISTRIBUTIONS), len(CLASSES), width=3.3, height=1.75) as (sheet, axes):
        for row, klass in enumerate(CLASSES):
            for column, sizes in enumerate(DISTRIBUTIONS):
                ax = axes[row][column]
                for scheme, style in styles(PAPER_SCHEMES).items():
                    found = [
                        estimate(
                            v / bps
                            for v in measures.values(tables, part, sizes, scheme, 0.4, klass, "throughput_bps").values()
                        )
                        for part, (_, bps) in RATES.items()
                    ]
                    intervals(ax, enumerate(found), style.color, style.marker, scheme)
                ax.set_xticks(range(len(RATES)), [label for label, _ in RATES.values()])
                ax.set_ylim(bottom=0)
                label_with(ax.yaxis, quantity.FORMATS["share"])
                if row == 0:
                    ax.set_title(f"{sizes}, 40 %")
                if column == 0:
                    ax.set_ylabel(f"{klass}\nshare of the link")
        legend(sheet, axes[0][0])
        return save(sheet, out / "figure-14", formats)


def _entries(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(len(DISTRIBUTIONS), width=3.3, height=2.4) as (sheet, axes):
        for ax, sizes in zip(axes[0], DISTRIBUTIONS, strict=True):
            _group(
                ax,
                ("tfe", "tcp_path"),
                LOADS,
                lambda scheme, load, s=sizes: estimate(  # type: ignore[misc]
                    measures.runs(tables, MAIN, s, scheme, load, "flow_entries").values()
                ),
            )
            ax.set_title(sizes)
            ax.set_xlabel("offered load")
        axes[0][0].set_ylabel("flow entries per switch")
        legend(sheet, axes[0][0])
        return save(sheet, out / "figure-16", formats)


def _broadcasts(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    with panels(len(DISTRIBUTIONS), width=3.3, height=2.4) as (sheet, axes):
        for ax, sizes in zip(axes[0], DISTRIBUTIONS, strict=True):
            _group(
                ax,
                ("tfe", "tcp_path"),
                LOADS,
                lambda scheme, load, s=sizes: estimate(  # type: ignore[misc]
                    measures.runs(tables, MAIN, s, scheme, load, "exploration_ratio").values()
                ),
            )
            whole = equations.ratio(4, 4, equations.REQUEST_BYTES, equations.MEAN_FLOW_BYTES[sizes])
            for share, label in ((whole, "equation (3)"), (equations.ELEPHANT_SHARE * whole, "5 % of it")):
                ax.axhline(share, color="#a11d28", linestyle="--", linewidth=0.9, label=label)
            ax.set_title(sizes)
            ax.set_xlabel("offered load")
            ax.set_yscale("log")
            ax.set_ylim(1e-6, 2e-3)
            label_with(ax.yaxis, lambda value: f"{100 * value:g} %")
        axes[0][0].set_ylabel("exploration-to-data ratio at a leaf")
        legend(sheet, axes[0][0])
        return save(sheet, out / "figure-17", formats)
