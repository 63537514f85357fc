"""`weft export`: the flows of a run in the formats of other programs, and a scenario's fabric for FRR."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from .. import quantity
from ..labels import plural
from . import shell
from .live import reading
from .scenario_file import Sets
from .scenario_file import read as read_scenario


class ExportFormat(StrEnum):
    """The formats."""

    fct = "fct"
    flowmonitor = "flowmonitor"
    frr = "frr"
    perfetto = "perfetto"


@shell.guarded
def export(
    source: Annotated[
        Path,
        typer.Argument(metavar="DIR|SCENARIO", help="Result directory of `weft run`; for frr, a scenario file (TOML)."),
    ],
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="fct: conweave-ns3's file of completion times; flowmonitor: ns-3's XML; perfetto: time lines of hosts "
            "for ui.perfetto.dev; frr: configurations of FRR.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE|DIR", help="Write to a file instead of standard output; for frr, a directory."
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="The run, if there are several, such as ecmp-seed1-d531d6f6: its name in DIR/runs."
        ),
    ] = None,
    sets: Sets = None,
) -> None:
    """Write the flows of a run in the format of another program, or a scenario's fabric as FRR configurations.

    The configurations are for every switch: BGP unnumbered, BFD, ECMP, and the weights of `wcmp`.

    [bold]Examples[/bold]

      weft export results/mine --run ecmp-seed1-d531d6f6 --format fct -o fct.txt
      weft export results/mine --run ecmp-seed1-d531d6f6 --format flowmonitor > flows.xml
      weft export results/mine --run ecmp-seed1-d531d6f6 --format perfetto -o trace.json
      weft export mine.toml --set scheme.name=ecmp --format frr -o mine-frr
    """
    if form is ExportFormat.frr:
        _write_frr(source, out, run, sets or [])
        return
    if sets:
        raise shell.fail("--set changes a scenario, and this exports a result", "leave --set out, or use --format frr")
    _write_flows(source, form, out, run)


def _write_frr(scenario: Path, out: Path | None, run: str | None, sets: list[str]) -> None:
    from ..frr.directory import export as write

    if scenario.is_dir():
        raise shell.fail(f"{scenario} is a directory: --format frr exports a scenario", "give the scenario file")
    if out is None:
        raise shell.fail("--format frr writes a directory", f"-o {scenario.stem}-frr")
    switches = write(read_scenario(scenario, "export").with_sets(sets), run, out)
    shell.say(
        f"{escape(str(out))}: {plural(switches, 'switch', 'switches')}; how to use it: {escape(str(out))}/README.md"
    )


def _write_flows(directory: Path, form: ExportFormat, out: Path | None, run: str | None) -> None:
    from ..exports import are_positions, without_ideal
    from ..exports import export as text_of
    from ..files import write_text
    from ..perfetto import trace
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
        text = trace(results, chosen[0]) if form is ExportFormat.perfetto else text_of(results, chosen[0], form.value)
    left_out = without_ideal(results, chosen[0]) if form is ExportFormat.fct else 0
    if left_out:
        have = "flow has" if left_out == 1 else "flows have"
        shell.warn(
            f"{left_out} finished {have} no ideal time, which a line needs, and no line: all that a rank sends around a"
            ' ring is one flow in parts. Set connections = "per-message" in [traffic] to get a flow for each message,'
            " or use --format flowmonitor or perfetto"
        )
    elif not text:
        shell.warn(f"no flow of run `{chosen[0].id}` finished: the list is empty")
    if text and form is ExportFormat.fct and are_positions(chosen[0].summary()["nodes"]):
        shell.warn("hosts are numbered by their position among all nodes, because not all are called `h` and a number")
    if out is None:
        sys.stdout.write(text)
        return
    if out.is_dir():
        raise shell.fail(f"{out} is a directory", f"-o {out / form.value}")
    write_text(out, text)
    shell.say(f"{out} ({quantity.size(out.stat().st_size)})")
