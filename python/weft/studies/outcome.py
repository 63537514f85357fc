"""The outcome of a study: claims with their verdicts."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Size(StrEnum):
    """Number of seeds and points of a study, and duration of its runs."""

    quick = "quick"
    standard = "standard"
    paper = "paper"


class Verdict(StrEnum):
    """The verdict on a claim."""

    held = "held"
    did_not_hold = "did not hold"
    not_measured = "not measured"


@dataclass(frozen=True)
class StudyRow:
    """A claim and its measurement.

    `measured`, `low` and `high` (the 95 % interval) are in `unit`; all three are None without a measurement. A claim
    with the verdict "not measured" may have values that do not suffice for a verdict.
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
    """The outcome of a study: the claims in the order of the paper, and further remarks."""

    rows: list[StudyRow]
    remarks: list[str]


def as_dict(study: str, size: Size, outcome: Outcome) -> dict[str, Any]:
    """The output of ``weft reproduce --json``."""
    rows = [asdict(row) for row in outcome.rows]
    return {"study": study, "size": size.value, "rows": rows, "remarks": outcome.remarks}
