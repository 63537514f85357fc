"""`weft why`: the causes of a flow's completion time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .. import quantity
from ..errors import ResultsError
from ..labels import plural, visible
from . import shell
from .columns import in_parts
from .live import announced
from .scenario_file import assigned
from .show import ResultDir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..explanation import Explanation
    from ..one_run import Run
    from ..results import Results

_ROWS = 12
"""Number of causes shown; the rest is one row."""
_LEAST_S, _LEAST_SHARE = 1e-9, 1e-4
"""Seconds and share of a flow's time from which a cause has a row; less is a leftover of rounding."""


@shell.guarded
def why(
    directory: ResultDir,
    flow: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Number of the flow in flows.parquet (default: the one with the largest slowdown)."
        ),
    ] = None,
    critical_path: Annotated[
        bool,
        typer.Option("--critical-path", help="Explain a round of a collective, or a trace, instead of a flow."),
    ] = False,
    job: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="With --critical-path: its place in `collectives` of summary.json (default: the longest).",
        ),
    ] = None,
    scheme: Annotated[str | None, typer.Option(metavar="SCHEME", help="Only the run of this scheme.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="S", help="Seed of the run (default: the first, or the slowest flow's)."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A swept key's value of the run; may be repeated."),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The scenario file, if it names other files such as a fabric."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write a page with the flow's time line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the parts of the time as JSON, in order.")] = False,
) -> None:
    """Explain a flow's completion time: queues, losses, timeouts, its host, and the links to blame.

    Simulates the run again and follows the chain of packets that led to the flow's last byte. The parts add up to the
    completion time. The flow is explained under every scheme, side by side.

    With --critical-path, divides the time of a round of a collective, or of a trace, into computations, messages alone
    on the fabric, and their queueing, with the links to blame.

    [bold]Examples[/bold]

      weft why results/quickstart
      weft why results/quickstart --flow 12
      weft why results/mine --flow 12 --scheme ecmp --seed 3 --set traffic.load=0.6
      weft why results/mine --flow 12 -o flow12.html
      weft why results/mine --flow 12 --json | jq '.[0].sums'
      weft why results/all-reduce --critical-path
    """
    from ..explanation import explain
    from ..results import Results
    from ..selection import matching

    if out is not None:
        shell.refuse_directory(out)
    _check(critical_path=critical_path, job=job, flow=flow, out=out)
    results = Results(directory)
    runs = matching(results, scheme, seed, dict(map(assigned, sets or [])))
    first = runs[0]
    if critical_path:
        from . import critical_path as of_job

        alike = [run for run in runs if (run.point, run.seed) == (first.point, first.seed)]
        of_job.show(results, alike, job, scenario, as_json=as_json)
        return
    if flow is None:
        first, flow = _slowest(results, runs)
    runs = [run for run in runs if (run.point, run.seed) == (first.point, first.seed)]
    runs, others = _with_same_flow(results, runs, first, flow)
    found = []
    for run in runs:
        with announced(f"Simulating {run.label}, seed {run.seed}, again ..."):
            found += explain(results, run, [flow], scenario=scenario, packets=out is not None)
    if others:
        schemes = ", ".join(escape(visible(run.scheme)) for run in others)
        shell.say(f"Left out, as flow {flow} is another one there, or there is none: {schemes}")
    if out is not None:
        from ..timeline import Course, write

        write([Course(one.run.scheme, one.run.seed, one.data) for one in found], out, name=results.name)
        shell.say(f"{escape(str(out))} ({quantity.size(out.stat().st_size)}): open it in a browser.")
    if as_json:
        shell.print_json([{"run": one.run.id, "scheme": one.run.scheme, **_parts(one)} for one in found], indent=2)
        return
    _print(found)


def _check(*, critical_path: bool, job: int | None, flow: int | None, out: Path | None) -> None:
    """Refuse options that do not go together."""
    if critical_path and (flow is not None or out is not None):
        raise shell.fail("--critical-path explains a round or a trace, not a flow", "leave out --flow and --out")
    if job is not None and not critical_path:
        raise shell.fail("--job names a round or a trace", "add --critical-path")


def _parts(one: Explanation) -> dict[str, Any]:
    """What is printed of an explanation: all but its packets and windows, which may be millions."""
    return {key: value for key, value in one.data.items() if key not in ("packets", "windows")}


def _slowest(results: Results, runs: Sequence[Run]) -> tuple[Run, int]:
    """The flow with the largest slowdown in the measurement window of these runs, else the longest."""
    import polars as pl

    flows = results.only([run.id for run in runs]).scan_flows().filter(pl.col("fct_s").is_not_null())
    order, descending = ["slowdown", "fct_s", "run", "flow"], [True, True, False, False]
    found = flows.sort(order, descending=descending, nulls_last=True).select("run", "flow").head(1).collect()
    if found.is_empty():
        raise ResultsError("no flow of the measurement window has finished", "name one: --flow N")
    run, flow = found.row(0)
    return next(one for one in runs if one.id == str(run)), int(flow)


def _with_same_flow(results: Results, runs: Sequence[Run], first: Run, flow: int) -> tuple[list[Run], list[Run]]:
    """The runs that have this flow as `first`, or the first run with it, does; and the others.

    The flows of a ring depend on the protocol, for example.
    """
    import polars as pl

    flows = results.only([run.id for run in runs]).scan_flows(measured=False).filter(pl.col("flow") == flow)
    rows = flows.select(pl.col("run", "src", "dst").cast(pl.String), "bytes").collect().iter_rows()
    of = {ident: ends for ident, *ends in rows}
    wanted = next((of[run.id] for run in [first, *runs] if run.id in of), None)
    same = [run for run in runs if of.get(run.id) == wanted]
    return same, [run for run in runs if run not in same]


def _print(found: Sequence[Explanation]) -> None:
    first = found[0]
    data = first.data
    where = f", {first.run.point}" if first.run.point else ""
    shell.out.print(
        Text(
            f"Flow {first.flow} from {visible(data['src'])} to {visible(data['dst'])}, {quantity.size(data['bytes'])}, "
            f"{data['class']}: seed {first.run.seed}{visible(where)}"
        )
    )
    shell.out.print()
    for table in in_parts(shell.out, found, _table):
        shell.out.print(table)
        shell.out.print()
    for one in found:
        lead = f"{visible(one.run.scheme)}: " if len(found) > 1 else ""
        shell.out.print(Text(lead + one.sentence()), soft_wrap=True)


def _table(shown: Sequence[Explanation]) -> Table:
    """The times of some explanations, those with the largest shares first."""
    most: dict[tuple[str, str], float] = {}
    for one in shown:
        for cause in one.causes:
            if _tells(cause.seconds, cause.share):
                key = (cause.text, cause.place)
                most[key] = max(most.get(key, 0.0), cause.share)
    keys = sorted(most, key=lambda key: (-most[key], key))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("Cause", no_wrap=True)
    table.add_column("Link", no_wrap=True)
    for one in shown:
        table.add_column(visible(one.run.scheme), justify="right", no_wrap=True)
    rows = [(name, visible(link), [(name, link)]) for name, link in keys[:_ROWS]]
    if keys[_ROWS:]:
        rows.append((plural(len(keys) - _ROWS, "other"), "", keys[_ROWS:]))
    for name, link, of in rows:
        cells = [_cell(one, of) for one in shown]
        if any(cells):
            table.add_row(name, link, *cells)
    table.add_row("all", "", *(_total(one) for one in shown), style="bold")
    return table


def _cell(one: Explanation, keys: Sequence[tuple[str, str]]) -> str:
    seconds = sum(cause.seconds for cause in one.causes if (cause.text, cause.place) in keys)
    share = seconds / one.seconds if one.seconds else 0.0
    if not _tells(seconds, share):
        return ""
    text = f"{share * 100:.1f}" if share >= 0.001 else "<0.1"
    return f"{quantity.seconds(seconds)} {text:>5} %"


def _tells(seconds: float, share: float) -> bool:
    """Whether a time is more than a leftover of rounding."""
    return seconds >= _LEAST_S and share >= _LEAST_SHARE


def _total(one: Explanation) -> str:
    if not one.is_finished:
        return f"{quantity.seconds(one.seconds)}, unfinished"
    slowdown = "" if one.slowdown is None else f", slowdown {quantity.digits(one.slowdown)}"
    return f"{quantity.seconds(one.seconds)}{slowdown}"
