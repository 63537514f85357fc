"""`weft emulate`: run a scenario with real TCP over the Linux switch, in network namespaces of this machine."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..codes import INTERRUPTED
from ..labels import plural
from . import shell
from .live import shown
from .run import Seeds, stopped
from .scenario_file import ScenarioFile, Sets, read

if TYPE_CHECKING:
    from ..emulation.sweep import Emulated


@shell.guarded
def emulate(
    scenario: ScenarioFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Result directory (default: results/NAME-emulated for NAME.toml).",
        ),
    ] = None,
    sets: Sets = None,
    seeds: Seeds = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    prompt: Annotated[
        bool,
        typer.Option("--cli", help="Build the network of the first run and open a Mininet prompt; send no flows."),
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep plans, records and the switches' logs in DIR.")] = False,
) -> None:
    """Run a scenario with real TCP: hosts in network namespaces, Linux switches.

    Writes the same files, tables and figures as [bold]weft run[/bold]. Needs root and Mininet
    ([bold]make emulation[/bold], or with pip `apt-get install mininet iproute2 ethtool net-tools`).
    Runs execute one at a time, in real time.

    [bold]Examples[/bold]

      sudo weft emulate scenarios/emulation.toml
      sudo weft emulate mine.toml --set 'fabric.rate="10 Mbps"' --seeds 3
      sudo weft emulate mine.toml --cli
    """
    from ..emulation import sweep

    plan = read(scenario, "emulate").with_sets(sets or [])
    if seeds is not None:
        plan = plan.with_sets([f"run.seeds={list(range(1, seeds + 1))}"])
    # Service managers stop a process with SIGTERM; treat it as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = out if out is not None else Path("results") / f"{scenario.stem}-emulated"
    options = {"-o": out, "--set": sets, "--seeds": seeds, "--json": as_json, "--keep": keep}
    again = shell.repeated("emulate", scenario, options)
    try:
        for warning in sweep.check(plan):
            shell.warn(warning)
        if prompt:
            sweep.open_prompt(plan)
            return
        with shown(scenario.stem, shell.err) as (_, feed):
            outcome = sweep.emulate(plan, folder, feed, keep=keep)
    except KeyboardInterrupt:
        shell.say(stopped(folder, again))
        raise typer.Exit(INTERRUPTED) from None
    _tell(outcome)
    if outcome.failed:
        for entry in outcome.failed[:5]:
            shell.err.print(f"  {entry['label'] or entry['run_id']}: {entry['error']}", markup=False, soft_wrap=True)
        raise shell.fail(f"{plural(len(outcome.failed), 'run')} failed", f"fix the cause, then {again}", shell.FAILED)
    _show(folder, outcome.done + outcome.skipped, outcome.skipped, as_json=as_json)


def _tell(outcome: Emulated) -> None:
    """Warn about results that are incomplete or limited by this machine."""
    for label in outcome.saturated:
        shell.warn(f"{label or 'the run'}: this machine's CPU was saturated for a while; results may be CPU-bound")
    for label, remark in outcome.remarks:
        shell.warn(f"{label or 'the run'}: {remark}")
    for label, number in outcome.unfinished:
        shell.warn(f"{label or 'the run'}: {plural(number, 'flow')} unfinished at the run's time limit")


def _show(folder: Path, runs: int, before: int, *, as_json: bool) -> None:
    from ..results import Results
    from ..summary import summarise
    from .comparison import show_summary

    summary = summarise(Results(folder))
    if as_json:
        shell.print_json(summary.as_dict(), indent=2)
        return
    show_summary(shell.out, summary)
    shell.finished(runs, folder, before)
    shell.say(f"  {shell.command_line('report', folder)}   a page with figures, to open in a browser")
