"""`weft run` and `weft check`: run or check a scenario."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from .._weft import CAPTURE_LIMIT
from ..cluster.errors import ClusterError
from ..codes import INTERRUPTED
from ..errors import OutputError, ResultsError, ScenarioError
from ..labels import plural, show
from ..scenario import Capture, Outcome, Scenario
from . import plugin, shell
from .dask import Dask, connected
from .live import reading, shown

if TYPE_CHECKING:
    from ..runs import Runs

_LISTED = 5

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
        help="At most N threads within each run; fewer where other programs keep the cores busy "
        "(default: the cores that parallel runs leave, on large fabrics).",
    ),
]
Captures = Annotated[
    list[str] | None,
    typer.Option(
        "--capture",
        metavar="LINK|FLOW",
        help="Write frames for Wireshark: l0->s0 (one direction), l0-s0 (both) or flow:17; may be repeated.",
    ),
]
CaptureDir = Annotated[
    Path | None,
    typer.Option("--capture-dir", metavar="DIR", help="Directory of the captures (default: captures in -o)."),
]
CaptureLimit = Annotated[
    str | None,
    typer.Option("--capture-limit", metavar="SIZE", help=f'End each capture at this size (default "{CAPTURE_LIMIT}").'),
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
    dask: Dask = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="SCHEME", help="Scheme to compare with; overrides measure.baseline.")
    ] = None,
    captures: Captures = None,
    capture_dir: CaptureDir = None,
    capture_limit: CaptureLimit = None,
    plugins: plugin.Plugins = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no table.")] = False,
) -> None:
    """Run a scenario: all points of its sweep with all seeds.

    Each run is stored when it finishes. Repeat an interrupted command to resume where it left off.

    [bold]Examples[/bold]

      weft run scenarios/quickstart.toml
      weft run mine.toml -o results/mine --seeds 10
      weft run mine.toml --set traffic.load=0.6 --set 'scheme.name="spray"'
      weft run mine.toml --dask tcp://10.0.0.1:8786
      weft run mine.toml --capture 'l0->s0' --capture flow:17
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
    options |= {"--dask": dask, "--baseline": baseline, "--plugin": plugins, "--quiet": quiet}
    options |= {"--capture": captures, "--capture-dir": capture_dir, "--capture-limit": capture_limit}
    if not captures and (capture_dir is not None or capture_limit is not None):
        raise shell.fail("nothing to capture", "add --capture LINK or --capture flow:N")
    for option in ("--capture", "--plugin"):
        if dask is not None and options[option]:
            raise shell.fail(f"{option} works on this machine only", f"leave out --dask, or {option}")
    capture = Capture(captures or [], capture_dir, capture_limit)
    again = shell.repeated("run", scenario, options)
    numbers = list(range(1, seeds + 1)) if seeds is not None else None
    with connected(dask, threads) as cluster, shown(scenario.stem, shell.err, quiet=quiet) as (tracker, feed):
        tracker.total = len(points) if seeds is None else 0
        try:
            outcome = plan.execute(
                folder,
                jobs=jobs,
                threads=threads,
                seeds=numbers,
                progress=feed,
                capture=capture,
                cluster=cluster,
            )
        except KeyboardInterrupt:
            shell.say(stopped(folder, again, shows=not quiet, captures=bool(captures)))
            is_done = quiet and not captures and is_complete(folder)
            raise typer.Exit(shell.OK if is_done else INTERRUPTED) from None
        except ClusterError as error:
            raise shell.fail(f"{error}{_kept(folder)}", completed(again), shell.FAILED) from None
        except OutputError as error:
            raise _explained(error, folder) from None
    if tracker.one_thread is not None:
        shell.warn(f"ran on one thread: {tracker.one_thread}")
    _report_captures(outcome)
    if outcome.failed:
        raise _report_failures(outcome.failed, folder, again)
    from ..runs import Runs
    from .show import warn_of_runs

    results = Runs(folder)
    if quiet:
        warn_of_runs(results, said=warnings)
        return
    _show_captures(outcome, capture_dir or folder / "captures")
    without = _show_table(results, baseline)
    warn_of_runs(results, said=warnings)
    shell.finished(outcome.done + outcome.skipped, folder, outcome.skipped)
    shell.say(f"  {shell.command_line('report', folder)}   a page with figures, to open in a browser")
    if len(without) > 1:
        compare = shell.command_line("summary", folder, "--baseline", without[0])
        shell.say(f"  {compare}   differences with intervals")


def _report_captures(outcome: Outcome) -> None:
    full = [capture for capture in outcome.captures if capture["full_at"] is not None]
    for capture in full[:_LISTED]:
        left_out = plural(capture["left_out"], "later frame")
        shell.warn(f"{capture['path']} reached --capture-limit at {capture['full_at']}: {left_out} left out")
    if len(full) > _LISTED:
        shell.warn(f"so did {len(full) - _LISTED} more captures")


def _show_captures(outcome: Outcome, folder: Path) -> None:
    if outcome.repeated:
        runs = plural(outcome.repeated, "run")
        shell.say(f"{runs} had results and ran again for the captures; the results are unchanged.")
    if outcome.captures:
        frames = sum(capture["frames"] for capture in outcome.captures)
        files = plural(len(outcome.captures), "capture")
        shell.say(f"{files} with {plural(frames, 'frame')} in {escape(str(folder))}")
    if outcome.captures_kept:
        kept = plural(outcome.captures_kept, "capture")
        shell.say(f"{kept} existed and {'is' if outcome.captures_kept == 1 else 'are'} kept")


def read(path: Path) -> Scenario:
    """The scenario in a file; the error for a directory shows the command to type instead."""
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
    """The scenario with this baseline, stored with its key if it is a value; an error if none of its runs has it."""
    from ..variants import VARIANT_KEY, assignments, compared_key, scheme_label, values_of, varied_keys

    points = [point.overrides for point in plan.points()]
    key = compared_key(points, baseline)
    named = [value for of, value in values_of(baseline, varied_keys(points)) if of == key]
    # A label before the value is for the engine to check.
    stored = f"{key}={show(named[0])}" if named and "=" not in baseline.partition(" ")[2] else baseline
    compared = plan.with_sets([f"measure.baseline={json.dumps(stored)}"])
    try:
        compared.points()
    except ScenarioError:
        labels = dict.fromkeys(scheme_label(point, "", None) for point in points)
        if key is not None and not named:
            values = ", ".join(show(value) for value in varied_keys(points)[key])
            raise shell.fail(f"no value `{baseline}` of {key} in this scenario", f"one of {values}") from None
        if key is not None or "" in labels:
            raise
        kind = "variant" if any(VARIANT_KEY in point for point in points) else "scheme"
        hint = f"one of {', '.join([*labels, *assignments(varied_keys(points))])}"
        raise shell.fail(f"no {kind} `{baseline}` in this scenario", hint) from None
    return compared


def _show_table(results: Runs, baseline: str | None) -> list[str]:
    """Print the comparison; return the schemes that could serve as baseline, none if there is one already."""
    from .. import paths
    from ..summary import summarise
    from .comparison import show_collectives, show_summary
    from .show import warn_of_baseline

    results = results.comparing(baseline)
    with reading(shell.err) as results.watch:
        summary = summarise(results, baseline=baseline, stored=True)
        collectives = paths.collectives(results, summary.baseline)
    if baseline is None:
        warn_of_baseline(results)
    show_collectives(shell.out, collectives, summary.baseline)
    show_summary(shell.out, summary)
    return [] if summary.baseline else results.schemes


def stopped(folder: Path, again: str, *, shows: bool = True, captures: bool = False) -> str:
    """The message after Ctrl-C: how many runs finished, and how to resume.

    If all had, only what the command `shows` is left; `captures` may be left as well.
    """
    counted = _finished(folder)
    if not counted:
        return shell.stopped("no run had finished", again)
    if is_complete(folder) and not captures:
        done = f"All runs were done: {plural(counted[1], 'run')} in {escape(str(folder))}."
        see = escape(shell.typed("summary", folder))
        return f"{done} To see the results:\n  [bold]{see}[/bold]" if shows else done
    return shell.stopped(f"{counted[0]} of {plural(counted[1], 'run')} finished and kept in {folder}", again)


def completed(again: str) -> str:
    """The hint after the loss of a cluster."""
    return f"{again}, to complete the directory; leave out --dask to use this machine"


def is_complete(folder: Path) -> bool:
    """Whether a result directory has all runs."""
    counted = _finished(folder)
    return counted is not None and counted[0] == counted[1]


def _finished(folder: Path) -> tuple[int, int] | None:
    """Number of finished runs and of all runs in a result directory; None if it is not one yet."""
    from ..runs import Runs

    try:
        results = Runs(folder)
        return len(results.finished), len(results.runs)
    except ResultsError:
        return None


def _explained(error: OutputError, folder: Path) -> OutputError:
    """The error; if the disk was full, with the number of finished runs."""
    return OutputError(f"the disk is full: {error}{_kept(folder)}", disk_full=True) if error.disk_full else error


def _kept(folder: Path) -> str:
    counted = _finished(folder)
    return f"; {counted[0]} of {plural(counted[1], 'run')} finished and readable in {folder}" if counted else ""


def _report_failures(failed: list[dict[str, object]], folder: Path, again: str) -> typer.Exit:
    if any(entry["disk_full"] for entry in failed):
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
