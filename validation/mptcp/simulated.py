"""Runs a case in the simulator."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

import weft

from .cases import RECEIVER, SENDER, TCP_RECEIVER, TCP_SENDER, Case, fabric
from .series import INTERVAL_S, Observed, Series

_SCENARIO = """\
name = "{name}"

[fabric]
file = "fabric.toml"

{groups}
[scheme]
name = "single_path"

[transport]
profile = "linux"
mptcp = "fullmesh"
congestion_control = "{congestion}"
mptcp_stale_loss_count = {stale}

[run]
duration = "{seconds} s"
limit = "{seconds} s"
seeds = {seeds}

[measure]
interval = "{interval} s"
{cut}"""
_GROUP = """\
[[traffic]]
class = "{name}"
sizes = {{ fixed = "1 TB" }}
arrivals = "at-once"
jitter = "200 ms"
flows = 1
pairs = [["{source}", "{target}"]]
"""


def scenario(case: Case, runs: int) -> str:
    """The text of a case's scenario; a competing TCP connection is one of a single subflow (README.md)."""
    pairs = [("mptcp", SENDER, RECEIVER), *([("tcp", TCP_SENDER, TCP_RECEIVER)] if case.beside else [])]
    cut = "" if case.cut_s is None else f'\n[[event]]\nat = "{case.cut_s} s"\nfail = "{"-".join(case.cut)}"\n'
    return _SCENARIO.format(
        name=case.name,
        groups="\n".join(_GROUP.format(name=name, source=source, target=target) for name, source, target in pairs),
        congestion=case.congestion,
        stale=case.stale_loss_count,
        seconds=case.seconds,
        seeds=runs,
        interval=INTERVAL_S,
        cut=cut,
    )


def simulate(case: Case, runs: int) -> list[Observed]:
    """Run a case with `runs` seeds.

    Raises:
        weft.WeftError: The simulation failed.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "fabric.toml").write_text(fabric(case, link_each=True), encoding="utf-8")
        text = scenario(case, runs)
        results = weft.Scenario.from_text(text, f"{case.name}.toml", directory).run(directory / "out")
        arrived = results.series("throughput_bps").sort("run", "entity", "time_ps")
        return [
            {
                entity: _series(arrived.filter((pl.col("run") == run.id) & (pl.col("entity") == entity)), case)
                for entity in ("mptcp", *(["tcp"] if case.beside else []))
            }
            for run in results.finished
        ]


def _series(rows: pl.DataFrame, case: Case) -> Series:
    times, values = rows["time_s"].to_list(), rows["value"].to_list()
    there = {round(time / INTERVAL_S): value for time, value in zip(times, values, strict=True)}
    count = round(case.seconds / INTERVAL_S)
    return [(number * INTERVAL_S, there.get(number, 0.0) * INTERVAL_S / 8) for number in range(1, count + 1)]
