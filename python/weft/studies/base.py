"""Base classes of studies: scenarios to run, claims to check against the results, figures to draw.

A study's size changes the number of seeds and points, never the model. Verdicts follow from decision rules that are
documented with each claim; a claim that does not hold is reported as such.
"""

import json
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from ..errors import OutputError, ResultsError
from ..files import write_text
from ..labels import plural
from ..results import Results
from ..scenario import Scenario, Workers
from . import marked_groups
from .outcome import Outcome, Size, StudyRow, Verdict, as_dict

INDEX = "study.json"
"""The file that marks a study's directory."""


class Observed(Protocol):
    """A run whose results may be limited by the machine."""

    @property
    def saturated(self) -> bool:
        """Whether the machine's CPU was saturated during the run; never true for a simulation."""


Run = TypeVar("Run", bound=Observed)


def settled(judge: Callable[[Sequence[Run]], Sequence[StudyRow]], runs: Sequence[Run]) -> list[StudyRow]:
    """The rows of `judge`, such that no claim fails because the machine was saturated.

    Saturated runs are left out if the others suffice for a verdict. Otherwise all runs count, and a claim that does not
    hold then becomes "not measured": its values stay, with the reason. `judge` returns the same rows for any subset of
    the runs; rows without enough runs are "not measured".
    """
    rows = list(judge(runs))
    quiet = [run for run in runs if not run.saturated]
    if len(quiet) == len(runs):
        return rows
    said = saturation(runs)[0]
    return [_settled(row, alone, said) for row, alone in zip(rows, judge(quiet), strict=True)]


def saturation(runs: Sequence[Observed]) -> list[str]:
    """A remark with the number of saturated runs; empty if there are none."""
    number = sum(run.saturated for run in runs)
    return [f"the machine was saturated in {number} of {plural(len(runs), 'run')}"] if number else []


def _settled(row: StudyRow, alone: StudyRow, said: str) -> StudyRow:
    """Merge the row of all runs with the row (`alone`) of the runs without saturation."""
    if alone.verdict is not Verdict.not_measured:
        return replace(alone, note=_notes(alone.note, f"{said}, which are left out"))
    if row.verdict is Verdict.did_not_hold:
        return replace(row, verdict=Verdict.not_measured, note=_notes(said, row.note))
    if row.verdict is Verdict.held:
        return replace(row, note=_notes(row.note, f"though {said}"))
    return row


def _undecided(row: StudyRow, said: str) -> StudyRow:
    """A row without its verdict; its values stay."""
    return replace(row, verdict=Verdict.not_measured, note=_notes(f"no verdict: {said}", row.note))


def _finding(row: StudyRow) -> tuple[Verdict, float | None, float | None, float | None]:
    return row.verdict, row.measured, row.low, row.high


def _notes(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _ignored(event: dict[str, Any]) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class RunOptions:
    """How to run a study: see `weft.Scenario.run`. A cluster runs simulated parts only."""

    jobs: int | None = None
    threads: int | None = None
    progress: Callable[[dict[str, Any]], None] = _ignored
    cluster: Workers | None = None


class Part(ABC):
    """A part of a study's runs, with its own directory."""

    name: str

    @abstractmethod
    def runs(self) -> int:
        """Number of runs."""

    @abstractmethod
    def check(self) -> None:
        """Check that this machine can carry out the runs.

        Raises `EmulationError` if a run needs emulation, which this machine does not support.
        """

    @abstractmethod
    def carry_out(self, out: Path, options: RunOptions) -> Results:
        """Run the points that `out` does not contain yet. Only simulated runs use `options.cluster`.

        Raises `OutputError` if `out` cannot be used, or a run failed.
        """


class Simulated(Part):
    """The runs of a scenario in the simulator."""

    def __init__(self, name: str, scenario: Scenario) -> None:
        self.name = name
        self.scenario = scenario

    def runs(self) -> int:
        """The points of its sweep, with every seed."""
        return len(self.scenario.points())

    def check(self) -> None:
        """Nothing to check: any valid scenario can be simulated."""

    def carry_out(self, out: Path, options: RunOptions) -> Results:
        """Run several runs in parallel."""
        return self.scenario.run(
            out, jobs=options.jobs, threads=options.threads, progress=options.progress, cluster=options.cluster
        )


class Emulated(Simulated):
    """The runs of a scenario, on real hosts and Linux switches."""

    def check(self) -> None:
        """Check every run, and the machine."""
        from ..emulation import sweep

        sweep.check(self.scenario)

    def carry_out(self, out: Path, options: RunOptions) -> Results:
        """Run one at a time, in real time."""
        from ..emulation import sweep

        outcome = sweep.emulate(self.scenario, out, options.progress)
        if outcome.failed:
            first = outcome.failed[0]
            number = len(outcome.failed)
            message = f"{number} emulated runs failed; the first: {first['label']}: {first['error']}"
            raise OutputError(message, begun=True, disk_full=any(entry["disk_full"] for entry in outcome.failed))
        return Results(out)


class Study(ABC):
    """Base class of the studies; one subclass per study."""

    name: ClassVar[str]
    summary: ClassVar[str]
    chosen: ClassVar[str]
    """Choices of this study where the paper gives no details."""
    decision: ClassVar[str] = (
        "Each claim is judged by the rule on the study's page, mostly by its 95 % interval, "
        "not corrected for the number of claims."
    )
    """How claims are judged."""
    of_traffic: ClassVar[Collection[str]] = ()
    """Ids of claims about the generated traffic alone: they do not need runs in a steady state."""
    page: ClassVar[str] = ""
    """The file of the study's own page in its directory, written by `publish`; empty if it has none."""

    @abstractmethod
    def parts(self, size: Size) -> Sequence[Part]:
        """The parts to run for a size."""

    @abstractmethod
    def judge(self, results: dict[str, Results]) -> Outcome:
        """Check the claims against the results of the parts, given by part name.

        Any runs, and any parts, may be missing: claims that need them are "not measured".
        """

    @abstractmethod
    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """The paper's figures from the results of the parts."""

    def needs(self, ident: str, size: Size) -> Size | None:
        """The smallest size with runs for the row of this id, if `size` has none; None by default."""
        return None

    def run(self, out: Path, size: Size, options: RunOptions) -> Outcome:
        """Run the points that `out` does not contain yet, judge the claims and write them to ``study.json``.

        Raises `OutputError` if `out` belongs to another study or size, cannot be written, or a run failed;
        `EmulationError` if a part needs emulation, which this machine does not support.
        """
        self._claim_directory(out, size)
        parts = self.parts(size)
        for part in parts:
            part.check()
        results = {}
        for part in parts:
            own = replace(options, progress=_named(part.name, options.progress))
            results[part.name] = part.carry_out(out / part.name, own)
        outcome = self.judged(results)
        write_text(out / INDEX, json.dumps(as_dict(self.name, size, outcome), indent=2, ensure_ascii=False) + "\n")
        self.publish(out, size, outcome, results)
        return outcome

    def judged(self, results: dict[str, Results]) -> Outcome:
        """The outcome of `judge` without verdicts from runs that were not in a steady state.

        A claim depends on such runs if its verdict or its values change without their groups: all seeds of a scheme at
        a point. If only the note changes, the one without these groups stands.
        """
        outcome = self.judge(results)
        groups = marked_groups.marked_groups(results)
        if not groups:
            return outcome

        @cache
        def without(number: int) -> dict[str, StudyRow]:
            return {row.id: row for row in self.judge(marked_groups.without(results, groups[:number])).rows}

        def judged(row: StudyRow) -> StudyRow:
            def depends(number: int) -> bool:
                other = without(number).get(row.id)
                return other is None or _finding(other) != _finding(row)

            if row.verdict is Verdict.not_measured or row.id in self.of_traffic:
                return row
            if not depends(len(groups)):
                return without(len(groups))[row.id]
            # The first group without which the row is another one.
            matters = groups[bisect_left(range(1, len(groups) + 1), True, key=depends)]
            return _undecided(row, matters.text)

        rows = [judged(row) for row in outcome.rows]
        return replace(outcome, rows=rows, remarks=[*outcome.remarks, marked_groups.remark(groups, results)])

    def publish(self, directory: Path, size: Size, outcome: Outcome, results: dict[str, Results]) -> list[Path]:
        """Write the study's own page and tables into its directory; returns the files, none by default."""
        return []

    def report(self, directory: Path) -> Path:
        """Write the study's own page again, from the results in its directory, and return it.

        Raises `ResultsError` if the study has no page of its own, or a part is missing.
        """
        size = Size(read_index(directory)["size"])
        if not self.page:
            first = directory / self.parts(size)[0].name
            raise ResultsError(f"{directory} holds the parts of a study: report on one of them, such as {first}")
        results = self.results(directory, size)
        self.publish(directory, size, self.judged(results), results)
        return directory / self.page

    def plot(self, directory: Path, out: Path | None, formats: Sequence[str]) -> list[Path]:
        """Draw the paper's figures from a directory written by `run`; by default into its directory ``figures``."""
        results = self.results(directory, Size(read_index(directory)["size"]))
        return self.draw(results, out if out is not None else directory / "figures", formats)

    def results(self, directory: Path, size: Size) -> dict[str, Results]:
        """The results of each part, as written by `run`. Raises `ResultsError` if the directory lacks a part."""
        parts = [part.name for part in self.parts(size)]
        missing = [part for part in parts if not (directory / part).is_dir()]
        if missing:
            raise ResultsError(
                f"{directory} lacks {len(missing)} of the {len(parts)} parts of the study, such as {missing[0]}: run "
                f"them with `weft reproduce {self.name} --size {size} -o {directory}`"
            )
        return {part: Results(directory / part) for part in parts}

    def _claim_directory(self, out: Path, size: Size) -> None:
        if (out / INDEX).is_file():
            index = read_index(out)
            if (index.get("study"), index.get("size")) != (self.name, size):
                raise OutputError(
                    f"{out} contains study {index.get('study')} at size {index.get('size')}: give another directory"
                )
            return
        if out.is_dir() and any(not entry.name.startswith(".") for entry in out.iterdir()):
            raise OutputError(f"{out} is not empty and contains no study: give a new or empty directory")
        write_text(out / INDEX, json.dumps({"study": self.name, "size": size, "rows": []}) + "\n")


def read_index(directory: Path) -> dict[str, Any]:
    """The ``study.json`` of a directory. Raises `ResultsError` if it cannot be read."""
    path = directory / INDEX
    try:
        index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        Size(index["size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} cannot be read: {error}") from None
    return index


def _named(part: str, progress: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Converts events of a part to events of the study: unique run ids, without totals."""

    def forward(event: dict[str, Any]) -> None:
        own = {key: value for key, value in event.items() if key != "total"}
        if event.get("run_id"):
            own |= {"run_id": f"{part}/{event['run_id']}", "label": f"{part}, {event.get('label')}"}
        progress(own)

    return forward
