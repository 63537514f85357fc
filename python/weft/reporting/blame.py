"""The critical paths of the page, with the links to blame: their runs are simulated again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..critical_path import CriticalPath, critical_path, longest
from ..errors import ResultsError, ScenarioError
from ..labels import plural
from ..one_run import Run
from ..results import Results
from ..steps import PATH
from . import causes, why

_WATCHED = "Simulating critical paths again"


@dataclass
class Blame:
    """The critical paths of one job under each scheme, of the first point and seed.

    Attributes:
        paths: Those whose runs were simulated again.
        note: Why others have no links; empty if there are none.
        seconds: The CPU time of the repeated runs, as it was expected.
    """

    paths: list[CriticalPath] = field(default_factory=list)
    note: str = ""
    seconds: float = 0.0


def blame_of(results: Results, *, wanted: bool | None) -> Blame:
    """The paths of the job that `weft why --critical-path` shows, too; `wanted` is that of `weft.reporting.causes`."""
    found = list(_jobs(results))
    if not found:
        return Blame()
    note = _refused(results, wanted=wanted)
    if note:
        return Blame(note=note)
    blame, problems, at_first = Blame(), [], len(found)
    costs = causes.costs(results)
    results.watch(_WATCHED, 0.0, at_first)
    for at, (run, number) in enumerate(found[: causes.MOST_RUNS], start=1):
        cost = causes.RECORDING * costs.get(run.id, causes.BUDGET_S)
        if not wanted and blame.seconds + cost > causes.BUDGET_S:
            continue
        try:
            # Ctrl-C ends the run at the next report of its progress.
            blame.paths.append(critical_path(results, run, number, progress=lambda _: None))
        except (ResultsError, ScenarioError) as error:
            problems.append(f"Some links are unknown: {error}.")
        blame.seconds += cost
        results.watch(_WATCHED, at, at_first)
    blame.note = next(iter(problems), "") or _left_out(results, len(blame.paths), at_first, wanted=wanted)
    return blame


def _jobs(results: Results) -> Iterator[tuple[Run, int]]:
    """The runs of the first point and seed, each with the job that took longest in the first of them."""
    first = results.finished[0]
    runs = [run for run in results.finished if (run.point, run.seed) == (first.point, first.seed)]
    number = None
    for run in runs:
        jobs = run.summary().get("collectives", [])
        try:
            number = longest(run) if number is None else number
        except ResultsError:
            continue
        if (run.path / PATH).is_file() and number < len(jobs) and jobs[number].get("critical_path") is not None:
            yield run, number


def _refused(results: Results, *, wanted: bool | None) -> str:
    """Why no run is simulated again, as a sentence; empty if runs are."""
    refused, named = why.refused(results)
    if refused:
        return refused
    command = f"weft why {why.quoted(results)} --critical-path"
    if named:
        return f"The scenario names other files: {command} --scenario SCENARIO finds the links."
    if wanted is False:
        return f"The runs were not simulated again (--no-why): {command} finds the links."
    return ""


def _left_out(results: Results, found: int, of_all: int, *, wanted: bool | None) -> str:
    """Why paths of other runs have no links."""
    if found == of_all:
        return ""
    shown = f"The links of {found} of {plural(of_all, 'run')} are known"
    command = f"weft why {why.quoted(results)} --critical-path"
    if wanted:
        return f"{shown}: {command} finds the others."
    again = f"weft report {why.quoted(results)} --why"
    return f"{shown}: the others may take over {causes.BUDGET_S:.0f} s of CPU time. {again} or {command} finds them."
