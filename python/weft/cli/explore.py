"""`weft explore`: an animated page of one exploration."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from .. import quantity
from ..errors import OutputError
from ..labels import plural, show
from ..scenario import Point, Scenario
from . import shell
from .live import shown
from .run import ScenarioFile, Sets, read

_SCENES = ("the exploration", "the recovery")


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
) -> None:
    """Write an animated page of how one flow finds its path under load, and how it recovers from a failed link.

    Simulates the first point of the sweep whose scheme explores (or the one selected by --set), with all its traffic,
    until data arrives on the path found; then again with a link of that path failing.

    [bold]Examples[/bold]

      weft explore scenarios/exploration.toml --set scheme.name=tcp_path
      weft explore mine.toml --flow 12 -o flow12.html
      weft explore mine.toml --from h3 --to h45 --seed 2
    """
    from ..exploring import follow, write

    ends = _ends(source, target, sport, dport)
    if ends is not None and flow is not None:
        raise shell.fail("--flow and --from both select a flow", "give one of them")
    if out.is_dir():
        raise OutputError(f"{out} is a directory: give a file to write the page to")
    with shown(scenario.stem, shell.err) as (tracker, feed):
        tracker.total = len(_SCENES)
        plan, points = chosen(read(scenario), sets or [], seed)
        trace = follow(plan, points=points, flow=flow, ends=ends, progress=_Forward(feed))
    write(trace, out)
    _tell(trace.data, out)


def chosen(scenario: Scenario, sets: list[str], seed: int | None) -> tuple[Scenario, list[Point]]:
    """The scenario, and its points that match `sets` and `seed`.

    A change to a swept key selects points if the sweep contains the value; other changes modify the scenario.
    """
    scenario = scenario if seed is None else scenario.set("run.seeds", [seed])
    points = scenario.points()
    changes = []
    for change in sets:
        key, _, value = (part.strip() for part in change.partition("="))
        swept = [point for point in points if key in point.overrides and _is(point.overrides[key], value)]
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


def _is(value: Any, text: str) -> bool:
    """Whether `text`, the value of a ``--set``, equals `value`."""
    try:
        return bool(json.loads(text) == value)
    except ValueError:
        return text == show(value)


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


def _tell(data: dict[str, Any], out: Path) -> None:
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
    shell.out.print(str(out), markup=False, soft_wrap=True)
