"""The process in the jail: `python -m weft.emulation.inside DIRECTORY` carries out the plan in that directory.

It reads `plan.json` and `options.json`, reports progress on standard output (one JSON object per line) and writes
`records.jsonl` and `observed.json`, or `failed.json`. It is PID 1 there: all its children end with it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from .. import files
from . import jail, neighbours, stack, tags
from .capacity import Processors
from .errors import EmulationError
from .events import Faults
from .network import Network
from .plan import Event, Plan, Reroute, seconds
from .requirements import program
from .sampling import Links
from .traces import Traces, flows

_AHEAD_S = 1.0
"""Seconds between starting the load generator and time 0 of the run."""
_OVERTIME_S = 15.0
"""Seconds after the run's limit for the load generator to end."""
_SHORTEST_SAMPLE_S = 0.1
"""Minimum sampling interval: a sample uses processes and CPU time that the run needs."""


class Stopped(Exception):  # noqa: N818 (it is no error)
    """The jail was asked to stop."""


def say(event: str, **values: Any) -> None:
    """Report an event to the process outside; at a terminal, only the current stage."""
    if not sys.stdout.isatty():
        print(json.dumps({"event": event, **values}), flush=True)
    elif values.get("fraction") == 0.0:
        print(f"{values['stage']} ...", flush=True)


def main(directory: Path, run: Callable[[Path, dict[str, Any]], None]) -> int:
    """Let `run` carry out the plan in `directory`, with its options; returns the exit code."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Stopped

    signal.signal(signal.SIGTERM, stop)
    # Inherited: the process outside ignores Ctrl-C while the prompt is open.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = json.loads((directory / "options.json").read_text(encoding="utf-8"))
    try:
        jail.furnish()
        # About four descriptors per node.
        files.allow_many()
        run(directory, options)
    except (Stopped, KeyboardInterrupt):
        return 130
    except EmulationError as error:
        failure = json.dumps({"error": str(error), "hint": error.hint})
        (directory / "failed.json").write_text(failure, encoding="utf-8")
        return 1
    return 0


def run(directory: Path, options: dict[str, Any]) -> None:
    """Build, warm up, then replay the flows or open the prompt."""
    plan = Plan.from_file(directory / "plan.json")
    chosen = stack.Stack(**options["stack"])
    say("stage", stage="building", fraction=0.0)
    network = Network(plan, chosen, options["delays"])
    network.configure(lambda share: say("stage", stage="configuring", fraction=share))
    say("stage", stage="waiting for switches", fraction=0.0)
    faults = Faults(network)
    faults.begin()
    network.start()
    control = None
    if plan.tags:
        say("stage", stage="provisioning switches", fraction=0.0)
        control = tags.ControlPlane(network)
        control.start()
    if options["prompt"]:
        from mininet.cli import CLI
        from mininet.log import setLogLevel

        setLogLevel("output")
        CLI(network.net)
        return
    replay = Replay(plan, network, faults, directory)
    replay.carry_out()
    observed = replay.observed()
    if control is not None:
        observed["control"] = control.end()
    observed["stack"] = {"congestion": chosen.congestion, "route": network.route, "settings": network.settings}
    observed["shaping"] = "read back" if not options["delays"] else "read back, with delays"
    observed["versions"] = stack.versions()
    (directory / "observed.json").write_text(json.dumps(observed), encoding="utf-8")
    _keep_logs(network, directory)
    say("done")


class Replay:
    """Replays a plan's flows on a network that is ready, with its events and measurements."""

    def __init__(self, plan: Plan, network: Network, faults: Faults, directory: Path) -> None:
        """Takes one run; files go to `directory`."""
        self._plan, self._network, self._directory = plan, network, directory
        self._links = Links(plan, network.namespaces)
        self._faults = faults
        self._processors = Processors()
        self._series: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._errors: list[EmulationError] = []
        self._begin_s, self._end_ps = 0.0, 0
        self._over = threading.Event()
        self._flows_done = 0
        self._traces: Traces | None = None
        self._flows: list[dict[str, Any]] = []
        self._lost = 0
        self._load: dict[str, Any] = {}
        self._said = "no output"

    def carry_out(self) -> None:
        """Replay the flows until all have ended or the limit has passed.

        Raises `EmulationError` if the load generator or an event failed.
        """
        plan = self._plan
        neighbour_tables = self._network.neighbour_tables
        if plan.warm and neighbour_tables is not None:
            say("stage", stage="resolving addresses", fraction=0.0)
            addresses = {host.name: host.address for host in plan.hosts}
            neighbours.acquaint(plan.flows, self._network.namespaces, addresses, neighbour_tables)
        self._traces = Traces(self._network) if plan.explores else None
        self._links.begin()
        begin = time.time_ns() + int(_AHEAD_S * 1e9)
        self._begin_s = time.monotonic() + (begin - time.time_ns()) / 1e9
        workload = {
            "hosts": [
                {"name": host.name, "address": host.address, "netns": self._network.namespaces[host.name]}
                for host in plan.hosts
            ],
            "flows": plan.flows,
            "congestion": self._network.stack.congestion,
            "start_at_ns": begin,
            "limit_ps": plan.limit_ps,
            "sample_ps": plan.interval_ps,
        }
        (self._directory / "workload.json").write_text(json.dumps(workload), encoding="utf-8")
        command = [str(program("weft-loadgen")), str(self._directory / "workload.json")]
        command += ["--records", str(self._directory / "records.jsonl"), "--progress", "json"]
        generator = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        threads = [
            threading.Thread(target=self._guarded, args=(work,), daemon=True)
            for work in (self._carry_out_events, self._remember, self._sample, self._measure)
        ]
        threads.append(threading.Thread(target=self._follow, args=(generator,), daemon=True))
        for thread in threads:
            thread.start()
        try:
            generator.wait(_AHEAD_S + plan.limit_ps / 1e12 + _OVERTIME_S)
        except subprocess.TimeoutExpired as late:
            generator.kill()
            raise EmulationError(f"weft-loadgen did not end {_OVERTIME_S:g} s after the run's limit") from late
        finally:
            self._end_ps = self._now_ps()
            self._over.set()
        for thread in threads:
            thread.join(_OVERTIME_S)
        if self._traces is not None:
            events, self._lost = self._traces.end()
            self._flows = flows(plan, events)
        if generator.returncode != 0:
            raise EmulationError(f"weft-loadgen exited with code {generator.returncode}: {self._said}")
        if self._errors:
            raise self._errors[0]

    def observed(self) -> dict[str, Any]:
        """The measurements of links, switches and CPUs."""
        switches = {name: self._network.ask(name, "counters") for name in self._network.switches}
        return {
            "end_ps": self._end_ps,
            "window_ps": self._links.window_ps(),
            "links": self._links.totals(),
            "series": self._series,
            "switches": switches,
            "events": self._events,
            "processors": self._processors.report(),
            "load": self._load,
            "flows": self._flows,
            "events_lost": self._lost,
        }

    def _guarded(self, work: Callable[[], None]) -> None:
        """Run `work`, keeping errors for `carry_out` to raise."""
        try:
            work()
        except EmulationError as error:
            self._errors.append(error)
        except (OSError, subprocess.CalledProcessError) as error:
            self._errors.append(EmulationError(str(error)))

    def _until(self, at_s: float) -> bool:
        """Wait until `at_s` seconds into the run; returns whether the run is still active."""
        return not self._over.wait(max(self._begin_s + at_s - time.monotonic(), 0.0))

    def _carry_out_events(self) -> None:
        # Of one time, links change first.
        steps: list[Event | Reroute] = [*self._plan.events, *self._plan.reroutes]
        steps.sort(key=lambda step: step.at_ps)
        for step in steps:
            if not self._until(step.at_ps / 1e12):
                return
            if isinstance(step, Reroute):
                self._faults.reroute(step)
            else:
                self._events.append(self._faults.happen(step, self._begin_s))

    def _remember(self) -> None:
        neighbour_tables = self._network.neighbour_tables
        if neighbour_tables is None or self._plan.warm:
            return
        remembered = self._plan.params["arp_cache"]
        for change in neighbours.changes(self._plan.flows, seconds(remembered)):
            if not self._until(change.at_s):
                return
            neighbour_tables.change(change)

    def _sample(self) -> None:
        interval = max(self._plan.interval_ps / 1e12, _SHORTEST_SAMPLE_S)
        number, last_ps = 0, 0
        while self._until((number + 1) * interval):
            now_ps = self._now_ps()
            self._series += self._links.sample(now_ps, last_ps)
            self._series += self._tables(now_ps)
            self._processors.sample()
            last_ps = now_ps
            # After a late sample, skip those that would follow too soon.
            number = max(number + 1, int(now_ps / 1e12 / interval))
            say(
                "progress",
                flows_done=self._flows_done,
                flows_total=len(self._plan.flows),
                time_s=now_ps / 1e12,
                **self._processors.last,
            )

    def _measure(self) -> None:
        """Read the links' counters at the two ends of the measurement window."""
        for end_ps in self._plan.window_ps:
            if not self._until(end_ps / 1e12):
                return
            self._links.mark(self._now_ps)

    def _now_ps(self) -> int:
        return round((time.monotonic() - self._begin_s) * 1e12)

    def _tables(self, now_ps: int) -> list[dict[str, Any]]:
        """Rows of `series` with the sizes of the switches' tables."""
        if not self._plan.explores:
            return []
        rows = []
        for name in self._network.switches:
            for metric, table in (("station_entries", "hosts"), ("flow_entries", "paths")):
                total = self._network.ask(name, f"{table}?limit=0")["total"]
                if total:
                    rows.append({"time_ps": now_ps, "metric": metric, "entity": name, "value": float(total)})
        return rows

    def _follow(self, generator: subprocess.Popen[bytes]) -> None:
        """Read the load generator's output: progress, lateness of flows, warnings and errors."""
        assert generator.stderr is not None
        for line in generator.stderr:
            try:
                said = json.loads(line)
            except ValueError:
                self._said = line.decode(errors="replace").strip()
                continue
            if said.get("event") in ("progress", "done"):
                self._flows_done = int(said["finished"]) + int(said["failed"])
            if said.get("event") == "done":
                self._load = {key: said[key] for key in ("congestion", "lateness", "strangers") if key in said}
            if said.get("event") == "warning":
                say("warning", text=str(said["message"]))


def _keep_logs(network: Network, directory: Path) -> None:
    for name, switch in network.switches.items():
        (directory / f"{name}.log").write_bytes(switch.log_path.read_bytes())


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os._exit(main(Path(sys.argv[1]), run))
