"""Weft's side: a whole `weft run` on one thread, and its outcome."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from .. import interpreter
from ..one_run import read_json
from ..results import Results
from .cases import Case
from .errors import PeerError
from .excerpt import last_lines
from .networks import BACK_PS
from .outcome import Outcome
from .process import Usage, measured

_SCENARIO, _RESULTS, _OUTPUT, _USAGE = "scenario.toml", "results", "output.txt", "usage.json"


@dataclass(frozen=True)
class Run:
    """A finished run."""

    usage: Usage
    """Of the whole command."""
    engine_seconds: float
    """CPU time of the engine alone."""


def run(case: Case, seed: int, folder: Path) -> Run:
    """Run the case in `folder`, which has the matrix. Raises `PeerError` with the end of its output if it fails."""
    scenario, results, output = folder / _SCENARIO, folder / _RESULTS, folder / _OUTPUT
    scenario.write_text(case.scenario(seed), encoding="utf-8")
    command = interpreter.module("weft", "run", str(scenario), "-o", str(results), "--threads", "1", "--jobs", "1")
    # In this directory, so that Python finds the same Weft as here.
    with output.open("wb") as file:
        done = measured(command, folder / _USAGE, file)
    if done.code != 0:
        raise PeerError(f"{case.name}: weft run failed with exit code {done.code}{last_lines(output)}", begun=True)
    (performance,) = read_json(results / "performance.json")
    return Run(done.usage, float(performance["cpu_seconds"]))


_ACKNOWLEDGED = pl.col("end_ps") + pl.col("hops") * BACK_PS
"""When a flow is acknowledged: the answer to its last byte has an idle way back to the source."""


def completions(folder: Path) -> list[float]:
    """When the flows of the run in `folder` were acknowledged, in microseconds."""
    flows = Results(folder / _RESULTS).scan_flows(measured=False).filter(pl.col("end_ps").is_not_null())
    return flows.select(_ACKNOWLEDGED / 1e6).collect().to_series().to_list()


def outcome(folder: Path) -> Outcome:
    """The outcome of the run in `folder`."""
    flows = Results(folder / _RESULTS).scan_flows(measured=False)
    row = (
        flows.select(
            pl.col("packets_sent").sum().alias("packets"),
            pl.col("retransmissions").sum().alias("repeated"),
            _ACKNOWLEDGED.max().alias("last_ps"),
            pl.col("end_ps").is_not_null().sum().alias("finished"),
        )
        .collect()
        .row(0, named=True)
    )
    return Outcome(row["packets"], row["repeated"], (row["last_ps"] or 0) / 1e6, row["finished"])
