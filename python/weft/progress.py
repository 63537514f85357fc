"""Progress, speed and remaining time of a sweep, accumulated from the engine's events.

`Tracker` is pure (times are arguments); `weft.cli.live` draws it.
"""

from dataclasses import dataclass, field
from typing import Any

_TOO_LITTLE, _TOO_SOON = 0.1, 3.0
"""Work (in runs) and time (in seconds) below which the pace is still that of the start."""


@dataclass
class Active:
    """A run in progress."""

    label: str
    fraction: float = 0.0
    hops: float = 0.0
    flows_done: int = 0
    flows_total: int = 0


@dataclass
class Tracker:
    """The state of a sweep that `started` at a time of the caller's clock, fed with events; `skipped` runs were there.

    `one_thread` says why runs have one thread although more were asked for; `workers` is None without a cluster.
    """

    started: float
    total: int = 0
    finished: int = 0
    skipped: int = 0
    failed: int = 0
    active: dict[str, Active] = field(default_factory=dict)
    one_thread: str | None = None
    workers: int | None = None
    _hops_finished: float = 0.0

    def feed(self, event: dict[str, Any]) -> None:
        """Process one event of the engine; unknown events and missing fields are ignored."""
        kind, run = event.get("event"), str(event.get("run_id", ""))
        self.total = max(self.total, int(event.get("total") or 0))
        if kind == "progress":
            self._update(run, event)
        elif kind == "run_done":
            self._update(run, event)
            self._hops_finished += self.active.pop(run).hops
            self.finished += 1
        elif kind == "run_skipped":
            self.skipped += 1
        elif kind == "run_failed":
            self.active.pop(run, None)
            self.failed += 1
        elif kind == "one_thread":
            self.one_thread = str(event["why"])
        elif kind == "workers":
            self.workers = int(event["number"])

    def _update(self, run: str, event: dict[str, Any]) -> None:
        state = self.active.setdefault(run, Active(str(event.get("label", run))))
        state.fraction = min(max(float(event.get("fraction") or 0.0), 0.0), 1.0)
        state.hops = max(state.hops, float(event.get("packet_hops") or 0.0))
        state.flows_done = int(event.get("flows_done") or 0)
        state.flows_total = int(event.get("flows_total") or 0)

    @property
    def over(self) -> int:
        """Runs that are finished, skipped or failed."""
        return self.finished + self.skipped + self.failed

    @property
    def work_done(self) -> float:
        """Work done since the start in units of runs, including partial runs."""
        return self.finished + self.failed + sum(run.fraction for run in self.active.values())

    @property
    def fraction(self) -> float:
        """Share of the sweep that is done, including earlier runs."""
        return min((self.skipped + self.work_done) / self.total, 1.0) if self.total else 0.0

    def hops_per_second(self, now: float) -> float | None:
        """Packet-hops simulated per second of wall-clock time since the start."""
        elapsed = now - self.started
        hops = self._hops_finished + sum(run.hops for run in self.active.values())
        return hops / elapsed if elapsed > 0 and hops > 0 else None

    def runs_per_hour(self, now: float) -> float | None:
        """Runs per hour at the pace since the start."""
        elapsed = now - self.started
        return self.work_done / elapsed * 3600 if elapsed > 0 and self.work_done > 0 else None

    def seconds_left(self, now: float) -> float | None:
        """Estimated remaining seconds at the current pace; None until 3 s have passed or a tenth of a run is done."""
        pace = self.runs_per_hour(now)
        is_early = self.work_done < _TOO_LITTLE and now - self.started < _TOO_SOON
        if not pace or not self.total or is_early:
            return None
        left = self.total - self.skipped - self.work_done
        return max(left, 0.0) / (pace / 3600)
