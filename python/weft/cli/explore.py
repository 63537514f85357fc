"""`weft explore`: an animated page of one exploration."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from .. import quantity
from ..errors import ScenarioError
from ..labels import plural, show
from ..scenario import Point, Scenario
from . import shell
from .live import shown
from .scenario_file import ScenarioFile, Sets, assigned, read

if TYPE_CHECKING:
    from ..exploring import Trace
    from ..progress import Tracker
    from ..timeline import Course

_SCENES = ("the exploration", "the recovery")
_TIME_LINE = str(len(_SCENES))
"""The number of the run for the time line."""


@shell.guarded
def explore(
    scenario: ScenarioFile,
    flow: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Number of the flow in flows.parquet (default: a suitable one)."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="HOST", help="Source of the flow; needs --to.")
    ] = None,
    target: Annotated[str | None, typer.Option("--to", metavar="HOST", help="Destination of the flow.")] = None,
    sport: Annotated[
        int | None, typer.Option(min=0, max=65535, metavar="P", help="TCP source port of the flow.")
    ] = None,
    dport: Annotated[
        int | None, typer.Option(min=0, max=65535, metavar="P", help="TCP destination port of the flow.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Page to write.")] = Path("explore.html"),
    sets: Sets = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="S", help="Seed (default: the first of the scenario).")
    ] = None,
    time_line: Annotated[
        bool | None,
        typer.Option(
            "--time-line/--no-time-line", help="Write only the flow's time line, or only the animation (default: both)."
        ),
    ] = None,
) -> None:
    """Write an animated page of how one flow finds its path under load, and how it recovers from a failed link.

    Simulates the first point of the sweep whose scheme explores (or the one selected by --set), with all its traffic,
    until data arrives on the path found; then again with a link of that path failing.

    A second page, linked from the first, shows the flow's time line: packets, congestion window, losses and the causes
    of its time. For a flow that does not explore, it is the only page.

    [bold]Examples[/bold]

      weft explore scenarios/exploration.toml --set scheme.name=tcp_path
      weft explore mine.toml --flow 12 -o flow12.html
      weft explore mine.toml --from h3 --to h45 --seed 2
      weft explore mine.toml --set scheme.name=ecmp --flow 12
    """
    from ..exploring import write
    from ..timeline import write as write_course

    ends = _ends(source, target, sport, dport)
    if ends is not None and flow is not None:
        raise shell.fail("--flow and --from both select a flow", "give one of them")
    shell.refuse_directory(out)
    beside = out.with_stem(f"{out.stem}-time-line")
    shell.refuse_directory(beside)
    with shown(scenario.stem, shell.err) as (tracker, feed):
        plan, points = chosen(read(scenario, "explore"), sets or [], seed)
        found = _found(plan, points, flow, ends, tracker, feed, time_line)
    trace, course = found.trace, found.course
    if trace is not None:
        write(trace, out, time_line=None if course is None else beside.name)
        _tell(trace.data)
        if found.note:
            shell.warn(f"there is no time line: {found.note}")
        shell.out.print(str(out), markup=False, soft_wrap=True)
    if course is not None:
        page = out if trace is None else beside
        note = f"No animation: {found.note}" if found.note else ""
        write_course([course], page, name=found.name, note=note, animation=None if trace is None else out.name)
        if trace is None:
            _tell_course(course, found.note)
        shell.out.print(str(page), markup=False, soft_wrap=True)


@dataclass(frozen=True)
class _Found:
    """What the pages show of a flow."""

    trace: Trace | None
    course: Course | None
    name: str
    """The name of the scenario."""
    note: str
    """Why there is no trace or no course, unless that was not asked for."""


def _found(
    scenario: Scenario,
    points: list[Point],
    flow: int | None,
    ends: tuple[str, str, int | None, int | None] | None,
    tracker: Tracker,
    feed: Any,
    time_line: bool | None,
) -> _Found:
    """The trace of the flow, its course, or both, as `time_line` asks.

    Raises `ScenarioError`, if there is neither.
    """
    from ..exploring import follow
    from ..timeline.simulated import simulated

    def forward(event: dict[str, Any]) -> None:
        feed({"event": "progress", "run_id": _TIME_LINE, "label": "the time line", **event})

    trace, note = None, ""
    tracker.total = 1 if time_line else len(_SCENES) + (time_line is None)
    if not time_line:
        try:
            trace = follow(scenario, points=points, flow=flow, ends=ends, progress=_Forward(feed))
        except ScenarioError as error:
            if time_line is False:
                raise
            note = f"{error}"
            tracker.total = 1
        else:
            if time_line is False:
                return _Found(trace, None, "", "")
            for run in list(tracker.active):
                feed({"event": "run_done", "run_id": run, "fraction": 1.0})
            tracker.total = tracker.finished + 1
            flow, ends = int(trace.flow["flow"]), None
    try:
        course, name = simulated(scenario, points, flow, ends, forward)
    except ScenarioError as error:
        if trace is None:
            raise
        return _Found(trace, None, "", f"{error}")
    return _Found(trace, course, name, note)


def chosen(scenario: Scenario, sets: list[str], seed: int | None) -> tuple[Scenario, list[Point]]:
    """The scenario, and its points that match `sets` and `seed`.

    A change to a swept key selects points if the sweep contains the value; other changes modify the scenario.
    """
    scenario = scenario if seed is None else scenario.set("run.seeds", [seed])
    points = scenario.points()
    changes = []
    for change in sets:
        key, value = assigned(change)
        swept = [point for point in points if key in point.overrides and show(point.overrides[key]) == show(value)]
        if swept:
            points = swept
        else:
            changes.append(change)
    if changes:
        kept = {json.dumps(point.overrides, sort_keys=True) for point in points}
        scenario = scenario.with_sets(changes)
        points = [point for point in scenario.points() if json.dumps(point.overrides, sort_keys=True) in kept]
        points = points or scenario.points()
    return scenario, [point for point in points if point.seed == points[0].seed]


def _ends(
    source: str | None, target: str | None, sport: int | None, dport: int | None
) -> tuple[str, str, int | None, int | None] | None:
    """Hosts and ports, or None if no hosts were given."""
    if source is None and target is None:
        if sport is not None or dport is not None:
            raise shell.fail("--sport and --dport require --from and --to", "add --from HOST --to HOST")
        return None
    if source is None or target is None:
        missing = "--from" if source is None else "--to"
        raise shell.fail(f"a flow has two endpoints: {missing} is missing", f"add {missing} HOST")
    return source, target, sport, dport


class _Forward:
    """Converts the engine's events of the two runs to those of a sweep with two runs."""

    def __init__(self, feed: Any) -> None:
        self.feed = feed
        self.scene = 0

    def __call__(self, event: dict[str, Any]) -> None:
        if event["scene"] > self.scene:
            self.feed({"event": "run_done", "run_id": "0", "fraction": 1.0})
        self.scene = event["scene"]
        label = _SCENES[self.scene]
        self.feed({"event": "progress", "run_id": str(self.scene), "label": label, **event})


def _tell(data: dict[str, Any]) -> None:
    nodes, flow = data["fabric"]["nodes"], data["flow"]
    between = f"{nodes[flow['from']]['name']} to {nodes[flow['to']]['name']}"
    label = f" ({data['label']})" if data["label"] and data["label"] != data["scheme"] else ""
    what = (
        f"{data['scheme']}{label}, seed {data['seed']}: flow {flow['flow']} of {plural(data['flows'], 'flow')}, "
        f"{between}, {quantity.size(flow['bytes'])}"
    )
    shell.say(escape(what))
    if data["no_recovery"]:
        shell.warn(f"the page shows no recovery: {data['no_recovery']}")


def _tell_course(course: Course, note: str) -> None:
    data = course.data
    what = (
        f"{course.label}, seed {course.seed}: flow {data['flow']}, {data['src']} to {data['dst']}, "
        f"{quantity.size(data['bytes'])}, time line"
    )
    shell.say(escape(what + (f" (no animation: {note})" if note else "")))
