"""The critical path of a round of a collective or of a trace, and the links to blame for its queueing.

The path comes from the results; ``docs/results.md`` has its parts. Its flows that queued longest are explained by a
repeated run, see `weft.explanation`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from .errors import ResultsError
from .explanation import explain
from .one_run import FLOWS, Run
from .paths import PARTS
from .results import Results
from .steps import PATH

MOST_FLOWS = 64
"""Flows of a path that are explained: those that queued longest."""
_LARGEST = 20_000_000
"""Bytes of a flow whose packets are recorded."""
_WAITS = ("queueing", "loss recovery", "timeout")
"""Causes that are blamed on links."""


@dataclass(frozen=True)
class CriticalPath:
    """The critical path of a job of a run.

    Attributes:
        run: The run.
        number: The place of the job in `collectives` of ``summary.json``.
        job: Its entry there.
        blamed: Time that flows of the path waited at each link, in seconds, longest first; of the `explained` ones.
        queued: Flows of the path that queued.
        explained: Of these, those whose packets were followed.
    """

    run: Run
    number: int
    job: Mapping[str, Any]
    blamed: dict[str, float]
    queued: int
    explained: int

    @cached_property
    def parts(self) -> dict[str, float]:
        """The time of each part in seconds, in the order of `weft.paths.PARTS`; they add up to `seconds`."""
        return {part: self.job["critical_path"][f"{part}_ps"] / 1e12 for part in PARTS}

    @property
    def seconds(self) -> float:
        """The time of the job."""
        return float(self.job["completion_ps"]) / 1e12

    @property
    def name(self) -> str:
        """The job, for a heading."""
        return f"{self.job['class'] or self.job['kind']}, round {self.job['round']}"

    def as_dict(self) -> dict[str, Any]:
        """The path as plain data."""
        return {
            "run": self.run.id,
            "scheme": self.run.scheme,
            "job": self.number,
            "name": self.name,
            "completion_ps": self.job["completion_ps"],
            "parts": dict(self.job["critical_path"]),
            "links": [{"link": link, "time_s": seconds} for link, seconds in self.blamed.items()],
            "flows_queued": self.queued,
            "flows_explained": self.explained,
        }


def longest(run: Run) -> int:
    """The place of the job of a run that took longest. Raises `ResultsError` if none was completed."""
    times = {at: job["completion_ps"] for at, job in enumerate(_jobs(run)) if job["completion_ps"] is not None}
    if not times:
        raise ResultsError(
            f"no collective or trace of {run.label} was completed, and only these have a critical path",
            "name a flow: --flow N",
        )
    return max(times, key=lambda at: (times[at], -at))


def critical_path(
    results: Results,
    run: Run,
    number: int,
    *,
    scenario: str | Path | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> CriticalPath:
    """The critical path of a job of a run, which is simulated again to find the links to blame.

    Args:
        results: The results.
        run: One of their runs.
        number: The place of the job in `collectives` of ``summary.json``.
        scenario: See `weft.explanation.source`.
        progress: See `weft.explanation.explain`.

    Raises:
        ResultsError: There is no such job, it was not completed, or the run cannot be simulated again.
    """
    jobs = _jobs(run)
    if not 0 <= number < len(jobs):
        raise ResultsError(f"{run.label} has no job {number}: its jobs are numbered 0 to {len(jobs) - 1}")
    job = jobs[number]
    if job.get("critical_path") is None:
        raise ResultsError(f"job {number} of {run.label} was not completed, so it has no critical path")
    queued = waits(run, number)
    chosen = queued.filter(pl.col("bytes") <= _LARGEST).head(MOST_FLOWS)["flow"].to_list()
    blamed: dict[str, float] = {}
    found = explain(results, run, chosen, scenario=scenario, progress=progress) if chosen else []
    for one in found:
        for cause in one.causes:
            if cause.name in _WAITS and cause.link:
                blamed[cause.place] = blamed.get(cause.place, 0.0) + cause.seconds
    ordered = dict(sorted(blamed.items(), key=lambda item: (-item[1], item[0])))
    return CriticalPath(run, number, job, ordered, len(queued), len(found))


def waits(run: Run, number: int) -> pl.DataFrame:
    """The flows on the path of a job that queued, longest first.

    Columns: `flow`, `queueing_ps`, `src`, `dst`, `path`, `bytes`.
    """
    parts = pl.scan_parquet(run.path / PATH).filter(
        pl.col("job") == number, pl.col("part").cast(pl.String) == "queueing"
    )
    time = parts.group_by("flow").agg(queueing_ps=(pl.col("end_ps") - pl.col("start_ps")).sum())
    texts = pl.col("src", "dst", "path").cast(pl.String)
    flows = pl.scan_parquet(run.path / FLOWS).select("flow", texts, "bytes")
    return time.join(flows, on="flow").sort("queueing_ps", "flow", descending=[True, False]).collect()


def most_loaded(run: Run, number: int) -> dict[str, float]:
    """The queueing of the path's flows in seconds by the most used link of each flow's way, longest first.

    From the records of the run alone: the flow may have waited at another of its links, too.
    """
    use = {f"{link['from']}->{link['to']}": link["utilisation"] or 0.0 for link in run.summary()["links"]}
    sums: dict[str, float] = {}
    for _, queueing, src, dst, path, _ in waits(run, number).iter_rows():
        nodes = [src, *(path or "").split(), dst]
        links = [link for link in map("->".join, pairwise(nodes)) if link in use]
        if links:
            link = max(links, key=lambda name: use[name])
            sums[link] = sums.get(link, 0.0) + queueing / 1e12
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def _jobs(run: Run) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = run.summary().get("collectives", [])
    return found
