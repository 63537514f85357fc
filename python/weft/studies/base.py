"""What every study is: scenarios to run, claims to hold against the results, figures to draw.

A study's size changes how many seeds and points it runs, never the physics. Its verdicts come from decision rules that
are written down with each claim; a claim that does not hold is reported as such.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

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

    `measured`, `low` and `high` (the 95 % interval) are in `unit`; all three are None if nothing was measured.
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


@dataclass(frozen=True)
class Part:
    """One scenario of a study, run into a directory of its own."""

    name: str
    scenario: Scenario
    emulated: bool = False
    """Whether it runs on real hosts instead of in the simulator."""


class Study(ABC):
    """A study of a paper; one subclass each."""

    name: ClassVar[str]
    summary: ClassVar[str]
    chosen: ClassVar[str]
    """What the paper leaves open and this study had to choose."""

    @abstractmethod
    def parts(self, size: Size) -> list[Part]:
        """The scenarios to run at a size."""

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
        _check_emulated(parts)
        results = {}
        for part in parts:
            feed = None if progress is None else _named(part.name, progress)
            if part.emulated:
                results[part.name] = _emulate(part.scenario, out / part.name, feed)
            else:
                results[part.name] = part.scenario.run(out / part.name, jobs=jobs, progress=feed)
        outcome = self.judge(results)
        write_text(out / INDEX, json.dumps(as_dict(self.name, size, outcome), indent=2, ensure_ascii=False) + "\n")
        return outcome

    def plot(self, directory: Path, out: Path | None, formats: Sequence[str]) -> list[Path]:
        """Draw the paper's figures from the directory of a study.

        Args:
            directory: What `run` wrote.
            out: Where to; default ``figures`` in the directory.
            formats: File types that matplotlib knows.
        """
        from ..results import Results

        index = read_index(directory)
        names = [part.name for part in self.parts(Size(index["size"]))]
        results = {name: Results(directory / name) for name in names}
        return self.draw(results, out if out is not None else directory / "figures", formats)

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


def _check_emulated(parts: Sequence[Part]) -> None:
    """Refuse before anything is run what could not be emulated here."""
    from ..emulation import sweep

    for part in parts:
        if part.emulated:
            sweep.check(part.scenario)


def _emulate(scenario: Scenario, out: Path, progress: Callable[[dict[str, Any]], None] | None) -> Results:
    from ..emulation import sweep
    from ..results import Results

    outcome = sweep.emulate(scenario, out, progress if progress is not None else lambda _: None)
    if outcome.failed:
        first = outcome.failed[0]
        raise OutputError(f"{len(outcome.failed)} emulated runs failed; the first: {first['label']}: {first['error']}")
    return Results(out)


def _named(part: str, progress: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Events of a part as events of the study: run ids made unique, totals left to the caller."""

    def forward(event: dict[str, Any]) -> None:
        own = {key: value for key, value in event.items() if key != "total"}
        if event.get("run_id"):
            own |= {"run_id": f"{part}/{event['run_id']}", "label": f"{part}, {event.get('label')}"}
        progress(own)

    return forward
