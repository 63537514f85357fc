"""`weft reproduce`: run a study and check its claims, most of them a paper's, against the results."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from ..cluster.errors import ClusterError
from ..codes import INTERRUPTED
from ..labels import plural
from ..studies.outcome import Size, StudyRow, Verdict, as_dict
from . import shell
from .dask import Dask, connected
from .live import shown
from .run import Jobs, Threads, completed

_STYLES = {Verdict.held: "green", Verdict.did_not_hold: "red", Verdict.not_measured: "yellow"}


@shell.stoppable
@shell.guarded
def reproduce(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study, see `weft list studies`.")],
    size: Annotated[Size, typer.Option(help="Number of seeds and points, and duration of runs.")] = Size.quick,
    emulated: Annotated[
        bool, typer.Option("--emulated", help="Also run on emulated hosts and switches (needs root).")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Result directory (default: results/STUDY-SIZE).")
    ] = None,
    jobs: Jobs = None,
    threads: Threads = None,
    dask: Dask = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only the rows, as JSON.")] = False,
) -> None:
    """Run a study and print, for each of its claims, the measurement and whether the claim held.

    Most studies reproduce a paper; ai-cluster and collectives have questions of their own. Simulated: quick takes a few
    minutes, standard under an hour; paper has the most repetitions: those of the paper, if there is one. Emulated
    runs execute in real time, one at a time: smoc quick 11 minutes, standard 36. tag-and-forward is always emulated:
    quick 3 minutes, standard 15.

    [bold]Examples[/bold]

      weft reproduce packet-spraying
      weft reproduce packet-spraying --size standard -o results/spraying
      weft reproduce packet-spraying --json > rows.json
      sudo weft reproduce tcp-path --emulated
      weft reproduce load-balancing --size standard --dask tcp://10.0.0.1:8786
      weft reproduce smoc
      weft reproduce collectives
      weft reproduce ai-cluster
      sudo weft reproduce smoc --emulated --size standard
      sudo weft reproduce tag-and-forward
    """
    from ..studies import registry
    from ..studies.base import RunOptions

    options = {
        "--emulated": emulated,
        "--size": size,
        "-o": out,
        "--jobs": jobs,
        "--threads": threads,
        "--dask": dask,
        "--json": as_json,
    }
    again = shell.repeated("reproduce", study, options)
    study = f"{study}-emulated" if emulated and not study.endswith("-emulated") else study
    found = next((candidate for candidate in registry.ALL if candidate.name == study), None)
    if found is None:
        raise shell.fail(f"unknown study `{study}`", f"one of {', '.join(s.name for s in registry.ALL)}")
    folder = out if out is not None else Path("results") / f"{study}-{size.value}"
    parts = found.parts(size)
    runs = sum(part.runs() for part in parts)
    with connected(dask, threads) as cluster, shown(f"{study}, {size.value}", shell.err) as (tracker, feed):
        tracker.total = runs
        try:
            outcome = found.run(folder, size, RunOptions(jobs, threads, feed, cluster))
        except KeyboardInterrupt:
            done = tracker.finished + tracker.skipped
            there = f"{done} of {plural(runs, 'run')} finished and kept in {folder}"
            if done == runs:
                there = f"all runs were done ({plural(runs, 'run')} in {folder}), and their results were being read"
            shell.say(shell.stopped(there, again))
            raise typer.Exit(INTERRUPTED) from None
        except ClusterError as error:
            raise shell.fail(str(error), completed(again), shell.FAILED) from None
    if tracker.one_thread is not None:
        shell.warn(f"some runs had one thread: {tracker.one_thread}")
    if as_json:
        shell.print_json(as_dict(study, size, outcome), indent=2)
        return
    show(outcome.rows, partial(found.needs, size=size))
    shell.out.print(Text(found.decision))
    for remark in outcome.remarks:
        shell.out.print(Text(remark))
    shell.out.print(Text(found.chosen, style="dim"))
    shell.finished(runs, folder)
    if found.page:
        shell.say(f"  {folder / found.page}   all schemes in all situations, to open in a browser")
    shell.say(f"  {shell.command_line('plot', folder)}   the study's figures from these runs")
    shell.say(f"  {shell.command_line('report', folder / parts[0].name)}   a report on one part of the study")


def show(rows: Sequence[StudyRow], needs: Callable[[str], Size | None]) -> None:
    """Print each row as a line with verdict and measurement, with the claim and the note below it.

    Rows for which this size has no runs are one line for each size that the function `needs` returns for their ids.
    """
    from ..studies.rows import measured

    later: dict[Size, list[str]] = {}
    shown = []
    for row in rows:
        if row.verdict is Verdict.not_measured and row.measured is None and (size := needs(row.id)) is not None:
            later.setdefault(size, []).append(row.id)
        else:
            shown.append(row)
    width = max((len(row.verdict) for row in shown), default=0)
    for row in shown:
        head = Text.assemble(
            (f"{row.id}  ", "bold"), (row.verdict.ljust(width), _STYLES[row.verdict]), f"  {measured(row)}"
        )
        shell.out.print(head)
        shell.out.print(Padding(Text(row.claim), (0, 0, 0, 4)))
        for item in row.note.split("; "):
            shell.out.print(Padding(Text(item, style="dim"), (0, 0, 0, 6)))
        shell.out.print()
    for size, names in later.items():
        needed = f"{plural(len(names), 'row')} {'needs' if len(names) == 1 else 'need'} --size {size.value}"
        shell.out.print(Text(f"{needed}: {', '.join(names)}"))
        shell.out.print()
