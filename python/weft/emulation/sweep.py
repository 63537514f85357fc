"""Emulates all runs of a scenario into a result directory, skipping those already done.

One at a time, because emulation runs in real time and concurrent runs would compete for CPUs.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _weft
from ..errors import OutputError, ScenarioError, is_disk_full
from ..scenario import Point, Scenario, refuse_file
from . import requirements
from .errors import EmulationError
from .plan import Plan
from .run import Prepared, carry_out, prepare, prompt

KEPT = "emulation"
"""The directory for working files in the result directory, with `--keep`."""
_BUILDING = 0.1
"""Share of a run's progress bar for building the network."""


@dataclass
class Emulated:
    """The outcome of `emulate`: numbers of runs emulated now and done before, and failed ones.

    A failure has `run_id`, `label`, `error` and `hint`. By label: runs during which the machine's CPU was `saturated`,
    those with flows `unfinished` at the limit, and warnings of the load generator.
    """

    done: int = 0
    skipped: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    saturated: list[str] = field(default_factory=list)
    unfinished: list[tuple[str, int]] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)


def planned(scenario: Scenario, point: Point) -> Plan:
    """The plan of a point of a scenario."""
    return Plan.from_json(_weft.plan(*scenario.source, point.id))


def check(scenario: Scenario) -> list[str]:
    """Check that every run can be emulated here; returns distinct warnings.

    Raises `EmulationError` if one cannot, or this machine cannot emulate at all; `ScenarioError` if the scenario is not
    valid.
    """
    points, warnings = scenario.check()
    requirements.check()
    for point in points:
        try:
            warnings += prepare(planned(scenario, point)).warnings
        except EmulationError as error:
            where = f" ({point.label})" if len(points) > 1 and point.label else ""
            raise EmulationError(f"{error}{where}", error.hint) from None
    return list(dict.fromkeys(warnings))


def emulate(
    scenario: Scenario, out: Path, on_event: Callable[[dict[str, Any]], None], *, keep: bool = False
) -> Emulated:
    """Emulate all runs of a scenario, validated by `check`, that `out` does not contain yet; finished runs are kept.

    `on_event` gets events in the format of `weft.progress`. `keep` leaves working files (plan, workload, records,
    logs) in `out`. Raises `OutputError` if `out` contains something else, or cannot be written.
    """
    refuse_file(out)
    points, outcome = scenario.points(), Emulated()
    there = _there(scenario, out)
    on_event({"event": "sweep", "total": len(points)})
    with workshop(out) as directory:
        for point in points:
            if point.id in there:
                outcome.skipped += 1
                on_event({"event": "run_skipped"})
                continue
            prepared = prepare(planned(scenario, point))
            try:
                carry_out(prepared, directory, _follower(point, prepared, outcome, on_event))
                _write(scenario, point, out, directory, outcome)
            except EmulationError as error:
                why = {"error": str(error), "hint": error.hint, "disk_full": is_disk_full(error)}
                failure = {"run_id": point.id, "label": point.label, **why}
                outcome.failed.append(failure)
                on_event({"event": "run_failed", **failure})
            else:
                outcome.done += 1
                on_event({"event": "run_done", "run_id": point.id, "label": point.label, "fraction": 1.0})
            finally:
                if keep:
                    shutil.copytree(directory, out / KEPT / point.id, dirs_exist_ok=True)
                clear(directory)
    return outcome


def open_prompt(scenario: Scenario) -> None:
    """Build the network of the first run and open Mininet's prompt in it; no flows are sent and nothing is written.

    Raises `EmulationError` if it could not be built.
    """
    prepared = prepare(planned(scenario, scenario.points()[0]))
    with tempfile.TemporaryDirectory(prefix="weft-") as work:
        prompt(prepared, Path(work))


def _there(scenario: Scenario, out: Path) -> set[str]:
    """The runs with results in `out`, which is created if missing."""
    try:
        there = _weft.open_emulated(*scenario.source, str(out))
    except (OSError, ScenarioError) as error:
        scenario.check()
        if isinstance(error, ScenarioError):
            raise
        raise OutputError(str(error)) from error
    return set(json.loads(there))


@contextmanager
def workshop(out: Path) -> Iterator[Path]:
    """A working directory in `out` for the block, locked against other emulations.

    Raises `OutputError` if another emulation holds the lock, or the directory cannot be created.
    """
    path = out / ".emulation"
    try:
        path.mkdir(exist_ok=True)
        # Not through a symbolic link: its contents are deleted.
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise OutputError(f"cannot create {path}: {error.strerror}") from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        raise OutputError(
            f"another weft emulate is writing to {out}: wait for it, or choose another directory with -o"
        ) from None
    try:
        # Left over from a killed emulation.
        clear(path)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(held)


def clear(path: Path) -> None:
    """Empty a directory of files."""
    for entry in path.iterdir():
        entry.unlink()


def _write(scenario: Scenario, point: Point, out: Path, directory: Path, outcome: Emulated) -> None:
    try:
        _weft.write_emulated(
            *scenario.source,
            point.id,
            str(out),
            str(directory / "records.jsonl"),
            str(directory / "observed.json"),
        )
    except OSError as error:
        raise OutputError(str(error)) from error
    observed = json.loads((directory / "observed.json").read_text(encoding="utf-8"))
    if observed["processors"]["saturated"]:
        outcome.saturated.append(point.label)
    lines = (json.loads(line) for line in (directory / "records.jsonl").read_text(encoding="utf-8").splitlines())
    unfinished = sum(line["end_ps"] is None for line in lines if "flow" in line)
    if unfinished:
        outcome.unfinished.append((point.label, unfinished))


def _follower(
    point: Point, prepared: Prepared, outcome: Emulated, on_event: Callable[[dict[str, Any]], None]
) -> Callable[[dict[str, Any]], None]:
    duration, flows = prepared.plan.duration_ps / 1e12, len(prepared.plan.flows)

    def follow(event: dict[str, Any]) -> None:
        label = point.label or point.id
        if event.get("event") == "stage":
            share = float(event["fraction"]) * _BUILDING
            on_event(
                {"event": "progress", "run_id": point.id, "label": f"{label} ({event['stage']})", "fraction": share}
            )
        elif event.get("event") == "warning":
            outcome.remarks.append((label, event["text"]))
        elif event.get("event") == "progress":
            ended = event["flows_done"] / flows if flows else 1.0
            share = (min(event["time_s"] / duration, 1.0) + ended) / 2
            on_event(
                {
                    "event": "progress",
                    "run_id": point.id,
                    "label": label,
                    "fraction": _BUILDING + (1 - _BUILDING) * share,
                    "flows_done": event["flows_done"],
                    "flows_total": event["flows_total"],
                    "sim_time_s": event["time_s"],
                }
            )

    return follow
