"""Rows of studies from estimates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..statistics import Estimate
from .outcome import StudyRow, Verdict

UNEVEN = 0.001
"""Largest difference of two shares of unfinished flows at which means over finished flows are compared.

A scheme that leaves its slowest flows unfinished has a better mean over the others.
"""


@dataclass(frozen=True)
class Finding:
    """The result of a claim's rule: the value shown, whether the claim holds (None without a verdict), and notes.

    The first note of one without a verdict is the reason.
    """

    value: Estimate | None
    holds: bool | None
    notes: Iterable[str] = ()


def of_finding(ident: str, claim: str, unit: str, found: Finding | None, missing: str) -> StudyRow:
    """The row of a finding; without one, the claim is not measured, because of the `missing` data."""
    if found is None:
        return not_measured(ident, claim, unit, missing)
    if found.holds is None:
        return beside(ident, claim, found.value, unit, found.notes)
    return row(ident, claim, found.holds, found.value, unit, found.notes)


def not_measured(ident: str, claim: str, unit: str, why: str) -> StudyRow:
    """A row without a value."""
    return StudyRow(ident, claim, Verdict.not_measured, None, None, None, unit, why)


def beside(ident: str, claim: str, value: Estimate | None, unit: str, notes: Iterable[str]) -> StudyRow:
    """A row without a verdict but with a value; the first note is the reason."""
    return replace(row(ident, claim, True, value, unit, notes), verdict=Verdict.not_measured)


def row(ident: str, claim: str, holds: bool, value: Estimate | None, unit: str, notes: Iterable[str]) -> StudyRow:
    """A row with a verdict; notes that are empty are left out."""
    verdict = Verdict.held if holds else Verdict.did_not_hold
    measured, low, high = (value.mean, value.low, value.high) if value else (None, None, None)
    return StudyRow(ident, claim, verdict, measured, low, high, unit, "; ".join(note for note in notes if note))


def below(ident: str, claim: str, limit: float, value: Estimate, unit: str, notes: Iterable[str]) -> StudyRow:
    """The row of a claim that holds if the whole interval is below a limit; without an interval, it is not measured."""
    if value.high is None:
        return beside(ident, claim, value, unit, ["one seed", *notes])
    return row(ident, claim, value.high < limit, value, unit, notes)


def uneven(where: str, shares: Mapping[str, float | None]) -> str:
    """The shares of unfinished flows of the sides of a comparison if they differ by more than `UNEVEN`; else empty."""
    known = [share for share in shares.values() if share is not None]
    if not known or max(known) - min(known) <= UNEVEN:
        return ""
    each = ", ".join(f"{side} {100 * share:.1f} %" for side, share in shares.items() if share is not None)
    return f"unfinished flows, {where}: {each}"


def decided(holds: bool, differ: Iterable[str], notes: Iterable[str]) -> tuple[bool | None, list[str]]:
    """Whether a claim holds, and its notes: None, with the reason first, if any text of `uneven` is not empty."""
    reasons = [one for one in differ if one]
    if not reasons:
        return holds, list(notes)
    return None, [f"no verdict: means over finished flows are not comparable; {'; '.join(reasons)}", *notes]


def spelled(found: Estimate, sign: str = "") -> str:
    """An estimate in per cent, as text; `sign` as in format specifications."""
    interval = "" if found.low is None or found.high is None else f" [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return f"{100 * found.mean:{sign}.1f}{interval}"


def measured(found: StudyRow) -> str:
    """The value of a row with its interval and unit, e.g. ``12.3 [10.1, 14.5] % above ECMP``, or a dash."""
    if found.measured is None:
        return "–"
    ends = "" if found.low is None or found.high is None else f" [{_digits(found.low)}, {_digits(found.high)}]"
    return f"{_digits(found.measured)}{ends} {found.unit}"


def _digits(value: float) -> str:
    """One decimal, or two significant digits below 0.1."""
    return f"{value:.1f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"
