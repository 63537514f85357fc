"""Times over the bound by fabric and hosts: a panel for each collective, number of GPUs and state of the links."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ...figures.layers import Layers, axis, end, estimates, faceted, names_of, of_scheme
from ...figures.paper import write
from ...palette import styles
from . import times
from .setups import COLLECTIVES, FABRICS, HOSTS, STATES, cases


def draw(table: pl.DataFrame, out: Path, formats: Sequence[str]) -> list[Path]:
    """One row of panels per collective and number of GPUs; a colour per kind of hosts."""
    if table.is_empty():
        return []
    bars = {(fabric, hosts): f"{FABRICS[fabric]}, {HOSTS[hosts].title}" for fabric in FABRICS for hosts in HOSTS}
    ran = set(table["gpus"].unique())
    rows = []
    panels: list[str] = []
    for name, collective in COLLECTIVES.items():
        for gpus in (gpus for gpus in collective.megabytes if gpus in ran):
            titles = {state: f"{collective.title}, {gpus} GPUs, {said}" for state, said in STATES.items()}
            panels += titles.values()
            for case in (case for case in cases((gpus,)) if case.collective == name):
                found = times.mean(table, case, "ratio")
                bar = bars[case.fabric, case.hosts]
                rows += estimates([(bar, found)], scheme=case.hosts, panel=titles[case.state])
    furthest = 1.3 * max((row["high"] or row["mean"] for row in rows), default=2.0)
    x = axis("mean", "times the bound", "number", domain=[0, furthest])
    y = names_of("x", scale={"domain": list(bars.values())})
    layers: Layers = [
        {"mark": "bar", "encoding": {"x": x, "y": y, **of_scheme(tuple(HOSTS), "color", hatched=True)}},
        {
            "transform": [{"filter": "isValid(datum.low)"}, {"calculate": "max(datum.low, 0)", "as": "low"}],
            "mark": {"type": "rule", "style": "interval", "clip": True},
            "encoding": {"x": x | {"field": "low"}, "x2": end("high"), "y": y},
        },
        {
            "transform": [{"calculate": "isValid(datum.high) ? datum.high : datum.mean", "as": "end"}],
            "mark": {"type": "text", "align": "left", "dx": 3, "style": "note"},
            "encoding": {"x": x | {"field": "end"}, "y": y, "text": {"field": "mean", "format": ".2f"}},
        },
    ]
    spec = faceted("ratios", "panel", panels, layers, height=18 * len(bars)) | {"columns": len(STATES)}
    return write(spec, {"ratios": rows}, styles(tuple(HOSTS)), out / "ai-cluster", formats)
