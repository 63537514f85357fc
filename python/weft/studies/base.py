"""What every study is: scenarios to run, claims to hold against the results, figures to draw.

A study's size changes how many seeds and points it runs, never the physics. Its verdicts come from decision rules that
are written down with each claim; a claim that does not hold is reported as such.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from ..errors import OutputError, ResultsError
from ..files import write_text
from ..scenario import Scenario

if TYPE_CHECKING:
    from ..results import Results

INDEX = "study.json"
"""The file that makes a directory that of a study."""


class Size(StrEnum):
    """How much of a study is run."""

    quick = "quick"
    standard = "standard"
    paper = "paper"


class Verdict(StrEnum):
    """What the data say to a claim."""

    held = "held"
    did_not_hold = "did not hold"
    not_measured = "not measured"


@dataclass(frozen=True)
class StudyRow:
    """A claim and what was measured.

    `measured`, `low` and `high` (the 95 % interval) are in `unit`; all three are None if there is no figure. A claim
    that is not measured may have figures beside: what was seen where the claim could not be held against it.
    """

    id: str
    claim: str
    verdict: Verdict
    measured: float | None
    low: float | None
    high: float | None
    unit: str
    note: str


@dataclass(frozen=True)
class Outcome:
    """What a study found: the claims in the order of the paper, and what else is worth saying."""

    rows: list[StudyRow]
    remarks: list[str]


class Observed(Protocol):
    """A run, as far as it matters whether its figures are those of the study or of the machine."""

    @property
    def saturated(self) -> bool:
        """Whether the machine had no processor time left meanwhile; never true of a simulation."""


Run = TypeVar("Run", bound=Observed)


def settled(judge: Callable[[Sequence[Run]], Sequence[StudyRow]], runs: Sequence[Run]) -> list[StudyRow]:
    """The rows of `judge`, none of which says that a claim did not hold because the machine was saturated.

    Runs during which it was are left out where the others suffice for a verdict. Where they do not, all count, and a
    claim that does not hold then is not measured: its figures stay, beside the reason.

    Args:
        judge: Gives the same rows for any of the runs, those that lack runs as not measured.
        runs: All of them.
    """
    rows = list(judge(runs))
    quiet = [run for run in runs if not run.saturated]
    if len(quiet) == len(runs):
        return rows
    said = saturation(runs)[0]
    return [_settled(row, alone, said) for row, alone in zip(rows, judge(quiet), strict=True)]


def saturation(runs: Sequence[Observed]) -> list[str]:
    """That the machine was saturated, and in how many runs; nothing if it never was."""
    number = sum(run.saturated for run in runs)
    return [f"the machine was saturated in {number} of {len(runs)} runs"] if number else []


def _settled(row: StudyRow, alone: StudyRow, said: str) -> StudyRow:
    """A row of all runs, and the same one of those alone during which the machine was not saturated."""
    if alone.verdict is not Verdict.not_measured:
        return replace(alone, note=_notes(alone.note, f"{said}, which are left out"))
    if row.verdict is Verdict.did_not_hold:
        return replace(row, verdict=Verdict.not_measured, note=_notes(said, row.note))
    if row.verdict is Verdict.held:
        return replace(row, note=_notes(row.note, f"though {said}"))
    return row


def _notes(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


class Part(ABC):
    """Some runs of a study, with a directory of their own."""

    name: str

    @abstractmethod
    def runs(self) -> int:
        """How many there are."""

    @abstractmethod
    def check(self) -> None:
        """Refuse what cannot be run on this machine, before anything is run.

        Raises:
            EmulationError: A run is to be emulated and this machine cannot.
        """

    @abstractmethod
    def carry_out(self, out: Path, jobs: int | None, progress: Callable[[dict[str, Any]], None] | None) -> Results:
        """Run what `out` does not hold yet; runs may tell `progress` how far they are.

        Raises:
            OutputError: `out` cannot be used, or a run failed.
        """


class Simulated(Part):
    """The runs of a scenario, in the simulator."""

    def __init__(self, name: str, scenario: Scenario) -> None:
        self.name = name
        self.scenario = scenario

    def runs(self) -> int:
        """The points of its sweep, with every seed."""
        return len(self.scenario.points())

    def check(self) -> None:
        """Whatever is valid can be simulated."""

    def carry_out(self, out: Path, jobs: int | None, progress: Callable[[dict[str, Any]], None] | None) -> Results:
        """As many at a time as `jobs` says."""
        return self.scenario.run(out, jobs=jobs, progress=progress)


class Emulated(Simulated):
    """The runs of a scenario, on real hosts and Linux switches."""

    def check(self) -> None:
        """Every run, and the machine."""
        from ..emulation import sweep

        sweep.check(self.scenario)

    def carry_out(self, out: Path, jobs: int | None, progress: Callable[[dict[str, Any]], None] | None) -> Results:
        """One at a time: they go by the clock."""
        from ..emulation import sweep
        from ..results import Results

        outcome = sweep.emulate(self.scenario, out, progress if progress is not None else lambda _: None)
        if outcome.failed:
            first = outcome.failed[0]
            number = len(outcome.failed)
            raise OutputError(f"{number} emulated runs failed; the first: {first['label']}: {first['error']}")
        return Results(out)


class Study(ABC):
    """A study of a paper; one subclass each."""

    name: ClassVar[str]
    summary: ClassVar[str]
    chosen: ClassVar[str]
    """What the paper leaves open and this study had to choose."""

    @abstractmethod
    def parts(self, size: Size) -> Sequence[Part]:
        """What is run at a size."""

    @abstractmethod
    def judge(self, results: dict[str, Results]) -> Outcome:
        """The claims held against the results of the parts, by part name."""

    @abstractmethod
    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """The paper's figures from the results of the parts."""

    def run(
        self,
        out: Path,
        size: Size,
        *,
        jobs: int | None = None,
        progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> Outcome:
        """Run what `out` does not hold yet, judge the claims and write them to ``study.json``.

        Raises:
            OutputError: `out` belongs to another study or size, cannot be written, or a run failed.
            EmulationError: A part is to be emulated and this machine cannot.
        """
        self._claim_directory(out, size)
        parts = self.parts(size)
        for part in parts:
            part.check()
        results = {}
        for part in parts:
            feed = None if progress is None else _named(part.name, progress)
            results[part.name] = part.carry_out(out / part.name, jobs, feed)
        outcome = self.judge(results)
        write_text(out / INDEX, json.dumps(as_dict(self.name, size, outcome), indent=2, ensure_ascii=False) + "\n")
        return outcome

    def plot(self, directory: Path, out: Path | None, formats: Sequence[str]) -> list[Path]:
        """Draw the paper's figures from the directory of a study.

        Args:
            directory: What `run` wrote.
            out: Where to; default ``figures`` in the directory.
            formats: File types, of `weft.figures.style.FORMATS`.
        """
        results = self.results(directory, Size(read_index(directory)["size"]))
        return self.draw(results, out if out is not None else directory / "figures", formats)

    def results(self, directory: Path, size: Size) -> dict[str, Results]:
        """What `run` wrote of each part.

        Raises:
            ResultsError: The directory lacks a part.
        """
        from ..results import Results

        return {part.name: Results(directory / part.name) for part in self.parts(size)}

    def _claim_directory(self, out: Path, size: Size) -> None:
        if (out / INDEX).is_file():
            index = read_index(out)
            if (index.get("study"), index.get("size")) != (self.name, size):
                raise OutputError(
                    f"{out} holds the study {index.get('study')} at size {index.get('size')}: give another directory"
                )
            return
        if out.is_dir() and any(not entry.name.startswith(".") for entry in out.iterdir()):
            raise OutputError(f"{out} is not empty and holds no study: give a new or empty directory")
        write_text(out / INDEX, json.dumps({"study": self.name, "size": size, "rows": []}) + "\n")


def read_index(directory: Path) -> dict[str, Any]:
    """The ``study.json`` of a directory.

    Raises:
        ResultsError: It cannot be read.
    """
    path = directory / INDEX
    try:
        index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        Size(index["size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} cannot be read: {error}") from None
    return index


def as_dict(study: str, size: Size, outcome: Outcome) -> dict[str, Any]:
    """What ``weft reproduce --json`` prints."""
    rows = [asdict(row) for row in outcome.rows]
    return {"study": study, "size": size.value, "rows": rows, "remarks": outcome.remarks}


def _named(part: str, progress: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Events of a part as events of the study: run ids made unique, totals left to the caller."""

    def forward(event: dict[str, Any]) -> None:
        own = {key: value for key, value in event.items() if key != "total"}
        if event.get("run_id"):
            own |= {"run_id": f"{part}/{event['run_id']}", "label": f"{part}, {event.get('label')}"}
        progress(own)

    return forward
