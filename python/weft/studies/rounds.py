"""The rounds of the collectives of a study's part."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from ..results import Results


@dataclass(frozen=True)
class Round:
    """A round of a collective.

    Attributes:
        seed: The seed of its run.
        number: Its number, from 1.
        kind: The collective.
        picoseconds: From the first flow's start to the last byte of the last flow; None if flows did not finish.
        ratio: That time over the bound of the hosts' links; None if flows did not finish.
        timeouts: Those of all rounds of the run.
    """

    seed: int
    number: int
    kind: str
    picoseconds: int | None
    ratio: float | None
    timeouts: int


def rounds(part: Results) -> Iterator[Round]:
    """The rounds of all finished runs."""
    summaries = {summary["id"]: summary for summary in part.summaries()}
    late = part.scan_flows(measured=False).group_by("run").agg(pl.col("timeouts").sum()).collect()
    timeouts = dict(late.iter_rows())
    for run in part.finished:
        for done in summaries[run.id]["collectives"]:
            took, ratio = done["completion_ps"], done["ratio"]
            yield Round(run.seed, done["round"], done["kind"], took, ratio, timeouts.get(run.id, 0))
