"""Reading the tables: values by seed, improvements over a baseline, elephants over time."""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from ...statistics import Estimate, estimate
from ..rows import uneven
from .scenarios import DISTRIBUTIONS
from .table import Tables

BySeed = Mapping[int, float]


def _of(table: pl.DataFrame, part: str, sizes: str, scheme: str, load: float) -> pl.DataFrame:
    return table.filter(
        (pl.col("part") == part) & (pl.col("sizes") == sizes) & (pl.col("scheme") == scheme) & (pl.col("load") == load)
    )


def values(tables: Tables, part: str, sizes: str, scheme: str, load: float, klass: str, column: str) -> BySeed:
    """A column of the table of classes by seed."""
    rows = _of(tables.classes, part, sizes, scheme, load).filter(
        (pl.col("class") == klass) & pl.col(column).is_not_null()
    )
    return dict(rows.select("seed", column).iter_rows())


def runs(tables: Tables, part: str, sizes: str, scheme: str, load: float, column: str) -> BySeed:
    """A column of the table of runs by seed."""
    rows = _of(tables.runs, part, sizes, scheme, load).filter(pl.col(column).is_not_null())
    return dict(rows.select("seed", column).iter_rows())


def change(treated: BySeed, baseline: BySeed) -> dict[int, float]:
    """The difference as a share of the baseline's value, by seed."""
    shared = sorted(treated.keys() & baseline.keys())
    return {seed: treated[seed] / baseline[seed] - 1 for seed in shared if baseline[seed]}


def improvement(
    tables: Tables,
    part: str,
    sizes: str,
    load: float,
    klass: str,
    *,
    scheme: str = "tcp_path",
    column: str = "throughput_bps",
    baseline: str = "ecmp",
) -> Estimate | None:
    """The relative change of a class's mean from the baseline to a scheme."""
    found = change(*(values(tables, part, sizes, s, load, klass, column) for s in (scheme, baseline)))
    return estimate(found.values())


Side = tuple[str, str]
"""A part and a scheme."""


def differ(tables: Tables, one: Side, other: Side, sizes: str, load: float, klass: str) -> str:
    """The shares of unfinished flows of two sides whose completion times are compared, if they differ; else empty."""
    shares: dict[str, float | None] = {}
    for part, scheme in (one, other):
        rows = _of(tables.classes, part, sizes, scheme, load).filter(pl.col("class") == klass)
        flows, unfinished = int(rows["flows"].sum()), int(rows["unfinished"].sum())
        shares[scheme if one[0] == other[0] else f"{part} {scheme}"] = unfinished / flows if flows else None
    where = ", ".join(dict.fromkeys((one[0], other[0])))
    return uneven(f"{where}, {sizes}, {100 * load:.0f} % load, {klass}", shares)


def pooled(each: Sequence[Estimate | None]) -> Estimate | None:
    """The mean of estimates, with its interval assuming independence.

    Both distributions use the same seeds, but these give them different flows.
    """
    known = [one for one in each if one is not None]
    if not known or len(known) < len(each) or any(one.half is None for one in known):
        return None
    mean = sum(one.mean for one in known) / len(known)
    half = sum((one.half or 0.0) ** 2 for one in known) ** 0.5 / len(known)
    return Estimate(mean, mean - half, mean + half, min(one.n for one in known))


def percent(value: Estimate | None) -> str:
    """``+12.3 % [10.1, 14.5]``, or a dash."""
    if value is None:
        return "–"
    ends = "" if value.low is None or value.high is None else f" [{100 * value.low:.0f}, {100 * value.high:.0f}]"
    return f"{100 * value.mean:+.0f} %{ends}"


def each(spell: Callable[[str], str]) -> str:
    """Both distributions with the text that `spell` returns."""
    return ", ".join(f"{sizes} {spell(sizes)}" for sizes in DISTRIBUTIONS)


def unfinished(tables: Tables, part: str, load: float) -> str:
    """Number of unfinished flows of a part by scheme."""
    rows = tables.classes.filter((pl.col("part") == part) & (pl.col("load") == load))
    counts = rows.group_by("scheme", maintain_order=True).agg(pl.col("unfinished").sum(), pl.col("flows").sum())
    spelled = ", ".join(f"{scheme} {open_:,}" for scheme, open_, _ in counts.sort("scheme").iter_rows())
    return f"unfinished, of {int(counts['flows'].sum()):,} flows: {spelled}" if len(counts) else ""


def beside(tables: Tables, load: float, klass: str, column: str, parts: Sequence[str]) -> list[str]:
    """The same improvement with another transport, and with the published sizes."""
    notes = []
    for part in parts:
        found = {s: improvement(tables, part, s, load, klass, column=column) for s in DISTRIBUTIONS}
        if any(found.values()):
            notes.append(f"{part}: {each(lambda s, found=found: percent(found[s]))}")  # type: ignore[misc]
    return notes


STABLE = 0.15
"""A mean over the remaining elephants is stable if it stays within this share of its final level (T10)."""

BATCHES = 36
"""Points over a run: the paper's 50 s of 1800 s."""


def evolution(time: pl.DataFrame, part: str, sizes: str, scheme: str) -> list[tuple[float, float]]:
    """Figures 11 and 12, 40 % load: by each batch's start, the mean throughput of elephants from then on."""
    rows = _of(time, part, sizes, scheme, 0.4)
    if not len(rows):
        return []
    last = float(rows["start_s"].max())  # type: ignore[arg-type]
    points = []
    for batch in range(BATCHES):
        start = last * batch / BATCHES
        after = rows.filter(pl.col("start_s") >= start)["throughput_bps"]
        points.append((start, float(after.mean())))  # type: ignore[arg-type]
    return points


def settled(time: pl.DataFrame, part: str, sizes: str, scheme: str) -> float | None:
    """The time from which `evolution` stays within `STABLE` of its value at half time, until two thirds of the run."""
    points = evolution(time, part, sizes, scheme)
    if not points:
        return None
    points, level = points[: 2 * BATCHES // 3], points[BATCHES // 2][1]
    off = [start for start, value in points if abs(value / level - 1) > STABLE]
    later = [start for start, _ in points if not off or start > off[-1]]
    return later[0] if later else points[-1][0]
