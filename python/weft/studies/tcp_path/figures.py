"""The paper's figures 6 to 17 from our data, one column of panels per distribution, and one of recovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ... import quantity
from ...figures.style import intervals, label_with, legend, panels, save
from ...palette import styles
from ...statistics import Estimate, estimate
from . import equations, measures, recovery
from .scenarios import DISTRIBUTIONS, LOADS, MAIN, PAPER_SCHEMES, SCHEMES
from .table import Tables

CLASSES = ("elephant", "rabbit", "mouse")
TCPS = {"ns-3": "10mbps", "Linux": "10mbps-linux"}
"""The parts with each TCP at 10 Mbps."""
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
    throughput, share = quantity.FORMATS["bps"], quantity.FORMATS["share"]
    files = _sizes(tables, out, formats)
    files += _bars(7, SCHEMES, mean("throughput_bps"), "mean throughput", throughput, out, formats, LOADS[:3])
    files += _bars(8, rivals, gain("throughput_bps"), "throughput relative to ECMP", share, out, formats)
    files += _bars(9, SCHEMES, mean("fct_s"), "mean FCT", quantity.FORMATS["s"], out, formats, LOADS[:3])
    files += _bars(10, rivals, gain("fct_s"), "FCT relative to ECMP", share, out, formats)
    files += _over_time(11, tables, MAIN, out, formats)
    files += _over_time(12, tables, "10mbps", out, formats)
    files += _both_tcps(tables, out, formats)
    files += _rates(tables, out, formats)
    layered = mean("throughput_bps", "three-layer")
    files += _bars(15, PAPER_SCHEMES, layered, "mean throughput", throughput, out, formats)
    files += _of_runs(16, tables, "flow_entries", "flow entries per switch", out, formats)
    files += _recovery(tables, out, formats)
    return files + _of_runs(
        17, tables, "exploration_ratio", "exploration-to-data ratio at a leaf", out, formats, _equation
    )


def _sizes(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    """Figure 6: the sizes of generated flows with the classes' borders, and each class's share of flows and bytes."""
    with panels(2, width=3.3, height=2.4) as (sheet, axes):
        left, right = axes[0]
        shades = styles(DISTRIBUTIONS)
        for at, (sizes, style) in enumerate(shades.items()):
            rows = {row["class"]: row for row in tables.sizes.filter(pl.col("sizes") == sizes).iter_rows(named=True)}
            known = [rows[klass] for klass in reversed(CLASSES) if klass in rows]
            totals = {key: sum(row[key] for row in known) or 1 for key in ("flows", "bytes")}
            x, y, below = [], [], 0.0
            for row in known:
                share = row["flows"] / totals["flows"]
                x += row["points"]
                y += [below + share * at / (len(row["points"]) - 1) for at in range(len(row["points"]))]
                below += share
            left.plot(x, y, color=style.color, label=sizes)
            for k, key in enumerate(("flows", "bytes")):
                bottom = 0.0
                for klass, hatch in zip(CLASSES, ("", "///", "..."), strict=True):
                    share = rows[klass][key] / totals[key] if klass in rows else 0.0
                    bar = right.bar(2.5 * k + at, share, 0.9, bottom, color=style.color, hatch=hatch, edgecolor="white")
                    right.bar_label(
                        bar, [klass if share > 0.04 else ""], label_type="center", color="white", fontsize=6
                    )
                    bottom += share
        for border in (10e3, 10e6):
            left.axvline(border, color="#66727e", linestyle="--", linewidth=0.7)
        left.set_xscale("log")
        label_with(left.xaxis, quantity.FORMATS["bytes"])
        left.set_xlabel("flow size")
        left.set_ylabel("share of flows, at most this size")
        right.set_xticks([0.5, 3.0], ["flows", "bytes"])
        right.set_ylabel("share by class")
        right.grid(axis="x", visible=False)
        legend(sheet, left)
        return save(sheet, out / "figure-6", formats)


def _both_tcps(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    """Figure 13: mean throughput at 10 Mbps with ns-3's and with Linux's TCP, both simulated."""
    names = [f"{scheme}, {tcp}" for scheme in PAPER_SCHEMES for tcp in TCPS]

    def bars(ax: Any, sizes: str, klass: str) -> None:
        def value(name: str, load: float) -> Estimate | None:
            scheme, tcp = name.split(", ")
            found = measures.values(tables, TCPS[tcp], sizes, scheme, load, klass, "throughput_bps")
            return estimate(found.values())

        _group(ax, names, LOADS[:3], value)
        label_with(ax.yaxis, quantity.FORMATS["bps"])

    return _grid(13, "mean throughput", bars, out, formats, across="offered load", more=", 10 Mbps")


def _recovery(tables: Tables, out: Path, formats: Sequence[str]) -> list[Path]:
    """Frames lost to a failed link, and the time until the last of them, by hops between the failure and the source."""
    with panels(2, width=3.3, height=2.4) as (sheet, axes):
        for ax, column, label in zip(
            axes[0], ("losing_s", "lost"), ("last frame lost after", "frames lost"), strict=True
        ):
            for scheme, style in styles(recovery.SCHEMES).items():
                found = recovery.of_scheme(tables.recovery, scheme, column)
                ax.plot(list(found), list(found.values()), color=style.color, marker=style.marker, label=scheme)
            ax.set_yscale("log")
            ax.set_xlabel("hops from the source's edge")
            ax.set_ylabel(label)
        label_with(axes[0][0].yaxis, quantity.FORMATS["s"])
        label_with(axes[0][1].yaxis, lambda value: f"{value:g}")
        legend(sheet, axes[0][0])
        return save(sheet, out / "recovery", formats)


def _grid(
    number: int,
    label: str,
    draw_in: Callable[[Any, str, str], None],
    out: Path,
    formats: Sequence[str],
    *,
    across: str = "",
    more: str = "",
) -> list[Path]:
    """A figure with a row of panels per class and a column per distribution; `draw_in` draws one of them."""
    with panels(len(DISTRIBUTIONS), len(CLASSES), width=3.3, height=1.75) as (sheet, axes):
        for row, klass in zip(axes, CLASSES, strict=True):
            for ax, sizes in zip(row, DISTRIBUTIONS, strict=True):
                draw_in(ax, sizes, klass)
            row[0].set_ylabel(f"{klass}\n{label}")
        for first, last, sizes in zip(axes[0], axes[-1], DISTRIBUTIONS, strict=True):
            first.set_title(f"{sizes}{more}")
            last.set_xlabel(across)
        legend(sheet, axes[0][0])
        return save(sheet, out / f"figure-{number}", formats)


def _bars(
    number: int,
    schemes: Sequence[str],
    value: Value,
    label: str,
    spell: Callable[[float], str],
    out: Path,
    formats: Sequence[str],
    loads: Sequence[float] = LOADS,
) -> list[Path]:
    """Grouped bars over the load."""

    def bars(ax: Any, sizes: str, klass: str) -> None:
        _group(ax, schemes, loads, lambda scheme, load: value(sizes, klass, scheme, load))
        label_with(ax.yaxis, spell)

    return _grid(number, label, bars, out, formats, across="offered load")


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

    def shares(ax: Any, sizes: str, klass: str) -> None:
        for scheme, style in styles(PAPER_SCHEMES).items():
            rates = [
                measures.values(tables, part, sizes, scheme, 0.4, klass, "throughput_bps").values() for part in RATES
            ]
            found = [estimate(v / bps for v in each) for each, (_, bps) in zip(rates, RATES.values(), strict=True)]
            intervals(ax, enumerate(found), style.color, style.marker, scheme)
        ax.set_xticks(range(len(RATES)), [label for label, _ in RATES.values()])
        ax.set_ylim(bottom=0)
        label_with(ax.yaxis, quantity.FORMATS["share"])

    return _grid(14, "share of the link", shares, out, formats, more=", 40 %")


def _of_runs(
    number: int,
    tables: Tables,
    column: str,
    label: str,
    out: Path,
    formats: Sequence[str],
    beside: Callable[[Any, str], None] | None = None,
) -> list[Path]:
    """Bars of a column of the table of runs, one panel per distribution; `beside` draws more into it."""
    with panels(len(DISTRIBUTIONS), width=3.3, height=2.4) as (sheet, axes):
        for ax, sizes in zip(axes[0], DISTRIBUTIONS, strict=True):

            def value(scheme: str, load: float, sizes: str = sizes) -> Estimate | None:
                return estimate(measures.runs(tables, MAIN, sizes, scheme, load, column).values())

            _group(ax, ("tfe", "tcp_path"), LOADS, value)
            if beside is not None:
                beside(ax, sizes)
            ax.set_title(sizes)
            ax.set_xlabel("offered load")
        axes[0][0].set_ylabel(label)
        legend(sheet, axes[0][0])
        return save(sheet, out / f"figure-{number}", formats)


def _equation(ax: Any, sizes: str) -> None:
    """The ratios that equation (3) gives, on a logarithmic axis."""
    whole = equations.ratio(4, 4, equations.REQUEST_BYTES, equations.MEAN_FLOW_BYTES[sizes])
    for share, label in ((whole, "equation (3)"), (equations.ELEPHANT_SHARE * whole, "5 % of it")):
        ax.axhline(share, color="#a11d28", linestyle="--", linewidth=0.9, label=label)
    ax.set_yscale("log")
    ax.set_ylim(1e-6, 2e-3)
    label_with(ax.yaxis, lambda value: f"{100 * value:g} %")
