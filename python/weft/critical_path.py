"""The critical path of a round of a collective or of a trace, and the links to blame for its queueing.

The path comes from the results; ``docs/results.md`` has its parts. Its flows that queued longest are explained by a
repeated run, see `weft.explanation`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from .communication import Communication, waits_at_links
from .errors import ResultsError
from .explanation import explain
from .one_run import FLOWS, Run
from .paths import PARTS
from .results import Results
from .steps import PATH

MOST_FLOWS = 4096
"""Flows of a path that are explained: those that queued longest."""
LEAST_SHARE = 0.0005
"""Share of a job's time below which queueing is not followed: it would be rounded to 0.0 %."""
_WAYS = ("flow", "queueing_ps", "src", "dst", "path")
"""The first columns of `waits`."""
MOST_PACKETS = 900_000
"""Data packets of a message that is followed. The messages of a path follow each other: memory has one at a time."""


@dataclass(frozen=True)
class CriticalPath:
    """The critical path of a job of a run.

    Attributes:
        run: The run.
        number: The place of the job in `collectives` of ``summary.json``.
        job: Its entry there.
        communications: Flows of the path that queued, longest first. The packets of the first ones were followed.
    """

    run: Run
    number: int
    job: Mapping[str, Any]
    communications: Sequence[Communication]

    @cached_property
    def parts(self) -> dict[str, float]:
        """The time of each part in seconds, in the order of `weft.paths.PARTS`; they add up to `seconds`."""
        return {part: self.job["critical_path"][f"{part}_ps"] / 1e12 for part in PARTS}

    @property
    def seconds(self) -> float:
        """The time of the job."""
        return float(self.job["completion_ps"]) / 1e12

    @cached_property
    def blamed(self) -> dict[str, float]:
        """The time that flows of the path waited at each link, in seconds, longest first; of the `explained` ones."""
        sums: dict[str, float] = {}
        for one in self.communications:
            for link, seconds in one.links.items():
                sums[link] = sums.get(link, 0.0) + seconds
        return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))

    @property
    def queued(self) -> int:
        """The flows of the path that queued."""
        return len(self.communications)

    @property
    def explained(self) -> int:
        """Of these, those whose packets were followed."""
        return sum(one.is_followed for one in self.communications)

    @property
    def elsewhere(self) -> float:
        """Queueing of the explained flows that is due to no link, in seconds."""
        return sum(one.elsewhere for one in self.communications)

    @property
    def unexplained(self) -> float:
        """Queueing of the other flows, in seconds."""
        return sum(one.seconds for one in self.communications if not one.is_followed)

    @property
    def is_explained(self) -> bool:
        """Whether `unexplained` is too little to be shown."""
        return self.unexplained < LEAST_SHARE * self.seconds

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
            "at_no_link_s": self.elsewhere,
            "not_explained_s": self.unexplained,
            "communications": [one.as_dict() for one in self.communications],
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
    chosen = _followed(queued, job["completion_ps"])
    found = explain(results, run, chosen, scenario=scenario, on_path=_starts(run), progress=progress) if chosen else []
    summary = run.summary()
    rates, use = _rates_of_hosts(summary), _use(summary)
    times = dict(queued.select("flow", "queueing_ps").iter_rows())
    links = {one.flow: waits_at_links(one, rates, times[one.flow] / 1e12) for one in found}
    communications = [
        Communication(
            flow, src, dst, queueing / 1e12, links.get(flow, {}), _most_used(use, src, dst, path), flow in links
        )
        for flow, queueing, src, dst, path in queued.select(*_WAYS).iter_rows()
    ]
    return CriticalPath(run, number, job, communications)


def waits(run: Run, number: int) -> pl.DataFrame:
    """The flows on the path of a job that queued, longest first.

    Columns: `flow`, `queueing_ps`, `src`, `dst`, `path`, `packets` and `is_in_parts`.
    """
    parts = pl.scan_parquet(run.path / PATH).filter(
        pl.col("job") == number, pl.col("part").cast(pl.String) == "queueing"
    )
    time = parts.group_by("flow").agg(queueing_ps=(pl.col("end_ps") - pl.col("start_ps")).sum())
    texts = pl.col("src", "dst", "path").cast(pl.String)
    more = {
        "packets": pl.col("packets_sent"),
        "is_in_parts": pl.col("ideal_fct_ps").is_null(),
    }
    flows = pl.scan_parquet(run.path / FLOWS).select("flow", texts, **more)
    return time.join(flows, on="flow").sort("queueing_ps", "flow", descending=[True, False]).collect()


def _followed(queued: pl.DataFrame, completion_ps: int) -> list[int]:
    """The flows whose packets are followed: those that queued longest, until the rest is less than a table shows.

    Of these, flows with too many packets are left out, unless they are in parts, of which one is followed at a time.
    """
    rest = pl.col("queueing_ps").cum_sum(reverse=True) >= LEAST_SHARE * completion_ps
    fits = (pl.col("packets") <= MOST_PACKETS) | pl.col("is_in_parts")
    return queued.filter(rest & fits).head(MOST_FLOWS)["flow"].to_list()


def _starts(run: Run) -> dict[int, int]:
    """The starts of the flows in parts of a run, in picoseconds."""
    flows = pl.scan_parquet(run.path / FLOWS).filter(pl.col("ideal_fct_ps").is_null())
    return dict(flows.select("flow", "start_ps").collect().iter_rows())


def _use(summary: Mapping[str, Any]) -> dict[str, float]:
    """The utilisation of each link of a run."""
    return {f"{link['from']}->{link['to']}": link["utilisation"] or 0.0 for link in summary["links"]}


def _rates_of_hosts(summary: Mapping[str, Any]) -> dict[str, float]:
    """The rates of the links from hosts, in bits per second."""
    hosts = {node["name"] for node in summary["nodes"] if node["role"] == "host"}
    return {
        f"{link['from']}->{link['to']}": float(link["rate_bps"]) for link in summary["links"] if link["from"] in hosts
    }


def _most_used(use: Mapping[str, float], src: str, dst: str, path: str | None) -> str | None:
    """The link of a flow's path with the highest utilisation, if links of the path are known."""
    nodes = [src, *(path or "").split(), dst]
    links = [link for link in map("->".join, pairwise(nodes)) if link in use]
    return max(links, key=lambda name: use[name], default=None)


def _jobs(run: Run) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = run.summary().get("collectives", [])
    return found
