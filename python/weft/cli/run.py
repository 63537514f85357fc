"""`weft run`: run a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from .. import quick as shortened
from ..cluster.errors import ClusterError
from ..codes import INTERRUPTED
from ..errors import OutputError, ResultsError, ScenarioError
from ..estimate import Estimate, estimate
from ..labels import plural, show
from ..scenario import MOST_SEEDS, MOST_THREADS, Capture, Point, Scenario, refuse_file
from . import captures as capturing
from . import cost, plugin, shell
from .dask import Dask, connected
from .live import announced, reading, shown
from .scenario_file import ScenarioFile, Sets, by_text, read, warn_of

if TYPE_CHECKING:
    from ..runs import Runs

Seeds = Annotated[
    int | None, typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Use seeds 1 to N instead of the scenario's.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, max=MOST_THREADS, metavar="N", help="Parallel runs (default: one per core)."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=MOST_THREADS,
        metavar="N",
        help="At most N threads within each run; fewer where other programs keep the cores busy "
        "(default: the cores that parallel runs leave, on large fabrics).",
    ),
]


@shell.stoppable
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
    captures: capturing.Captures = None,
    capture_dir: capturing.CaptureDir = None,
    capture_limit: capturing.CaptureLimit = None,
    plugins: plugin.Plugins = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Run a tenth of the duration, the flows or the bytes of collectives with one or two seeds, into "
            "results/NAME-quick. Lists of flows and traces stay whole.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no table.")] = False,
) -> None:
    """Run a scenario: all points of its sweep with all seeds.

    Each run is stored when it finishes. Repeat an interrupted command to resume where it left off.

    [bold]Examples[/bold]

      weft run scenarios/quickstart.toml
      weft run mine.toml -o results/mine --seeds 10
      weft run mine.toml --quick
      weft run mine.toml --set traffic.load=0.6 --set 'scheme.name="spray"'
      weft run mine.toml --dask tcp://10.0.0.1:8786
      weft run mine.toml --capture 'l0->s0' --capture flow:17
      weft run mine/compare.toml --plugin mine
    """
    if not captures and (capture_dir is not None or capture_limit is not None):
        raise shell.fail("nothing to capture", "add --capture LINK or --capture flow:N")
    options: dict[str, object] = {"-o": out, "--set": sets, "--seeds": seeds, "--jobs": jobs, "--threads": threads}
    options |= {"--dask": dask, "--baseline": baseline, "--plugin": plugins, "--quick": quick, "--quiet": quiet}
    options |= {"--capture": captures, "--capture-dir": capture_dir, "--capture-limit": capture_limit}
    for option in ("--capture", "--plugin"):
        if dask is not None and options[option]:
            raise shell.fail(f"{option} works on this machine only", f"leave out --dask, or {option}")
    plugin.load(plugins, quiet=quiet)
    plan = read(scenario, "run").with_sets(sets or [])
    if baseline is not None:
        plan = _compared(plan, baseline)
    numbers = list(range(1, seeds + 1)) if seeds is not None else None
    changes = ""
    if quick:
        plan, changes = shortened.quick(plan, numbers)
        numbers = None
    folder = out if out is not None else Path("results") / f"{scenario.stem}{f'-{shortened.MARK}' if quick else ''}"
    refuse_file(folder)
    again = shell.repeated("run", scenario, options)
    try:
        with announced("Checking all points of the sweep ...") if not quiet else nullcontext():
            points, warnings = plan.check()
        with announced("Estimating the cost of the runs ...") if not quiet else nullcontext():
            expected = estimate(plan, seeds=numbers, jobs=jobs, done=(_finished(folder) or (0, 0))[0])
    except KeyboardInterrupt:
        before = (_finished(folder) or (0, 0))[0]
        start = f"Stopped: nothing has run. To start again:\n  [bold]{escape(again)}[/bold]"
        shell.say(stopped(folder, again, shows=not quiet, captures=bool(captures)) if before else start)
        raise typer.Exit(INTERRUPTED) from None
    cost.refuse_full_disk(expected, folder)
    capture = Capture(captures or [], capture_dir, capture_limit)
    with connected(dask, threads) as cluster, shown(scenario.stem, shell.err, quiet=quiet) as (tracker, feed):
        tracker.total = len(points) if numbers is None else 0
        # The engine may still refuse the directory or the captures: first of all it checks them.
        begin = _Beginning(feed, lambda: _announce(warnings, points, expected, changes=changes, quiet=quiet))
        try:
            outcome = plan.execute(
                folder,
                jobs=jobs,
                threads=threads,
                seeds=numbers,
                progress=begin,
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
    begin.announce()
    if tracker.one_thread is not None:
        shell.warn(f"ran on one thread: {tracker.one_thread}")
    capturing.report(outcome)
    if outcome.failed:
        raise _report_failures(outcome.failed, folder, again)
    from .. import damage
    from ..runs import Runs
    from .show import warn_of_runs

    results = Runs(folder)
    said = by_text(warnings, points)
    if quiet:
        warn_of_runs(results, said=said)
        return
    capturing.show(outcome, capture_dir or folder / "captures")
    with damage.named(folder):
        without = _show_table(results, baseline)
    warn_of_runs(results, said=said)
    shell.finished(outcome.done + outcome.skipped, folder, outcome.skipped)
    shell.say(f"  {shell.command_line('report', folder)}   a page with figures, to open in a browser")
    if len(without) > 1:
        compare = shell.command_line("summary", folder, "--baseline", without[0])
        shell.say(f"  {compare}   differences with intervals")


class _Beginning:
    """Passes events on, and announces the runs before the first one."""

    def __init__(self, feed: Callable[[dict[str, Any]], None], announce: Callable[[], None]) -> None:
        self._feed = feed
        self._announce: Callable[[], None] | None = announce

    def __call__(self, event: dict[str, Any]) -> None:
        self.announce()
        self._feed(event)

    def announce(self) -> None:
        """Announce the runs, unless an event has."""
        if self._announce is not None:
            self._announce()
            self._announce = None


def _announce(warnings: list[str], points: list[Point], expected: Estimate, *, changes: str, quiet: bool) -> None:
    """Print the warnings, the `changes` of a quick run, and what the runs will cost."""
    warn_of(warnings, points)
    if quiet:
        return
    if changes:
        shell.say(f"A quick run, for a first look: {escape(changes)}.")
    cost.tell(expected, is_quick=bool(changes))


def _compared(plan: Scenario, baseline: str) -> Scenario:
    """The scenario with this baseline, stored with its key if it is a value; an error if none of its runs has it."""
    from ..variants import (
        VARIANT_KEY,
        assignments,
        compared_key,
        scheme_label,
        swept_keys,
        unswept_key,
        values_of,
        varied_keys,
    )

    try:
        points = [point.overrides for point in plan.points()]
    except ScenarioError:
        # The stored baseline may be the error; this one replaces it.
        points = [point.overrides for point in plan.with_sets([f"measure.baseline={json.dumps(baseline)}"]).points()]
    key = compared_key(points, baseline)
    named = [value for of, value in values_of(baseline, varied_keys(points)) if of == key]
    # A label before the value is for the engine to check.
    stored = f"{key}={show(named[0])}" if named and "=" not in baseline.partition(" ")[2] else baseline
    compared = plan.with_sets([f"measure.baseline={json.dumps(stored)}"])
    try:
        compared.points()
    except ScenarioError:
        unswept = unswept_key(baseline, points)
        if unswept is not None:
            message = f"no baseline `{baseline}`: this scenario does not sweep `{unswept}`"
            raise shell.fail(message, f"a value of a swept key; the swept keys are {swept_keys(points)}") from None
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
