"""The claims E1 and E2 and how each is decided: pure functions of `table.SCHEMA`.

E1 has a row for each number of hosts. It holds if the mean over seeds of the last flow's completion is within
`TOLERANCE` of csg-htsim's for every number of entropies. E2 has two rows: the order of the three kinds of queues, at
any number of hosts, and htsim's values, which are for 8192 hosts only.
"""

import polars as pl

from ...statistics import Estimate, estimate
from ..outcome import StudyRow
from ..rows import not_measured, row
from . import published
from .setups import entropies, paths

TOLERANCE = 0.10
"""Largest relative difference from a published value: the bound of the claim."""

E1 = "last flow's completion by entropies is htsim's, {hosts} hosts"
E2 = "trimming ends the last flows earlier than large queues, choice by marks earlier still, with 32 and 256 entropies"
E2_VALUES = "median, 99th percentile and maximum are htsim's"
UNIT = "% largest difference"


def judge(table: pl.DataFrame) -> list[StudyRow]:
    """The rows of E1, then those of E2."""
    e1 = table.filter(pl.col("kind") == "hosts")
    rows = [_last(e1.filter(pl.col("hosts") == hosts), hosts) for hosts in sorted(e1["hosts"].unique())]
    e2 = table.filter(pl.col("kind") != "hosts")
    return [*rows, _order(e2), _values(e2)]


def _last(table: pl.DataFrame, hosts: int) -> StudyRow:
    ident, claim = f"E1-{hosts}", E1.format(hosts=hosts)
    if table["unfinished"].sum():
        return not_measured(ident, claim, UNIT, "some flows did not finish")
    place = published.HOSTS.index(hosts)
    found: dict[int, Estimate] = {}
    for asked in published.LAST_US:
        number = min(asked, paths(hosts))
        value = estimate(table.filter(pl.col("entropies") == number)["max"])
        if value is None:
            return not_measured(ident, claim, UNIT, f"no run with {number} entropies")
        found[asked] = value.scaled(1 / published.LAST_US[asked][place]).shifted(-1)
    worst = max(found.values(), key=lambda value: abs(value.mean))
    each = [
        f"{asked} entropies: {_us(published.LAST_US[asked][place] * (1 + value.mean))} "
        f"(htsim {_us(published.LAST_US[asked][place])}, {100 * value.mean:+.1f} %)"
        for asked, value in found.items()
    ]
    limited = "" if len(entropies(hosts, tuple(published.LAST_US))) == len(published.LAST_US) else _limited(hosts)
    return row(ident, claim, abs(worst.mean) <= TOLERANCE, worst.scaled(100), UNIT, [*each, limited])


def _limited(hosts: int) -> str:
    return f"more than {paths(hosts)} entropies are {paths(hosts)}, the number of paths"


def _order(table: pl.DataFrame) -> StudyRow:
    means = {key: _means(table, *key) for key in published.DISTRIBUTION_US}
    if any(value is None for value in means.values()):
        return not_measured("E2", E2, "%", "runs are missing, or some flows did not finish")
    maxima = {key: value["max"] for key, value in means.items() if value is not None}
    holds = all(
        maxima["large", number] > maxima["trim", number] > maxima["ecn", number]
        for number in sorted({number for _, number in maxima})
    )
    gain = 100 * (maxima["ecn", 32] / maxima["large", 32] - 1)
    notes = [
        f"{kind}, {number} entropies: " + ", ".join(f"{name} {_us(value)}" for name, value in found.items())
        for (kind, number), found in means.items()
        if found is not None
    ]
    hosts = sorted(table["hosts"].unique())
    notes.append(f"{hosts[0]} hosts")
    value = Estimate(gain, None, None, 1)
    return row("E2", E2, holds, value, "% choice by marks against large queues, 32 entropies", notes)


def _values(table: pl.DataFrame) -> StudyRow:
    part = table.filter(pl.col("hosts") == published.DISTRIBUTION_HOSTS)
    if part.is_empty():
        why = f"the values are for {published.DISTRIBUTION_HOSTS} hosts, which size paper has"
        return not_measured("E2-8192", E2_VALUES, UNIT, why)
    differences: dict[str, float] = {}
    for key, values in published.DISTRIBUTION_US.items():
        means = _means(part, *key)
        if means is None:
            return not_measured("E2-8192", E2_VALUES, UNIT, "runs are missing, or some flows did not finish")
        for name, value in zip(published.QUANTILES, values, strict=True):
            differences[f"{name} of {key[0]}, {key[1]} entropies"] = means[name] / value - 1
    where = max(differences, key=lambda name: abs(differences[name]))
    holds = abs(differences[where]) <= TOLERANCE
    worst = Estimate(100 * differences[where], None, None, 1)
    return row("E2-8192", E2_VALUES, holds, worst, UNIT, [f"the largest: {where}"])


def _means(table: pl.DataFrame, kind: str, number: int) -> dict[str, float] | None:
    part = table.filter((pl.col("kind") == kind) & (pl.col("entropies") == number))
    if part.is_empty() or part["unfinished"].sum():
        return None
    return {name: float(part.select(pl.col(name).mean()).item()) for name in published.QUANTILES}


def _us(value: float) -> str:
    return f"{value:.0f} us"
