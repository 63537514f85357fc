"""The rows of the study, by number of GPUs: fabrics, hosts, and failed uplinks.

No paper has these claims. A row holds if the whole 95 % interval, paired by seed, is below its threshold; without an
interval it is not measured. The intervals are not corrected for the number of rows.
"""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from ..outcome import StudyRow
from ..rows import below, not_measured
from . import times
from .setups import CLUSTERS, COLLECTIVES, FABRICS, HOSTS, STATES, Case, cases

MARGINS = {"hierarchical-all-reduce": 5.0, "all-to-all": 10.0}
"""Per cent of time by which rails may be slower than the fat-tree."""
QUESTIONS = {"hierarchical-all-reduce": "Q1", "all-to-all": "Q2"}
TIME, POINTS = "% time", "points of loss"


def judge(table: pl.DataFrame) -> list[StudyRow]:
    """Rows of the fabrics (Q1, Q2), of the hosts (Q3), and of failed uplinks (Q4)."""
    rows = []
    for name, collective in COLLECTIVES.items():
        for gpus in collective.megabytes:
            pair = tuple(Case(gpus, fabric, "uec", "whole", name) for fabric in ("rails", "tree"))
            margin = MARGINS[name]
            claim = (
                f"UEC, {gpus} GPUs: {collective.title} takes at most {margin:g} % more time on rails than on a fat-tree"
            )
            rows.append(_row(table, f"{QUESTIONS[name]}-{gpus}", claim, pair, margin))
    for ident, where, pair in _both():
        claim = f"{where}: sprayed UEC takes less time than RoCE with a path for each connection"
        rows.append(_row(table, f"Q3-{ident}", claim, pair, 0))
    for ident, where, pair in _both():
        claim = f"{where}: failed uplinks cost sprayed UEC a smaller share of time than RoCE"
        rows.append(_loss(table, f"Q4-{ident}", claim, pair))
    return rows


def remarks(table: pl.DataFrame) -> list[str]:
    """The times of all cases that ended, and which did not or had timeouts."""
    found = ["the intervals are not corrected for the number of rows"]
    for case in cases(tuple(CLUSTERS)):
        rows = times.of_case(table, case)
        if rows.is_empty():
            continue
        time, ratio = times.mean(table, case), times.mean(table, case, "ratio")
        said = (
            "not finished" if time is None or ratio is None else f"{time.mean:.0f} us, {ratio.mean:.2f} times the bound"
        )
        late = rows.filter(pl.col("timeouts") > 0)["seed"].n_unique()
        timeouts = f", timeouts in {late} of {rows['seed'].n_unique()} runs" if late else ""
        found.append(f"{_title(case)}: {said}{timeouts}")
    return found


def _both() -> Iterator[tuple[str, str, tuple[Case, Case]]]:
    """Id, place and the cases of UEC and RoCE of each fabric, collective and number of GPUs."""
    for case in cases(tuple(CLUSTERS)):
        if (case.hosts, case.state) == ("uec", "whole"):
            title = COLLECTIVES[case.collective].title
            where = f"{title} on {FABRICS[case.fabric]}, {case.gpus} GPUs"
            yield f"{title}-{case.fabric}-{case.gpus}", where, (case, replace(case, hosts="roce"))


def _title(case: Case) -> str:
    title, fabric = COLLECTIVES[case.collective].title, FABRICS[case.fabric]
    return f"{case.gpus} GPUs, {title}, {fabric}, {HOSTS[case.hosts].title}, {STATES[case.state]}"


def _missing(table: pl.DataFrame, needed: tuple[Case, ...]) -> str:
    """The reason why cases have no value."""
    absent = [case for case in needed if times.by_seed(table, case) is None]
    never = [case for case in absent if times.of_case(table, case).is_empty()]
    return "; ".join(f"{'not run' if case in never else 'not finished'}: {_title(case)}" for case in absent)


def _row(table: pl.DataFrame, ident: str, claim: str, pair: tuple[Case, ...], limit: float) -> StudyRow:
    one, other = pair
    value = times.more(table, one, other)
    if value is None:
        return not_measured(ident, claim, TIME, _missing(table, pair))
    each = [f"{_title(case)}: {found.mean:.0f} us" for case in pair if (found := times.mean(table, case)) is not None]
    return below(ident, claim, limit, value, TIME, each)


def _loss(table: pl.DataFrame, ident: str, claim: str, pair: tuple[Case, Case]) -> StudyRow:
    value = times.loss_more(table, *pair)
    if value is None:
        needed = tuple(replace(case, state=state) for case in pair for state in STATES)
        return not_measured(ident, claim, POINTS, _missing(table, needed))
    each = [
        f"{HOSTS[case.hosts].title} {found.mean:+.1f} % time"
        for case in pair
        if (found := times.loss(table, case)) is not None
    ]
    return below(ident, claim, 0, value, POINTS, each)
