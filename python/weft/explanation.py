"""Why a flow took as long as it did: its time, divided among the causes, with the links to which they are due.

The run is simulated again until the flow has ended, and the packets of the flow are recorded. The division follows the
chain of packets that led to the last byte, backwards from its arrival: see ``docs/why.md``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from . import _weft, quantity
from .errors import ResultsError
from .one_run import Run
from .runs import Runs
from .user_files import read_text

OWN_LINK = "host's link"
"""The cause of time that a flow waited for a turn on its host's link."""


@dataclass(frozen=True)
class Cause:
    """A part of a flow's time."""

    name: str
    """Such as ``queueing`` or ``timeout``; all are in ``docs/why.md``."""
    link: str | None
    """The link to which it is due, such as ``l0->s1``; None if it is due to none."""
    seconds: float
    share: float
    """Of the flow's time, from 0 to 1."""
    lost: str | None = None
    """The type of the packet whose loss it is due to, such as ``data`` or ``SYN+ACK``."""
    direction: str | None = None
    """Of the packets that waited at the link or were lost: ``forward`` to the destination, or ``back``."""

    @property
    def text(self) -> str:
        """The name, with the lost packet."""
        return f"{self.name}, {self.lost} lost" if self.lost else self.name

    @property
    def note(self) -> str:
        """The lost packet, and whether the packets were on their way back; may be empty."""
        back = "on the way back" if self.link and self.direction == "back" else ""
        return " ".join(filter(None, (f"{self.lost} lost" if self.lost else "", back)))

    @property
    def place(self) -> str:
        """The link and, if the packets were on their way back to the source, that; empty if it is due to no link."""
        return on_the_way(self.link or "", self.direction)


@dataclass(frozen=True)
class Explanation:
    """A flow of a run, and the causes of its time.

    Attributes:
        run: The run.
        data: The engine's: times in picoseconds since the start of the flow. `parts` are in order of time, without
            gaps; `packets` and `windows` are there if they were asked for.
    """

    run: Run
    data: dict[str, Any]

    @property
    def flow(self) -> int:
        """The number of the flow."""
        return int(self.data["flow"])

    @property
    def seconds(self) -> float:
        """The completion time; of a flow that did not finish, the time until the run ended."""
        parts = self.data["parts"]
        return float(self.data["fct_ps"] if self.is_finished else parts[-1]["to"] if parts else 0) / 1e12

    @property
    def is_finished(self) -> bool:
        """Whether the destination received everything before the run ended."""
        return self.data["fct_ps"] is not None

    @property
    def slowdown(self) -> float | None:
        """The completion time over that on an idle fabric; None if the flow did not finish."""
        ideal = self.data["ideal_fct_ps"]
        return self.data["fct_ps"] / ideal if ideal and self.is_finished else None

    @cached_property
    def causes(self) -> list[Cause]:
        """The causes with their links, the one with the longest time first."""
        total = self.seconds or 1.0
        return [
            Cause(one["cause"], one["link"], one["ps"] / 1e12, one["ps"] / 1e12 / total, one["lost"], one["direction"])
            for one in self.data["sums"]
        ]

    @property
    def blame(self) -> tuple[str, float] | None:
        """The link to which most time is due, and this time in seconds; None if no time is due to a link."""
        found = self.data["blame"]
        return None if found is None else (str(found["link"]), found["ps"] / 1e12)

    def frame(self) -> pl.DataFrame:
        """The causes as a frame: `cause`, `lost`, `link`, `direction`, `time_s`, `share`."""
        rows = [
            (cause.name, cause.lost, cause.link, cause.direction, cause.seconds, cause.share) for cause in self.causes
        ]
        schema = {
            "cause": pl.String,
            "lost": pl.String,
            "link": pl.String,
            "direction": pl.String,
            "time_s": pl.Float64,
            "share": pl.Float64,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def sentence(self) -> str:
        """The largest cause, and the link to blame, in a sentence."""
        if not self.causes:
            return "The flow took no time."
        first = self.causes[0]
        text = f"{_phrase(first)} took {quantity.seconds(first.seconds)}, {quantity.percent(first.share)}"
        text += " of the flow's time."
        if self.blame and self.blame[0] != first.link and self.blame[1] > self.seconds / 100:
            link, seconds = self.blame
            place = on_the_way(link, self.data["blame"]["direction"])
            text += f" Of all links, {place} cost most: {quantity.seconds(seconds)}."
        return text


def on_the_way(link: str, direction: str | None) -> str:
    """A link and, if its packets were on their way back to the source, that."""
    return f"{link} on the way back" if link and direction == "back" else link


_PHRASES = {
    "queueing": "Queues",
    "timeout": "Timeouts",
    "loss recovery": "Recovery",
    OWN_LINK: "Waiting for a turn on the host's link",
    "rank before": "Waiting for data of the rank before",
    "rate limit": "Waiting for the rate limit or a timer",
    "held by a switch": "A switch that held packets until it knew a path",
    "unfinished": "A packet that had not arrived at the end of the run",
}


def _phrase(cause: Cause) -> str:
    """The cause as the subject of a sentence."""
    text = _PHRASES.get(cause.name, cause.name[:1].upper() + cause.name[1:])
    if cause.name in ("timeout", "loss recovery"):
        after = f"{text} after a loss of {cause.lost}" if cause.lost else f"{text} without a loss"
        return f"{after} at {cause.place}" if cause.place else after
    return f"{text} at {cause.place}" if cause.place else text


def source(results: Runs, scenario: str | Path | None = None) -> tuple[str, str, str, list[str]]:
    """The scenario of results, to simulate a run again: text, name, directory and changes, as the engine takes them.

    Args:
        results: The results.
        scenario: The scenario's file: needed if it names other files, such as a fabric.

    Raises:
        ResultsError: The runs cannot be simulated again.
    """
    index = json.loads((results.path / "sweep.json").read_text(encoding="utf-8"))
    if any("emulated" in head for head in results.heads().values()):
        raise ResultsError(f"{results.where} has emulated runs: only flows of simulated runs can be explained")
    if not results.has_scenario:
        missing = f"{results.path / 'scenario.toml'} is missing, so no run can be simulated again"
        raise ResultsError(f"{missing}: put the file back, or run the scenario again")
    inputs = sorted(index.get("inputs") or ())
    if plugins := [name for name in inputs if name.startswith("plugin ")]:
        raise ResultsError(f"runs with a {plugins[0]} cannot be explained: the plugin has an engine of its own")
    if inputs and scenario is None:
        needs = f"the scenario of {results.where} names other files: {', '.join(inputs)}"
        raise ResultsError(needs, "name the scenario beside them: --scenario FILE")
    text, sets = results.scenario_text, [str(change) for change in index.get("sets") or ()]
    if scenario is None:
        return text, str(results.path / "scenario.toml"), str(results.path), sets
    path = Path(scenario)
    if read_text(path) != text:
        raise ResultsError(f"{path} is not the scenario of {results.where}: its text is another")
    return text, str(path), str(path.parent), sets


def explain(
    results: Runs,
    run: Run,
    flows: Sequence[int],
    *,
    scenario: str | Path | None = None,
    packets: bool = False,
    on_path: Mapping[int, int] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> list[Explanation]:
    """Simulate a run again, and explain some of its flows.

    Args:
        results: The results.
        run: One of their runs.
        flows: Numbers of flows, as in ``flows.parquet``.
        scenario: See `source`.
        packets: Whether `Explanation.data` has the packets of the flow and the window of its source.
        on_path: If these are flows of a critical path, the starts of all flows in parts of the run, in picoseconds.
            Only the sums are found, in little memory. Those of a flow in parts follow its parts around the ring, and so
            have the causes of the ranks before.
        progress: Called a few times a second with `sim_time_s` and `packet_hops`; may raise KeyboardInterrupt.

    Raises:
        ResultsError: The run cannot be simulated again, or gives other completion times than before.
        ScenarioError: There is no such flow, or a flow has no explanation.
    """

    def forward(event: str) -> None:
        if progress is not None:
            progress(json.loads(event))

    text, name, directory, sets = source(results, scenario)
    sets.append(f"run.seeds=[{run.seed}]")
    starts = None if on_path is None else dict(on_path)
    found = json.loads(_weft.why(text, name, directory, sets, run.id, list(flows), packets, starts, forward))
    stored = pl.scan_parquet(run.path / "flows.parquet").filter(pl.col("flow").is_in(list(flows)))
    times = dict(stored.select("flow", pl.col("end_ps") - pl.col("start_ps")).collect().iter_rows())
    for one in found:
        if times.get(one["flow"], one["fct_ps"]) != one["fct_ps"]:
            raise ResultsError(
                f"flow {one['flow']} takes another time when its run is simulated again: "
                f"{results.where} is of version {results.version}",
                "run the scenario again",
            )
    return [Explanation(run, one) for one in found]
