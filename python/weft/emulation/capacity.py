"""Whether this machine is fast enough for a scenario: estimated before the run and measured during it.

Emulation runs in real time: on a machine that is too slow, hosts and switches wait for CPU time and results reflect the
machine. So the load is estimated from the flows, a scenario far beyond the machine's capacity is refused, and the CPU
usage of the run is part of the result.
"""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..quantity import percent, rate
from .errors import EmulationError
from .plan import Plan
from .shaping import path_cables

FRAME_HOPS_PER_CORE = 48_000
"""Frames x links that a CPU core forwards per second: measured, see docs/emulate.md."""
_SEGMENT = 1448
_ACKNOWLEDGED = 0.5
"""ACKs per data segment."""
_SWITCH_BYTES, _HOST_BYTES = 24_000_000, 3_000_000
"""Approximate memory of a switch with its tables, and of a host."""
_WARN, _REFUSE = 0.5, 1.5
"""Shares of the machine's capacity above which a run gets a warning or is refused."""
_FIRST = -20
"""The highest priority (nice(2))."""
BUSY = 0.9
"""Share of CPU time in use or stolen from which a sample counts as saturated."""
_SATURATED = 0.05
"""Share of saturated samples from which a run counts as saturated."""


@dataclass(frozen=True)
class Estimate:
    """The estimated load of a run in its busiest interval: frames x links per second, and offered load of the flows.

    `share` is that of the machine's estimated capacity.
    """

    frame_hops: float
    goodput_bps: float
    share: float


def estimate(plan: Plan, cores: int | None = None) -> Estimate:
    """The load of a run in its busiest tenth: the offered load, limited by the senders' and receivers' links."""
    hops = path_cables(plan)
    span = max(plan.duration_ps / 1e12, 1e-3)
    width = span / 10
    bins: dict[int, float] = {}
    for flow in plan.flows:
        number = int(flow["start_ps"] / 1e12 / width)
        bins[number] = bins.get(number, 0.0) + flow["bytes"]

    def links(side: str) -> float:
        hosts = {flow[side] for flow in plan.flows}
        return float(sum(end.rate_bps for cable in plan.cables for end in cable.ends if end.node in hosts))

    asked = min(max(bins.values(), default=0.0) * 8 / width, links("src"), links("dst"))
    work = asked / 8 / _SEGMENT * (1 + _ACKNOWLEDGED) * hops
    return Estimate(work, asked, work / (FRAME_HOPS_PER_CORE * (cores or os.cpu_count() or 1)))


def judge(plan: Plan) -> list[str]:
    """Warnings about a run that may be too much for this machine.

    Raises `EmulationError` if it is far too much, or memory is insufficient.
    """
    asked = estimate(plan)
    room = _available_memory()
    wanted = len(plan.switches) * _SWITCH_BYTES + len(plan.hosts) * _HOST_BYTES
    if room is not None and wanted > room:
        raise EmulationError(
            f"{len(plan.hosts)} hosts and {len(plan.switches)} switches need about {wanted / 1e6:,.0f} MB; this machine"
            f" has {room / 1e6:,.0f} MB free"
        )
    if asked.share <= _WARN:
        return []
    text = (
        f"the flows offer up to {rate(asked.goodput_bps)}, {asked.frame_hops:,.0f} frame-hops per second:"
        f" {percent(asked.share)} of the estimated capacity of this machine's {os.cpu_count()} cores"
    )
    if asked.share > _REFUSE:
        raise EmulationError(
            text,
            "slower links (`--set 'fabric.rate=\"10 Mbps\"'`), a smaller fabric or a lower load; or `weft run`",
        )
    return [text]


def _available_memory() -> int | None:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def go_first() -> None:
    """Raise the priority of this process and its children above all others on the machine.

    With autogroups (`sched_autogroup_enabled`, sched(7)), the priority of the session counts; priorities of processes
    then matter only within the session.
    """
    os.setpriority(os.PRIO_PROCESS, 0, _FIRST)
    # Not in every kernel, and not writable in every sandbox; without it, the study only takes longer.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_FIRST), encoding="ascii")


class Processors:
    """Samples of the machine's CPU usage."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, float]] = []
        self._waited: list[float] = []
        self.begin()

    def begin(self) -> None:
        """Ignore the usage since the last sample."""
        self._last, self._asked = _times(), (_waiting_s(), time.monotonic())

    def sample(self) -> None:
        """Record the usage since the last sample."""
        now = _times()
        total = sum(now) - sum(self._last)
        if total > 0:
            idle = now[3] + now[4] - self._last[3] - self._last[4]
            self._samples.append((1 - idle / total, (now[7] - self._last[7]) / total))
            (before_s, begun), asked = self._asked, (_waiting_s(), time.monotonic())
            if before_s is not None and asked[0] is not None:
                self._waited.append((asked[0] - before_s) / (asked[1] - begun))
            self._last, self._asked = now, asked

    @property
    def last(self) -> dict[str, float]:
        """The last sample: shares of time in use and stolen."""
        busy, stolen = self._samples[-1] if self._samples else (0.0, 0.0)
        return {"busy": busy, "stolen": stolen}

    def report(self) -> dict[str, Any]:
        """Shares of CPU time in use (mean, maximum) and stolen by the hypervisor, and whether the run was saturated.

        Also, if the kernel measures it (CONFIG_PSI), the share of time in which some task waited for a CPU.
        """
        busy = [sample[0] for sample in self._samples] or [0.0]
        stolen = [sample[1] for sample in self._samples] or [0.0]
        full = sum(share >= BUSY for share in busy) / len(busy)
        return {
            "cores": os.cpu_count(),
            "mean_busy": sum(busy) / len(busy),
            "max_busy": max(busy),
            "mean_stolen": sum(stolen) / len(stolen),
            "mean_pressure": sum(self._waited) / len(self._waited) if self._waited else None,
            "samples": len(self._samples),
            "saturated_share": full,
            "saturated": full >= _SATURATED,
        }


def _waiting_s() -> float | None:
    """Seconds since boot in which some task waited for a CPU; None if the kernel does not measure this."""
    with contextlib.suppress(OSError):
        words = Path("/proc/pressure/cpu").read_text(encoding="ascii").split()
        return int(words[4].removeprefix("total=")) / 1e6
    return None


def own_seconds() -> float:
    """CPU time of the processes in this PID namespace, without those that have ended."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _times() -> list[int]:
    """The first eight counters of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal (proc(5))."""
    line = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    return [int(word) for word in line.split()[1:9]]
