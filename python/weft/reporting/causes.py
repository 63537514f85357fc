"""Why the slowest flows were slow: their runs are simulated again, and the causes kept beside the results."""

from __future__ import annotations

import json
import os
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import zip_longest
from threading import Event
from typing import Any

import polars as pl

from .. import _weft
from ..aggregates import FOLDER
from ..cached_tables import ENTRY, CachedTables
from ..errors import ResultsError, ScenarioError
from ..explanation import Explanation, explain
from ..labels import plural
from ..one_run import FLOWS, Run
from ..reduction import digest
from ..results import Results

BUDGET_S = 20.0
"""CPU time of the repeated runs, unless they were asked for."""
RECORDING = 1.5
"""CPU time of a run whose packets are recorded, relative to that of the run."""
MOST_RUNS = 10
"""Runs simulated again."""
_LARGEST = 20_000_000
"""Bytes of a flow whose packets are recorded."""
_SHOWN = 6
"""Causes of a flow on the page; the rest is one."""
_LEAST = 0.001
"""Share of a flow's time from which on a cause is shown."""
_WORTH_S = 1.0
"""CPU time of runs from which on their causes are kept."""


@dataclass
class Causes:
    """The causes of flows by `RUN/FLOW`, and why others have none."""

    flows: dict[str, Any] = field(default_factory=dict)
    note: str = ""


def causes_of(results: Results, parts: Mapping[str, bytes], *, wanted: bool | None, spent: float = 0.0) -> Causes:
    """The causes of the slowest flows in the page's parts ``flows-0`` ..., as `weft.markup.packed` made them.

    Args:
        results: The results, which can be simulated again.
        parts: The parts.
        wanted: True: of all these flows, though at most `MOST_RUNS` runs; None: in `BUDGET_S`; False: of none.
        spent: CPU seconds of the budget that other runs of the page have used.
    """
    again = f"weft report {shlex.quote(str(results.path))} --why simulates up to {plural(MOST_RUNS, 'run')} again."
    if wanted is False:
        return Causes(note=f"The causes of the flows' time were not asked for. {again}")
    cost_of = costs(results)
    kept = CachedTables(results.path / FOLDER / "why", f"2 {_weft.version()}")
    stamps, tables = kept.load() if results.keeps else ({}, {})
    candidates = _candidates(results, parts)
    stamp_of = {run.id: _stamp(run, flows) for run, flows in candidates}
    chosen: dict[str, _Work] = {}
    for run, flows in candidates:
        cost = RECORDING * cost_of.get(run.id, BUDGET_S)
        is_kept = stamps.get(run.id) == stamp_of[run.id]
        if len(chosen) < MOST_RUNS and (wanted or is_kept or spent + cost <= BUDGET_S):
            chosen[run.id] = _Work(run, flows, cost, is_kept)
            spent += cost
    found = {name: _stored(tables["causes"], name) for name, one in chosen.items() if one.is_kept}
    fresh, problems = _simulated(results, [one for one in chosen.values() if not one.is_kept])
    found |= fresh
    if results.keeps and sum(chosen[name].cost for name in fresh) > _WORTH_S:
        kept.save({name: stamp_of[name] for name in found}, {"causes": _table(found)})
    of_flows = {f"{name}/{flow}": causes for name, of_run in found.items() for flow, causes in of_run.items()}
    return Causes(
        of_flows, next(iter(problems), "") or _left_out(len(found), len(candidates), wanted=wanted, again=again)
    )


@dataclass(frozen=True)
class _Work:
    """A run with flows to explain."""

    run: Run
    flows: list[int]
    cost: float
    """CPU seconds."""
    is_kept: bool
    """Whether the causes are beside the results."""


def _left_out(found: int, candidates: int, *, wanted: bool | None, again: str) -> str:
    """Why flows of other runs have no causes."""
    if found >= candidates:
        return ""
    shown = f"Causes are shown for flows of {plural(found, 'run')}"
    if wanted:
        return f"{shown}. For others, a click gives the command that finds them."
    return f"{shown}, to take {BUDGET_S:.0f} s of CPU time at most. {again}"


def costs(results: Results) -> dict[str, float]:
    """CPU seconds of each run, as far as they are known."""
    try:
        timings = json.loads((results.path / "performance.json").read_text(encoding="utf-8"))
        return {str(one["run"]): float(one["cpu_seconds"]) for one in timings}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _candidates(results: Results, parts: Mapping[str, bytes]) -> list[tuple[Run, list[int]]]:
    """Runs with their listed flows; those of the slowest flows of the first point come first."""
    runs = {run.id: run for run in results.finished}
    found: dict[str, list[int]] = {}
    for ident in sorted((ident for ident in parts if ident.startswith("flows-")), key=lambda one: int(one[6:])):
        for run, flow in _slowest(json.loads(zlib.decompress(parts[ident]))["slowest"]):
            found.setdefault(run, []).append(flow)
        if len(found) > MOST_RUNS:
            break
    return [(runs[run], sorted(flows)) for run, flows in found.items() if run in runs]


def _slowest(table: Mapping[str, list[Any]]) -> Iterator[tuple[str, int]]:
    """Run and number of the flows: the slowest of each scheme, the second one of each, and so on."""
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    rows = [row for row in rows if row["bytes"] <= _LARGEST]
    rows.sort(key=lambda row: -float("inf") if row["slowdown"] is None else -row["slowdown"])
    ranked: dict[str, list[tuple[str, int]]] = {}
    for row in rows:
        ranked.setdefault(row["scheme"], []).append((row["run"], row["flow"]))
    for of_rank in zip_longest(*ranked.values()):
        yield from (one for one in of_rank if one is not None)


def _stamp(run: Run, flows: Sequence[int]) -> str:
    status = run.status(FLOWS)
    return digest([run.id, list(flows), status.st_size, status.st_mtime_ns])


def _table(found: Mapping[str, Mapping[int, Any]]) -> pl.DataFrame:
    rows = [(name, flow, json.dumps(causes)) for name, of_run in found.items() for flow, causes in of_run.items()]
    return pl.DataFrame(rows, {ENTRY: pl.String, "flow": pl.Int64, "causes": pl.String}, orient="row")


def _stored(table: pl.DataFrame, run: str) -> dict[int, Any]:
    rows = table.filter(pl.col(ENTRY) == run).select("flow", "causes").iter_rows()
    return {flow: json.loads(causes) for flow, causes in rows}


def _simulated(results: Results, work: Sequence[_Work]) -> tuple[dict[str, dict[int, Any]], list[str]]:
    """The causes of flows of these runs, and the errors; the runs are simulated in parallel."""
    found: dict[str, dict[int, Any]] = {}
    problems: list[str] = []
    if not work:
        return found, problems
    total, done, stop = sum(one.cost for one in work), 0.0, Event()

    def go_on(_: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    with ThreadPoolExecutor(min(len(work), os.cpu_count() or 1)) as pool:
        jobs = {pool.submit(explain, results, one.run, one.flows, progress=go_on): one for one in work}
        try:
            results.watch("Simulating slow flows again", 0.0, total)
            for job in as_completed(jobs):
                try:
                    found[jobs[job].run.id] = {one.flow: _shares(one) for one in job.result()}
                except (ResultsError, ScenarioError) as error:
                    problems.append(f"The causes of some flows are unknown: {error}.")
                done += jobs[job].cost
                results.watch("Simulating slow flows again", done, total)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return found, problems


def _shares(one: Explanation) -> list[list[Any]]:
    """Cause, link, share of the flow's time and a note, the largest first."""
    causes: list[list[Any]] = [
        [cause.name, cause.link, round(cause.share, 4), cause.note] for cause in one.causes[:_SHOWN]
    ]
    causes = [*causes[:1], *(cause for cause in causes[1:] if cause[2] >= _LEAST)]
    rest = sum(cause.share for cause in one.causes[len(causes) :])
    return causes + ([["others", None, round(rest, 4), ""]] if rest >= _LEAST else [])
