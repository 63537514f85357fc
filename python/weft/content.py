"""The contents of a result directory, loaded once for the report and the figures."""

import json
from functools import cached_property
from typing import Any

import polars as pl

from . import extracts, paths
from .labels import plural, short_key, visible
from .results import Results
from .run_events import drawn_events
from .scheme_ranks import RankTable, ranked
from .steadiness import Mark, marks
from .summary import summarise
from .summary_table import Summary
from .topology import Fabric

RANKED = range(3, 13)
"""Numbers of schemes that are ranked: two have a difference, and of many no pair would be significant."""
CROWDED = 80
"""Points in a panel, of all schemes at all values, above which their intervals are not drawn side by side."""


class Content:
    """The contents of a result directory, loaded once."""

    def __init__(self, results: Results, baseline: str | None) -> None:
        results.at_least_one()
        results = results.comparing(baseline)
        self.results = results
        if baseline is None and results.baseline is None and len(results.schemes) > 1:
            baseline = "ecmp" if "ecmp" in results.schemes else results.schemes[0]
        self.summary: Summary = summarise(results, baseline=baseline)
        self.schemes = results.schemes
        self.points = results.points
        self.classes = list(dict.fromkeys(str(row.group["class"]) for row in self.summary.rows))
        self.x, self.others = extracts.axes(results)

    @cached_property
    def marks(self) -> dict[tuple[Any, ...], Mark]:
        """The marks of groups of runs by point and scheme."""
        return marks(self.results, ["point", "scheme"])

    @cached_property
    def collectives(self) -> list[paths.Row]:
        """The completion of collectives, compared with the baseline; empty without any."""
        return paths.collectives(self.results, self.summary.baseline)

    @cached_property
    def events(self) -> pl.DataFrame:
        """The events that figures over time draw, see `weft.run_events.drawn_events`."""
        return drawn_events(self.results)

    def labels(self, point: str) -> dict[str, str]:
        """The schemes as legends name them at a point: with the label of those that were not in a steady state."""
        found = {name: self.marks.get((point, name)) for name in self.schemes}
        return {name: visible(name if mark is None else f"{name} ({mark.label})") for name, mark in found.items()}

    def explained(self, point: str) -> list[str]:
        """The meaning of each label that `labels` has at a point, with the reason for the first scheme that has it."""
        found: dict[str, str] = {}
        for name in self.schemes:
            if mark := self.marks.get((point, name)):
                found.setdefault(
                    mark.label, f"({mark.label}) in {mark.runs} of {plural(mark.of, 'run')}: {mark.reason}"
                )
        return list(found.values())

    @cached_property
    def summaries(self) -> list[dict[str, Any]]:
        """The summaries of the finished runs, without their links and nodes."""
        return list(self.results.heads().values())

    @cached_property
    def fabric(self) -> Fabric:
        """The fabric to draw: that of the first run."""
        first = self.results.finished[0].summary()
        name = str((first.get("fabric") or {}).get("name", "fabric"))
        return Fabric.from_json({"name": name, "nodes": first["nodes"], "links": first["links"]})

    @property
    def fabrics(self) -> int:
        """Number of different fabrics in the sweep; only the first is drawn."""
        return len({json.dumps(s.get("fabric"), sort_keys=True) for s in self.summaries})

    @property
    def x_title(self) -> str:
        """Title of the horizontal axis: the end of its key; for a load, with its reference."""
        if self.x is None:
            return ""
        title = short_key(self.x, self.results.dimensions)
        of = dict.fromkeys((s.get("traffic") or {}).get("load_of") for s in self.summaries)
        if self.x.rpartition(".")[2] != "load" or len(of) != 1 or None in of:
            return title
        return f"{title} (share of {str(next(iter(of))).replace('-', ' ')})"

    @property
    def crowded(self) -> bool:
        """Whether a panel by class has more than `CROWDED` points."""
        values = {run.dimensions.get(self.x) for run in self.results.finished} if self.x is not None else set()
        return len(values) * len(self.schemes) > CROWDED

    @cached_property
    def ranks(self) -> RankTable | None:
        """The ranks of the schemes; None with one seed, or with fewer or more schemes than `RANKED`."""
        if len(self.schemes) not in RANKED or len(self.results.seeds) < 2:
            return None
        return ranked(self.results)

    def intervals(self) -> pl.DataFrame:
        """The summary for the charts, with the columns `point` and, if there are rows of panels, `panels`."""
        frame = extracts.intervals(self.summary)
        names = {tuple(run.dimensions.items()): run.point for run in self.results.finished}
        keys = self.results.dimensions
        points = [names.get(tuple(zip(keys, values, strict=True)), "") for values in frame.select(keys).iter_rows()]
        frame = frame.with_columns(pl.Series("point", points if keys else [""] * len(frame), dtype=pl.String))
        if self.others:
            frame = frame.with_columns(extracts.panel_label(self.others, keys).alias("panels"))
        used = ["scheme", "class", "point", "metric", "mean", "low", "high", "seeds"]
        return frame.select(*used, *([self.x] if self.x else []), *(["panels"] if self.others else []))
