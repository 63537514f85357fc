"""The time of each rank in a round or step: computing, exposed communication and idle. Only in files.

A panel for each scheme has the round that took longest in its first run, and a bar for the host of each rank.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ..critical_path import longest
from ..errors import ResultsError
from ..labels import visible
from ..one_run import Run
from ..palette import Style
from ..results import Results
from ..steps import RANKS
from .layers import Spec, axis, faceted, of_scheme

NAME = "rank-times"
"""The name of the file."""
PARTS = {"compute": "compute_ps", "exposed communication": "exposed_ps", "idle": "idle_ps"}
"""The columns of ``ranks.parquet`` by the name of the part, from the axis up."""
LOOKS = {
    "compute": Style("#856900", "#e6c24a", "square", ()),
    "exposed communication": Style("#0b6aa8", "#62b2f0", "circle", ()),
    "idle": Style("#b3bcc4", "#5c666f", "triangle-up", ()),
}
"""How each part is drawn."""
_MOST = 128
"""Ranks that are drawn; of more, an evenly spread part."""

Rows = list[dict[str, Any]]


def spec(panels: Sequence[str]) -> Spec:
    """Stacked bars in a panel for each scheme; the data set is `ranks`."""
    x = {
        "field": "host",
        "type": "ordinal",
        "title": "host",
        "sort": None,
        "scale": {"paddingInner": 0.1},
        "axis": {"grid": False, "labelOverlap": True, "labelAngle": 0, "labelSeparation": 4},
    }
    y = axis("time", "time", "s") | {"stack": "zero"}
    channels = {"x": x, "y": y, **of_scheme(list(PARTS), "color"), "order": {"field": "order"}}
    return faceted("ranks", "panel", panels, [{"mark": "bar", "encoding": channels}], share_y=True)


def data(results: Results, point: str, labels: Mapping[str, str]) -> tuple[Rows, list[str]]:
    """The rows of a point, and a line on each panel; both are empty without a completed round."""
    rows: Rows = []
    notes = []
    runs: dict[str, Run] = {}
    for run in results.finished:
        if run.point == point and (run.path / RANKS).is_file():
            runs.setdefault(run.scheme, run)
    for scheme, run in runs.items():
        try:
            number = longest(run)
        except ResultsError:
            continue
        times = pl.read_parquet(run.path / RANKS).filter(pl.col("job") == number)
        each = -(-len(times) // _MOST)
        panel = visible(labels.get(scheme, scheme))
        for at_rank, one in enumerate(times.iter_rows(named=True)):
            if at_rank % each == 0:
                host, parts = visible(str(one["host"])), enumerate(PARTS.items())
                rows += [
                    {"panel": panel, "host": host, "order": at, "scheme": part, "time": one[column] / 1e12}
                    for at, (part, column) in parts
                ]
        job = run.summary()["collectives"][number]
        shown = f", one of {each} ranks" if each > 1 else ""
        notes.append(f"{panel}: {job['class'] or job['kind']}, round {job['round']}, seed {run.seed}{shown}")
    return rows, notes
