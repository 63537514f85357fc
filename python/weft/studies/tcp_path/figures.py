"""The paper's figures 6 to 17 from our data, one column of panels per distribution, and one of recovery."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from ...figures.layers import (
    Layers,
    Spec,
    axis,
    bars,
    beside,
    crossed,
    estimates,
    faceted,
    guide,
    lines,
    means,
    names_of,
    of_scheme,
    panel,
)
from ...figures.paper import write
from ...palette import Style, styles
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

    def by_tcp(sizes: str, klass: str, name: str, load: float) -> Estimate | None:
        scheme, tcp = name.split(", ")
        return estimate(measures.values(tables, TCPS[tcp], sizes, scheme, load, klass, "throughput_bps").values())

    rivals = [scheme for scheme in SCHEMES if scheme != "ecmp"]
    both = [f"{scheme}, {tcp}" for scheme in PAPER_SCHEMES for tcp in TCPS]
    sheets = [
        _sizes(tables),
        _bars("figure-7", SCHEMES, mean("throughput_bps"), "mean throughput", "bps", LOADS[:3]),
        _bars("figure-8", rivals, gain("throughput_bps"), "throughput relative to ECMP", "share"),
        _bars("figure-9", SCHEMES, mean("fct_s"), "mean FCT", "s", LOADS[:3]),
        _bars("figure-10", rivals, gain("fct_s"), "FCT relative to ECMP", "share"),
        _over_time("figure-11", tables, MAIN),
        _over_time("figure-12", tables, "10mbps"),
        _bars("figure-13", both, by_tcp, "mean throughput at 10 Mbps", "bps", LOADS[:3]),
        _rates(tables),
        _bars("figure-15", PAPER_SCHEMES, mean("throughput_bps", "three-layer"), "mean throughput", "bps"),
        _of_runs("figure-16", tables, "flow_entries", "flow entries per switch"),
        _recovery(tables),
        _of_runs("figure-17", tables, "exploration_ratio", "exploration-to-data ratio at a leaf", equation=True),
    ]
    return [file for sheet in sheets for file in write(sheet.spec, sheet.rows, sheet.looks, out / sheet.name, formats)]


@dataclass(frozen=True)
class _Sheet:
    name: str
    spec: Spec
    rows: Mapping[str, list[dict[str, Any]]]
    looks: Mapping[str, Style]


def _sizes(tables: Tables) -> _Sheet:
    """Figure 6: the sizes of generated flows with the classes' borders, and each class's share of flows and bytes."""
    points, shares = [], []
    for sizes in DISTRIBUTIONS:
        found = {row["class"]: row for row in tables.sizes.filter(pl.col("sizes") == sizes).iter_rows(named=True)}
        known = [found[klass] for klass in reversed(CLASSES) if klass in found]
        totals = {key: sum(row[key] for row in known) or 1 for key in ("flows", "bytes")}
        below = 0.0
        for row in known:
            share, last = row["flows"] / totals["flows"], len(row["points"]) - 1
            points += [
                {"scheme": sizes, "x": size, "mean": below + share * at / last} for at, size in enumerate(row["points"])
            ]
            below += share
            shares += [
                {"scheme": sizes, "of": key, "class": row["class"], "mean": row[key] / totals[key]} for key in totals
            ]
    borders = [guide("x", border, strokeDash=[5, 3]) for border in (10e3, 10e6)]
    x = axis("x", "flow size", "bytes", log="concat_0_x", digits="1")
    curve = lines(DISTRIBUTIONS, x, axis("mean", "share of flows, at most this size", "share"))
    y = axis("mean", "share by class", "share") | {"stack": "zero"}
    place = {
        "x": names_of("of", axis={"labelAngle": 0, "grid": False}),
        "xOffset": {"field": "scheme", "type": "nominal", "sort": list(DISTRIBUTIONS)},
        "y": y,
        "order": {"field": "rank", "type": "quantitative"},
    }
    klass = {"field": "class", "type": "nominal"}
    rank = {"calculate": f"indexof({json.dumps(CLASSES)}, datum.class)", "as": "rank"}
    stacked: Layers = [
        {
            "transform": [rank],
            "mark": {"type": "bar", "stroke": "white"},
            "encoding": place | of_scheme(DISTRIBUTIONS, "color"),
        },
        {
            "transform": [rank, {"filter": "datum.mean > 0.04"}],
            "mark": {"type": "text", "color": "white", "fontSize": 8},
            "encoding": place | {"y": y | {"bandPosition": 0.5}, "detail": klass, "text": klass},
        },
    ]
    spec = beside(panel("sizes", [*borders, curve]), panel("shares", stacked))
    return _Sheet("figure-6", spec, {"sizes": points, "shares": shares}, styles(DISTRIBUTIONS))


def _recovery(tables: Tables) -> _Sheet:
    """Frames lost to a failed link, and the time until the last of them, by hops between the failure and the source."""
    x = axis("x", "hops from the source's edge", "number", zero=False, padding=10, tickMinStep=1)
    panels, rows = [], {}
    for at, (column, label, kind) in enumerate(
        (("losing_s", "last frame lost after", "s"), ("lost", "frames lost", "number"))
    ):
        y = axis("mean", label, kind, log=f"concat_{at}_y")
        panels.append(panel(column, means(recovery.SCHEMES, x, y)))
        rows[column] = [
            {"scheme": scheme, "x": hops, "mean": value}
            for scheme in recovery.SCHEMES
            for hops, value in recovery.of_scheme(tables.recovery, scheme, column).items()
        ]
    return _Sheet("recovery", beside(*panels), rows, styles(recovery.SCHEMES))


def _grid(layers: Layers) -> Spec:
    return crossed("rows", CLASSES, DISTRIBUTIONS, layers, height=115)


def _bars(
    name: str, schemes: Sequence[str], value: Value, label: str, kind: str, loads: Sequence[float] = LOADS
) -> _Sheet:
    rows = [
        row
        for klass in CLASSES
        for sizes in DISTRIBUTIONS
        for scheme in schemes
        for row in _by_load(partial(value, sizes, klass, scheme), loads, scheme, sizes, klass)
    ]
    return _Sheet(name, _grid(_groups(schemes, axis("mean", label, kind))), {"rows": rows}, styles(schemes))


def _groups(schemes: Sequence[str], y: Spec) -> Layers:
    return bars(schemes, names_of("x", "offered load", axis={"labelAngle": 0, "grid": False}), y)


def _by_load(
    value: Callable[[float], Estimate | None], loads: Sequence[float], scheme: str, sizes: str, klass: str = ""
) -> list[dict[str, Any]]:
    found = ((f"{100 * load:.0f} %", value(load)) for load in loads)
    return estimates(found, scheme=scheme, column=sizes, row=klass)


def _over_time(name: str, tables: Tables, part: str) -> _Sheet:
    titles = {sizes: f"{sizes}, {RATES[part][0]}, 40 %" for sizes in DISTRIBUTIONS}
    rows = [
        {"scheme": scheme, "panel": title, "x": start, "mean": value}
        for sizes, title in titles.items()
        for scheme in PAPER_SCHEMES
        for start, value in measures.evolution(tables.time, part, sizes, scheme)
    ]
    x = axis("x", "start time of elephants, at or after (s)", "number")
    layers = [lines(PAPER_SCHEMES, x, axis("mean", "mean throughput", "bps"))]
    spec = faceted("rows", "panel", list(titles.values()), layers, share_y=True)
    return _Sheet(name, spec, {"rows": rows}, styles(PAPER_SCHEMES))


def _rates(tables: Tables) -> _Sheet:
    """Figure 14: throughput as a share of the link's rate, so that perfect scaling is a flat line."""

    def share(sizes: str, klass: str, scheme: str, part: str) -> Estimate | None:
        found = measures.values(tables, part, sizes, scheme, 0.4, klass, "throughput_bps").values()
        return estimate(value / RATES[part][1] for value in found)

    rows = [
        row
        for klass in CLASSES
        for sizes in DISTRIBUTIONS
        for scheme in PAPER_SCHEMES
        for row in estimates(
            ((label, share(sizes, klass, scheme, part)) for part, (label, _) in RATES.items()),
            scheme=scheme,
            column=sizes,
            row=klass,
        )
    ]
    x = names_of("x", axis={"labelAngle": 0, "grid": False})
    layers = means(PAPER_SCHEMES, x, axis("mean", "share of the link, load 40 %", "share", domainMin=0))
    return _Sheet("figure-14", _grid(layers), {"rows": rows}, styles(PAPER_SCHEMES))


def _of_runs(name: str, tables: Tables, column: str, label: str, *, equation: bool = False) -> _Sheet:
    """Bars of a column of the table of runs, one panel per distribution; with `equation`, also equation (3)."""
    schemes = ("tfe", "tcp_path")

    def value(sizes: str, scheme: str, load: float) -> Estimate | None:
        return estimate(measures.runs(tables, MAIN, sizes, scheme, load, column).values())

    rows = [
        row
        for sizes in DISTRIBUTIONS
        for scheme in schemes
        for row in _by_load(partial(value, sizes, scheme), LOADS, scheme, sizes)
    ]
    looks = styles(schemes)
    if not equation:
        spec = faceted("rows", "column", DISTRIBUTIONS, _groups(schemes, axis("mean", label, "number")))
        return _Sheet(name, spec, {"rows": rows}, looks)
    y = axis("mean", label, "share", log="child_y", digits="1", domain=[1e-6, 2e-3])
    found = _groups(schemes, y)
    found[0]["encoding"]["y2"] = {"datum": 1e-6}
    for sizes in DISTRIBUTIONS:
        whole = equations.ratio(4, 4, equations.REQUEST_BYTES, equations.MEAN_FLOW_BYTES[sizes])
        given = {"equation (3)": whole, "5 % of it": equations.ELEPHANT_SHARE * whole}
        rows += [{"column": sizes, "given": given_name, "value": share} for given_name, share in given.items()]
    scale = {"domain": ["equation (3)", "5 % of it"], "range": [[1, 0], [5, 3]]}
    found.append(
        {
            "transform": [{"filter": "isValid(datum.given)"}],
            "mark": {"type": "rule", "color": "#a11d28"},
            "encoding": {
                "y": y | {"field": "value"},
                "strokeDash": {"field": "given", "type": "nominal", "title": None, "scale": scale},
            },
        }
    )
    found[0]["transform"] = [{"filter": "isValid(datum.mean)"}]
    return _Sheet(name, faceted("rows", "column", DISTRIBUTIONS, found), {"rows": rows}, looks)
