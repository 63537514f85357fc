"""The time, memory and disk space that a scenario will take, before it runs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _weft, quantity
from .labels import plural
from .scenario import Scenario

LONG = 60.0
"""Seconds from which an estimate is worth a line."""
LARGE = 1e9
"""Bytes of memory or disk from which it is."""
_OF_PYTHON = 60e6
"""Bytes of memory that the process takes besides its runs."""
_TRIAL = 1.0
"""Seconds of each trial."""
_LITTLE_WORK = 2e7
"""Packet-hops and samples up to which a sweep is short on any machine, so that no trial is needed."""
_USUAL_RATE = 2e6
"""Packet-hops and samples per second where there is no trial."""


@dataclass(frozen=True)
class Estimate:
    """The cost of runs; within a factor of two unless retransmissions or other programs take more.

    Attributes:
        runs: The number of runs.
        parallel: How many of them run at a time.
        seconds: Wall-clock time.
        is_measured: Whether trials on this machine gave the time, not a usual rate.
        memory_bytes: Memory of all parallel runs.
        disk_bytes: Size of the results.
    """

    runs: int
    parallel: int
    seconds: float
    is_measured: bool
    memory_bytes: float
    disk_bytes: float

    @property
    def is_notable(self) -> bool:
        """Whether it is over a minute, or over 1 GB of memory or disk."""
        return self.seconds > LONG or self.memory_bytes > LARGE or self.disk_bytes > LARGE

    def __str__(self) -> str:
        at_a_time = f", {self.parallel} at a time" if self.parallel > 1 else ""
        guess = "" if self.is_measured else " on a usual machine"
        memory, disk = quantity.rough_size(self.memory_bytes), quantity.rough_size(self.disk_bytes)
        runs = f"{plural(self.runs, 'run')}{at_a_time}"
        return f"about {_rough_time(self.seconds)}{guess}, {memory} of memory and {disk} on disk ({runs})"


def estimate(
    scenario: Scenario,
    *,
    seeds: Sequence[int] | None = None,
    jobs: int | None = None,
    done: int = 0,
    always_measured: bool = False,
) -> Estimate:
    """Estimate the cost of a scenario from its flows and, if it is long, from trials of three seconds in all.

    Args:
        scenario: The scenario.
        seeds: Seeds to use instead of the scenario's.
        jobs: Number of parallel runs; default one per core.
        done: Runs that have results already.
        always_measured: Make trials for a short scenario, too.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    sets = [*scenario.sets, *([f"run.seeds={list(seeds)}"] if seeds is not None else [])]
    least = 0.0 if always_measured else _LITTLE_WORK
    text, name, directory, _ = scenario.source
    found: dict[str, Any] = json.loads(_weft.estimate(text, name, directory, sets, least, _TRIAL))
    sizes = [one["size"] for one in found["sizes"]]
    trials = [one["trial"] for one in found["trials"]]
    runs = max(found["runs"] - done, 0)
    cores = os.cpu_count() or 1
    parallel = max(min(jobs or cores, runs), 1)
    hops, samples = (_mean([one[key] for one in sizes]) for key in ("packet_hops", "samples"))
    tried = sum(one["packet_hops"] for one in trials)
    # The trials write samples, too.
    per_hop = sum(one["seconds"] for one in trials) / tried if tried else 0.0
    seconds = hops * per_hop if tried else (hops + samples) / _USUAL_RATE
    seconds += _mean([one["setup_seconds"] for one in trials]) + _mean([one["plan_seconds"] for one in found["sizes"]])
    memory = max([one["memory_bytes"] for one in sizes + trials], default=0.0)
    return Estimate(
        runs=runs,
        parallel=parallel,
        seconds=seconds * max(runs / min(parallel, cores), min(runs, 1)),
        is_measured=bool(trials),
        memory_bytes=_OF_PYTHON + memory * parallel,
        disk_bytes=_mean([one["disk_bytes"] for one in sizes]) * runs,
    )


def free_disk(folder: Path) -> int:
    """Free bytes of the disk on which a directory is, or will be."""
    folder = folder.absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def available_memory() -> int | None:
    """Bytes of memory that programs can still take; None where Linux does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _rough_time(seconds: float) -> str:
    """A time with as many digits as an estimate has."""
    for unit, name, most in ((1.0, "s", 100), (60.0, "min", 90), (3600.0, "h", 48)):
        if seconds < most * unit:
            return f"{max(seconds / unit, 1):.2g} {name}" if name == "h" else f"{max(seconds / unit, 1):.0f} {name}"
    return f"{seconds / 86400:.2g} days"
