"""The claims E3 to E5 and how each is decided: pure functions of the study's tables.

E3 has two rows for each load. The order holds if, for the mean and the 99th percentile, ConWeave is below CONGA, and
CONGA below ECMP and LetFlow. The ratios hold if each scheme's value, divided by ECMP's, is within `TOLERANCE` of the
published one. E4 holds if ConWeave's largest reduction over the loads, against the best other scheme, is within
`POINTS` of the claimed one or above, for both. E5: marks and rates as in the fluid model, within the bounds of the
check of `weft-transport`; no drop and some pauses.
"""

import polars as pl

from ...statistics import Estimate, estimate
from ..outcome import StudyRow
from ..rows import not_measured, row
from . import fluid, published
from .setups import FRAMED, LINE_BPS, LOADS, SCHEMES, SENDERS
from .table import Tables

TOLERANCE = 0.25
"""Largest relative difference of a ratio from the published one."""
POINTS = 10.0
"""Percentage points by which a reduction may be below the claimed one."""
MARKED, FAIR = 0.3, 0.15
"""Largest relative differences from the fluid model's marks, and of a rate from its fair share."""

MEASURES = ("mean", "p99")
ORDER = "slowdowns at {load} % load: ConWeave below CONGA, CONGA below ECMP and LetFlow"
RATIOS = "slowdowns at {load} % load, relative to ECMP's, are the published ones"
E4 = "ConWeave's mean is 42.3 %, its 99th percentile 66.8 % below the best other scheme's"
FIXED = "DCQCN's marks and rates are those of its fluid model's fixed point"
LOSSES = "with priority flow control nothing is lost"


def judge(tables: Tables) -> list[StudyRow]:
    """The rows of E3 by load, then E4 and E5."""
    e3 = [found for load in LOADS for found in (_order(tables.balance, load), _ratios(tables.balance, load))]
    return [*e3, _reduction(tables.balance), _fixed(tables.fixed), _losses(tables.losses)]


def _values(table: pl.DataFrame, load: int) -> dict[str, dict[str, Estimate]] | None:
    """Mean and 99th percentile by scheme; None if a scheme is missing or has unfinished flows."""
    found: dict[str, dict[str, Estimate]] = {}
    for scheme in SCHEMES:
        part = table.filter((pl.col("scheme") == scheme) & (pl.col("load") == load))
        values = {measure: estimate(part[measure]) for measure in MEASURES}
        if part["unfinished"].sum() or None in values.values():
            return None
        found[scheme] = {measure: value for measure, value in values.items() if value is not None}
    return found


MISSING = "runs are missing, or some flows did not finish"


def _order(table: pl.DataFrame, load: int) -> StudyRow:
    ident, claim, unit = f"E3-{load}", ORDER.format(load=load), "ConWeave's mean slowdown"
    found = _values(table, load)
    if found is None:
        return not_measured(ident, claim, unit, MISSING)
    holds = all(
        found["conweave"][name].mean < found["conga"][name].mean < min(found[other][name].mean for other in HASHED)
        for name in MEASURES
    )
    notes = [
        f"{scheme} {values['mean'].mean:.2f}, p99 {values['p99'].mean:.2f} "
        f"(published {published.SLOWDOWN[load][scheme][0]:g}, {published.SLOWDOWN[load][scheme][1]:g})"
        for scheme, values in found.items()
    ]
    return row(ident, claim, holds, found["conweave"]["mean"], unit, notes)


HASHED = ("ecmp", "letflow")


def _ratios(table: pl.DataFrame, load: int) -> StudyRow:
    ident, claim, unit = f"E3-{load}-ratios", RATIOS.format(load=load), "% largest difference"
    found = _values(table, load)
    if found is None:
        return not_measured(ident, claim, unit, MISSING)
    theirs = published.SLOWDOWN[load]
    differences = {
        (scheme, name): (found[scheme][name].mean / found["ecmp"][name].mean)
        / (theirs[scheme][place] / theirs["ecmp"][place])
        - 1
        for scheme in SCHEMES
        for place, name in enumerate(MEASURES)
    }
    where = max(differences, key=lambda key: abs(differences[key]))
    worst = Estimate(100 * differences[where], None, None, 1)
    return row(ident, claim, abs(differences[where]) <= TOLERANCE, worst, unit, [f"the largest: {' '.join(where)}"])


def _reduction(table: pl.DataFrame) -> StudyRow:
    unit = "% largest reduction of the mean"
    reductions: dict[str, list[float]] = {name: [] for name in MEASURES}
    notes = []
    for load in LOADS:
        found = _values(table, load)
        if found is None:
            return not_measured("E4", E4, unit, MISSING)
        for name in MEASURES:
            best = min(values[name].mean for scheme, values in found.items() if scheme != "conweave")
            reductions[name].append(100 * (1 - found["conweave"][name].mean / best))
        notes.append(f"{load} % load: " + ", ".join(f"{name} {reductions[name][-1]:.1f} %" for name in MEASURES))
    most = [max(reductions[name]) for name in MEASURES]
    holds = all(ours >= theirs - POINTS for ours, theirs in zip(most, published.REDUCTION, strict=True))
    return row("E4", E4, holds, Estimate(most[0], None, None, 1), unit, notes)


def _fixed(table: pl.DataFrame) -> StudyRow:
    ident, unit = "E5-fixed-point", "% largest difference of marks"
    differences, unfair, notes = [], [], []
    for senders in SENDERS:
        part = table.filter(pl.col("senders") == senders)
        if part.is_empty() or part["unfinished"].sum():
            return not_measured(ident, FIXED, unit, MISSING)
        expected = fluid.marked(LINE_BPS / senders, FRAMED)
        found = float(part.select(pl.col("marked").mean()).item())
        differences.append(found / expected - 1)
        unfair.append(float(part.select(pl.col("unfairness").max()).item()))
        notes.append(
            f"{senders} senders: {100 * found:.2f} % marked (model {100 * expected:.2f}), "
            f"rates within {100 * unfair[-1]:.1f} % of fair"
        )
    worst = max(differences, key=abs)
    holds = abs(worst) <= MARKED and max(unfair) <= FAIR
    return row(ident, FIXED, holds, Estimate(100 * worst, None, None, 1), unit, notes)


def _losses(table: pl.DataFrame) -> StudyRow:
    ident, unit = "E5-losses", "packets lost"
    if table.is_empty():
        return not_measured(ident, LOSSES, unit, MISSING)
    packets, dropped, pauses = (int(table[name].sum()) for name in ("packets", "dropped", "pauses"))
    if pauses == 0:
        return not_measured(ident, LOSSES, unit, "no port was paused")
    notes = [f"{packets} packets, {pauses} pause frames"]
    return row(ident, LOSSES, dropped == 0, Estimate(float(dropped), None, None, 1), unit, notes)
