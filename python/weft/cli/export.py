"""`weft export`: the flows of a run in the formats of other simulators."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .. import quantity
from . import shell
from .live import reading
from .show import ResultDir


class ExportFormat(StrEnum):
    """The formats."""

    fct = "fct"
    flowmonitor = "flowmonitor"


@shell.guarded
def export(
    directory: ResultDir,
    form: Annotated[
        ExportFormat,
        typer.Option("--format", help="fct: conweave-ns3's file of completion times; flowmonitor: ns-3's XML."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file instead of standard output.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="ID", help="The run, if there are several: its name in DIR/runs.")
    ] = None,
) -> None:
    """Write the flows of a run in the format of another simulator.

    [bold]Examples[/bold]

      weft export results/quickstart --run ecmp-s1 --format fct -o fct.txt
      weft export results/quickstart --run ecmp-s1 --format flowmonitor > flows.xml
    """
    from ..exports import are_positions
    from ..exports import export as text_of
    from ..files import write_text
    from ..results import Results

    results = Results(directory)
    ids = [finished.id for finished in results.finished]
    chosen = [finished for finished in results.finished if run in (None, finished.id)]
    if not ids:
        raise shell.fail(f"{directory} has no finished run", "`weft run` finishes them")
    if not chosen:
        raise shell.fail(f"{directory} has no finished run `{run}`", f"--run {ids[0]}")
    if len(chosen) > 1:
        raise shell.fail(f"{directory} has {len(ids)} runs", f"name one: --run {ids[0]}")
    with reading(shell.err) as results.watch:
        text = text_of(results, chosen[0], form.value)
    if not text:
        shell.warn(f"no flow of run `{chosen[0].id}` finished and has an ideal time: the list is empty")
    if text and form is ExportFormat.fct and are_positions(chosen[0].summary()["nodes"]):
        shell.warn("hosts are numbered by their position among all nodes, because not all are called `h` and a number")
    if out is None:
        sys.stdout.write(text)
        return
    if out.is_dir():
        raise shell.fail(f"{out} is a directory", f"-o {out / form.value}")
    write_text(out, text)
    shell.say(f"{out} ({quantity.size(out.stat().st_size)})")
