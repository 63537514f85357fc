"""`weft run` and `weft check`: run or check a scenario."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ..errors import OutputError, ResultsError, ScenarioError
from ..labels import plural
from ..scenario import Scenario
from . import plugin, shell
from .live import shown

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="The scenario file (TOML).")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario; may be repeated."),
]
Seeds = Annotated[int | None, typer.Option(min=1, metavar="N", help="Use seeds 1 to N instead of the scenario's.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Parallel runs (default: one per core).")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        metavar="N",
        help="Threads within each run (default: the cores that parallel runs leave, on large fabrics).",
    ),
]


@shell.guarded
def run(
    scenario: ScenarioFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Result directory (default: results/NAME for NAME.toml).",
        ),
    ] = None,
    sets: Sets = None,
    seeds: Seeds = None,
    jobs: Jobs = None,
    threads: Threads = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="SCHEME", help="Scheme to compare with; overrides measure.baseline.")
    ] = None,
    plugins: plugin.Plugins = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no table.")] = False,
) -> None:
    """Run a scenario: all points of its sweep with all seeds.

    Each run is stored when it finishes. Repeat an interrupted command to resume where it left off.

    [bold]Examples[/bold]

      weft run scenarios/quickstart.toml
      weft run mine.toml -o results/mine --seeds 10
      weft run mine.toml --set traffic.load=0.6 --set 'scheme.name="spray"'
      weft run mine/compare.toml --plugin mine
    """
    plugin.load(plugins, quiet=quiet)
    plan = read(scenario).with_sets(sets or [])
    if baseline is not None:
        plan = _compared(plan, baseline)
    folder = out if out is not None else Path("results") / scenario.stem
    points, warnings = plan.check()
    for warning in dict.fromkeys(warnings):
        shell.warn(warning)
    options: dict[str, object] = {"-o": out, "--set": sets, "--seeds": seeds, "--jobs": jobs, "--threads": threads}
    options |= {"--baseline": baseline, "--plugin": plugins, "--quiet": quiet}
    again = shell.repeated("run", scenario, options)
    numbers = list(range(1, seeds + 1)) if seeds is not None else None
    with shown(scenario.stem, shell.err, quiet=quiet) as (tracker, feed):
        tracker.total = len(points) if seeds is None else 0
        try:
            outcome = plan.execute(folder, jobs=jobs, threads=threads, seeds=numbers, progress=feed)
        except KeyboardInterrupt:
            shell.say(stopped(folder, again))
            raise typer.Exit(shell.INTERRUPTED) from None
        except OutputError as error:
            raise _explained(error, folder) from None
        except ScenarioError as error:
            if baseline is None or not _finished(folder):
                raise
            compare = shell.typed("summary", folder, "--baseline", baseline)
            raise shell.fail(str(error), f"{compare}, if only the baseline is new") from None
    if tracker.one_thread is not None:
        shell.warn(f"ran on one thread: {tracker.one_thread}")
    if outcome.failed:
        raise _report_failures(outcome.failed, folder, again)
    if quiet:
        return
    without = _show_table(folder, baseline)
    shell.finished(outcome.done + outcome.skipped, folder, outcome.skipped)
    shell.say(f"  {shell.command_line('report', folder)}   a page with figures, to open in a browser")
    if len(without) > 1:
        compare = shell.command_line("summary", folder, "--baseline", without[0])
        shell.say(f"  {compare}   differences with intervals")


def read(path: Path) -> Scenario:
    """The scenario in a file; the error for a directory shows what to type instead."""
    if not path.is_dir():
        return Scenario.from_file(path)
    if (path / "sweep.json").is_file():
        again = shell.typed("run", path / "scenario.toml", "-o", path)
        hint = f"`{shell.typed('report', path)}` to view them, `{again}` to resume the run"
        raise shell.fail(f"{path} is a result directory, not a scenario file", hint)
    files = sorted(path.glob("*.toml"))
    begin = f"`{shell.typed('new', 'mine.toml')}`, then `{shell.typed('run', 'mine.toml')}`"
    hint = shell.typed("run", files[0]) if files else begin
    raise shell.fail(f"{path} is a directory, not a scenario file", hint)


def _compared(plan: Scenario, baseline: str) -> Scenario:
    """The scenario with this baseline; an error if none of its runs uses that scheme.

    A baseline with a parameter value affects the table only: the scenario's baseline is a scheme name.
    """
    from ..variants import compared_key, label_of, scheme_label

    name, _, parameters = baseline.partition(" ")
    points = [point.overrides for point in plan.points()]
    if (key := compared_key(points)) is not None:
        schemes = list(dict.fromkeys(scheme_label(point, name if parameters else "scheme", key) for point in points))
        if label_of(baseline, schemes, key) is None:
            values = ", ".join(label.partition("=")[2] for label in schemes)
            raise shell.fail(f"no value `{baseline}` of {key} in this scenario", f"one of {values}")
        if baseline in schemes:
            plan.with_sets([f"measure.baseline={json.dumps(name)}"]).points()
        return plan
    named = plan.with_sets([f"measure.baseline={json.dumps(name)}"])
    schemes = list(dict.fromkeys(scheme_label(point.overrides, name) for point in named.points()))
    if baseline not in schemes:
        raise shell.fail(f"no scheme `{baseline}` in this scenario", f"one of {', '.join(schemes)}")
    return plan if parameters or plan.baseline == name else named


def _show_table(folder: Path, baseline: str | None) -> list[str]:
    """Print the comparison; return the schemes that could serve as baseline, none if there is one already."""
    from ..results import Results
    from ..summary import summarise
    from .comparison import show_summary

    results = Results(folder)
    summary = summarise(results, baseline=baseline)
    show_summary(shell.out, summary)
    return [] if summary.baseline else results.schemes


def stopped(folder: Path, again: str) -> str:
    """The message after Ctrl-C: how many runs finished, and how to resume."""
    counted = _finished(folder)
    if not counted:
        return shell.stopped("no run had finished", again)
    return shell.stopped(f"{counted[0]} of {plural(counted[1], 'run')} finished and kept in {folder}", again)


def _finished(folder: Path) -> tuple[int, int] | None:
    """Number of finished runs and of all runs in a result directory; None if it is not one yet."""
    from ..results import Results

    try:
        results = Results(folder)
        return len(results.finished), len(results.runs)
    except ResultsError:
        return None


def _explained(error: OutputError, folder: Path) -> OutputError:
    """The error; if the disk was full, with the number of finished runs."""
    return OutputError(f"the disk is full: {error}{_kept(folder)}") if shell.is_disk_full(error) else error


def _kept(folder: Path) -> str:
    counted = _finished(folder)
    return f"; {counted[0]} of {plural(counted[1], 'run')} finished and readable in {folder}" if counted else ""


def _report_failures(failed: list[dict[str, object]], folder: Path, again: str) -> typer.Exit:
    if any(shell.is_disk_full(entry.get("error")) for entry in failed):
        return shell.fail(f"the disk is full{_kept(folder)}", shell.disk_full_hint())
    for entry in failed[:5]:
        shell.err.print(f"  {entry.get('label') or entry.get('run_id')}: {entry.get('error')}", markup=False)
    more = f" (the first 5 are above){_kept(folder)}" if len(failed) > 5 else _kept(folder)
    return shell.fail(f"{plural(len(failed), 'run')} failed{more}", f"fix the cause, then {again}", shell.FAILED)


@shell.guarded
def check(scenario: ScenarioFile, sets: Sets = None, plugins: plugin.Plugins = None) -> None:
    """Check a scenario without running it, and list its runs.

    [bold]Examples[/bold]

      weft check mine.toml
      weft check mine.toml --set fabric.k=8
    """
    plugin.load(plugins)
    points, warnings = read(scenario).with_sets(sets or []).check()
    for warning in warnings:
        shell.warn(warning)
    shell.out.print(f"{scenario}: {plural(len(points), 'run')}", markup=False)
    for label, number in Counter(point.label for point in points).items():
        times = f"  ({number} seeds)" if number > 1 else ""
        shell.out.print(f"  {label}{times}", markup=False, soft_wrap=True)
