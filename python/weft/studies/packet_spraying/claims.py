"""The claims P1 to P7 and how each is decided: pure functions of `table.SCHEMA`.

All intervals are 95 % Student t intervals over seeds, of differences taken seed by seed: the same seed gives both
schemes the same flows. If a claim covers several numbers of long flows, a seed's value is the mean over them, so every
number has equal weight. A claim about "above", "below", "rises" or "falls" holds only if the whole interval is on that
side; with an interval that includes zero, the claim did not hold.

The rows are decided with the transport that the paper most likely used; the note gives the results with today's Linux
transport, and with per-flow ECMP instead of spraying.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from ...samples import slope
from ...statistics import Estimate, estimate
from ..outcome import StudyRow
from ..rows import beside, decided, not_measured, row, uneven
from .scenarios import LINK_BPS, PACKET_ON_WIRE, SEGMENT, TRANSPORTS

SLIGHT = 0.25
"""Maximum share for a "slight" difference (P1, P7)."""
CLEAR = 0.05
"""A difference whose interval is above this share is "clear" (P4)."""
BOUND_SLACK = 1.05
"""A mean up to this factor of the fair share counts as bounded by it: the last flows finish with the others gone."""
CONSTANT = 0.05
"""Out-of-order shares that differ by less than this (five percentage points) are "about constant" (P3)."""
ABOUT_20 = (0.15, 0.25)
"""Range for "about 20 %" (P6)."""

THROUGHPUT, FCT, DISORDER = "long_throughput_bps", "short_fct_s", "out_of_order_share"


@dataclass(frozen=True)
class Finding:
    """The result of a claim for one transport: the measured value as a share, its interval, whether the claim holds."""

    value: Estimate
    holds: bool
    detail: str = ""


def judge(table: pl.DataFrame) -> list[StudyRow]:
    """The rows P1 to P7."""
    return [_row(table, claim) for claim in CLAIMS]


@dataclass(frozen=True)
class Claim:
    """A claim, its unit, and the rule that decides it for one transport."""

    id: str
    kind: str
    """The pairs of hosts that it is about: ``static`` or ``random``."""
    text: str
    unit: str
    rule: Callable[[pl.DataFrame, str], Finding | None]
    """Takes the rows of one transport and the scheme to judge; None if the data do not suffice."""
    versus_ecmp: bool = True
    """Whether the comparison with ECMP is meaningful."""
    sides: tuple[tuple[str, int], ...] = ()
    """The schemes and numbers of short flows whose means are compared."""


def _row(table: pl.DataFrame, claim: Claim) -> StudyRow:
    main, *others = TRANSPORTS
    found = claim.rule(table.filter(pl.col("transport") == main), "spray")
    if found is None:
        why = f"not enough runs with {main}: at least two seeds of both schemes are needed"
        return not_measured(claim.id, claim.text, claim.unit, why)
    notes = [found.detail]
    for other in others:
        notes.append(_beside(other, claim.rule(table.filter(pl.col("transport") == other), "spray"), found))
    if claim.versus_ecmp:
        ecmp = claim.rule(table.filter(pl.col("transport") == main), "ecmp")
        if ecmp is not None:
            notes.append(f"per-flow ECMP instead of spraying: {_spelled(ecmp)}")
    holds, notes = decided(found.holds, _unfinished(table, main, claim), notes)
    if holds is None:
        return beside(claim.id, claim.text, found.value.scaled(100), claim.unit, notes)
    return row(claim.id, claim.text, holds, found.value.scaled(100), claim.unit, notes)


def _unfinished(table: pl.DataFrame, transport: str, claim: Claim) -> list[str]:
    """The shares of unfinished flows of the sides of a claim, where they differ by the number of long flows."""
    runs = table.filter((pl.col("transport") == transport) & (pl.col("kind") == claim.kind))
    found = []
    for (long,), part in runs.group_by("long", maintain_order=True):
        of = {
            f"{scheme}, {short} short": part.filter((pl.col("scheme") == scheme) & (pl.col("short") == short))
            for scheme, short in claim.sides
        }
        shares = {side: own["unfinished"].mean() for side, own in of.items()}
        found.append(uneven(f"{claim.kind} pairs, {long} long, {transport}", shares))  # type: ignore[arg-type]
    return found


def _beside(transport: str, other: Finding | None, main: Finding) -> str:
    if other is None:
        return f"with {transport}: not measured"
    verdict = "held" if other.holds else "did not hold"
    if other.holds != main.holds:
        return f"depends on the transport: with {transport} it {verdict}, {_spelled(other)}"
    return f"with {transport} it {verdict} too, {_spelled(other)}"


def _spelled(found: Finding) -> str:
    value = found.value.scaled(100)
    # Adding zero turns a rounded minus zero into zero.
    mean, *ends = (None if x is None else round(x, 1) + 0.0 for x in (value.mean, value.low, value.high))
    return f"{mean:.1f}" if None in ends else f"{mean:.1f} [{ends[0]:.1f}, {ends[1]:.1f}]"


Points = dict[tuple[int, int], dict[int, float]]
"""Values by (short, long) flows and seed."""


def points(table: pl.DataFrame, kind: str, scheme: str, column: str, short: int, least_long: int = 0) -> Points:
    """The values of a column for one scenario, scheme and number of short flows."""
    part = table.filter(
        (pl.col("kind") == kind)
        & (pl.col("scheme") == scheme)
        & (pl.col("short") == short)
        & (pl.col("long") >= least_long)
        & pl.col(column).is_not_null()
    )
    found: Points = defaultdict(dict)
    for long, seed, value in part.select("long", "seed", column).sort("long", "seed").iter_rows():
        found[(short, long)][seed] = value
    return dict(found)


def relative(treated: Points, baseline: Points) -> Estimate | None:
    """Mean over the points of (treated - baseline) as a share of the point's mean baseline, with its interval.

    None with fewer than two seeds that have every point.
    """
    shared = sorted(treated.keys() & baseline.keys())
    if not shared:
        return None
    seeds = set.intersection(*(set(treated[p]) & set(baseline[p]) for p in shared))
    if len(seeds) < 2:
        return None
    means = {p: sum(baseline[p][s] for s in seeds) / len(seeds) for p in shared}
    values = [sum((treated[p][s] - baseline[p][s]) / means[p] for p in shared) / len(shared) for s in sorted(seeds)]
    return estimate(values)


def _regrouped(values: Points, short: int) -> Points:
    """The same values as if there were `short` short flows, to compare numbers of short flows."""
    return {(short, long): by_seed for (_, long), by_seed in values.items()}


def _slopes(x: Sequence[int], by_seed: dict[int, list[float]]) -> Estimate | None:
    return estimate(slope(x, y) for y in by_seed.values()) if len(by_seed) > 1 and len(x) > 1 else None


def _by_seed(values: Points) -> tuple[list[int], dict[int, list[float]]]:
    """Numbers of long flows, and for each seed that has them all its values in that order."""
    keys = sorted(values, key=lambda key: key[1])
    seeds = set.intersection(*(set(values[key]) for key in keys)) if keys else set()
    return [long for _, long in keys], {seed: [values[key][seed] for key in keys] for seed in sorted(seeds)}


def static_throughput(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P1 holds if the long flows' mean throughput is above single-path's by at most `SLIGHT`, and all are bounded.

    Measured is the relative difference, averaged over one to five long flows; its whole interval must lie above zero
    and its mean at or below `SLIGHT`. Bounded means: no scheme's mean at any number n of long flows exceeds
    `BOUND_SLACK` times the n-th part of the capacity of the link E7-S15.
    """
    treated = points(table, "static", scheme, THROUGHPUT, 1, 1)
    single = points(table, "static", "single_path", THROUGHPUT, 1, 1)
    difference = relative(treated, single)
    if difference is None or difference.low is None:
        return None
    shares = [
        sum(by_seed.values()) / len(by_seed) * long * PACKET_ON_WIRE / SEGMENT / LINK_BPS
        for values in (treated, single)
        for (_, long), by_seed in values.items()
    ]
    largest = max(shares)
    conditions = (
        (difference.low > 0, "the interval of the difference is not above zero"),
        (difference.mean <= SLIGHT, f"the difference is more than slight, above {SLIGHT * 100:.1f} %"),
        (largest <= BOUND_SLACK, f"a mean exceeds the bound of {BOUND_SLACK * 100:.1f} % of the fair share"),
    )
    failed = [words for holds, words in conditions if not holds]
    detail = (
        f"the largest mean is {largest * 100:.1f} % of the fair share of E7-S15, the bound {BOUND_SLACK * 100:.1f} % "
        "(a mean of per-flow throughputs may exceed the fair share when flows end at different times)"
    )
    if failed:
        detail = f"failed: {' and '.join(failed)}; {detail}"
    return Finding(difference, not failed, detail)


def static_completion(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P2 holds if the short flow's FCT is lower than with a single path, and the gap grows with the long flows.

    Measured is the reduction as a share of single-path's FCT, averaged over one to five long flows; its whole interval
    must lie above zero. The gap (single-path's FCT minus this one's, in seconds) is fitted with a line over zero to
    five long flows, seed by seed; the whole interval of the slope must lie above zero.
    """
    treated = points(table, "static", scheme, FCT, 1)
    single = points(table, "static", "single_path", FCT, 1)
    change = relative(
        {key: v for key, v in treated.items() if key[1] > 0}, {key: v for key, v in single.items() if key[1] > 0}
    )
    numbers, gaps = _by_seed(
        {
            key: {seed: single[key][seed] - value for seed, value in by_seed.items() if seed in single[key]}
            for key, by_seed in treated.items()
            if key in single
        }
    )
    growth = _slopes(numbers, gaps)
    if change is None or change.high is None or growth is None or growth.low is None or growth.high is None:
        return None
    detail = (
        f"the gap changes by {growth.mean * 1e6:+.0f} µs [{growth.low * 1e6:+.0f}, {growth.high * 1e6:+.0f}] "
        f"with each long flow; {_loss(table, scheme)}"
    )
    return Finding(change.scaled(-1), change.high < 0 and growth.low > 0, detail)


def _loss(table: pl.DataFrame, scheme: str) -> str:
    """An explanation of long FCTs: spurious retransmissions due to reordering, with few or no losses."""
    part = table.filter((pl.col("kind") == "static") & (pl.col("scheme") == scheme) & (pl.col("long") > 0))
    again, lost = (estimate(part[column]) for column in ("short_retransmissions", "short_drops"))
    if again is None or lost is None:
        return "retransmissions were not measured"
    return f"per short flow, {again.mean:.1f} packets are retransmitted and {lost.mean:.1f} lost"


def static_disorder(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P3 holds if the out-of-order share stays within `CONSTANT` from two long flows on.

    Measured is the change from two to five long flows, from the line fitted to each seed's shares; its whole interval
    must lie within `CONSTANT` of zero, and the mean share at each number within `CONSTANT` of their common mean.
    """
    values = points(table, "static", scheme, DISORDER, 1, 2)
    numbers, by_seed = _by_seed(values)
    trend = _slopes(numbers, by_seed)
    if trend is None or trend.low is None or trend.high is None:
        return None
    change = trend.scaled(numbers[-1] - numbers[0])
    means = [sum(seed.values()) / len(seed) for seed in values.values()]
    common = sum(means) / len(means)
    within = max(abs(mean - common) for mean in means) <= CONSTANT
    ends = (change.low, change.high)
    holds = within and all(end is not None and abs(end) <= CONSTANT for end in ends)
    shares = ", ".join(f"{mean * 100:.1f}" for mean in means)
    return Finding(change, holds, f"{shares} % out of order with {numbers[0]} to {numbers[-1]} long flows")


def random_throughput(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P4 holds if the long flows' mean throughput is clearly above single-path's, with 20 short flows.

    Measured is the relative difference, averaged over the numbers of long flows; its whole interval must lie above
    `CLEAR`.
    """
    difference = relative(
        points(table, "random", scheme, THROUGHPUT, 20, 1), points(table, "random", "single_path", THROUGHPUT, 20, 1)
    )
    if difference is None or difference.low is None:
        return None
    return Finding(difference, difference.low > CLEAR)


def random_completion(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P5 holds if the short flows' mean FCT is lower than with a single path, with 20 short flows.

    Measured is the reduction as a share of single-path's FCT, averaged over the numbers of long flows; its whole
    interval must lie above zero.
    """
    change = relative(points(table, "random", scheme, FCT, 20, 1), points(table, "random", "single_path", FCT, 20, 1))
    if change is None or change.high is None:
        return None
    return Finding(change.scaled(-1), change.high < 0)


def random_disorder(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P6 holds if the mean out-of-order share of the short flows' packets is within `ABOUT_20`, with 20 short flows.

    Measured is the share, averaged over the numbers of long flows.
    """
    values = points(table, "random", scheme, DISORDER, 20, 1)
    numbers, by_seed = _by_seed(values)
    share = estimate(sum(row) / len(row) for row in by_seed.values())
    if share is None or share.low is None:
        return None
    means = [sum(seed.values()) / len(seed) * 100 for seed in values.values()]
    detail = f"{min(means):.1f} to {max(means):.1f} % with {numbers[0]} to {numbers[-1]} long flows"
    return Finding(share, ABOUT_20[0] <= share.mean <= ABOUT_20[1], detail)


def more_short_flows(table: pl.DataFrame, scheme: str) -> Finding | None:
    """P7 holds if with 20 instead of 10 short flows long throughput falls by at most `SLIGHT` and short FCT rises.

    Measured is the relative change of the long flows' mean throughput under spraying, averaged over the numbers of long
    flows; its whole interval must lie below zero and its mean at or above minus `SLIGHT`. The whole interval of the
    relative change of the short flows' mean FCT must lie above zero.
    """

    def change(column: str) -> Estimate | None:
        many, few = (points(table, "random", scheme, column, short, 1) for short in (20, 10))
        return relative(many, _regrouped(few, 20))

    throughput, completion = change(THROUGHPUT), change(FCT)
    if throughput is None or completion is None or throughput.high is None or completion.low is None:
        return None
    holds = throughput.high < 0 and throughput.mean >= -SLIGHT and completion.low > 0
    rise = completion.scaled(100)
    detail = f"short flows' FCT changes by {rise.mean:+.1f} % [{rise.low:+.1f}, {rise.high:+.1f}]"
    return Finding(throughput, holds, detail)


CLAIMS = (
    Claim(
        "P1",
        "static",
        "static: spraying's mean long-flow throughput is slightly above single-path's; both bounded by the fair share",
        "% above single path",
        static_throughput,
        sides=(("spray", 1), ("single_path", 1)),
    ),
    Claim(
        "P2",
        "static",
        "static: short-flow FCT is lower with spraying, the gap growing with the number of long flows",
        "% below single path",
        static_completion,
        sides=(("spray", 1), ("single_path", 1)),
    ),
    Claim(
        "P3",
        "static",
        "static: the share of out-of-order packets stays about constant from two long flows on",
        "percentage points from 2 to 5 long flows",
        static_disorder,
        versus_ecmp=False,
    ),
    Claim(
        "P4",
        "random",
        "random: spraying's long-flow throughput is clearly above single-path's",
        "% above single path",
        random_throughput,
        sides=(("spray", 10), ("single_path", 10)),
    ),
    Claim(
        "P5",
        "random",
        "random: short-flow FCT is lower with spraying",
        "% below single path",
        random_completion,
        sides=(("spray", 10), ("single_path", 10)),
    ),
    Claim(
        "P6",
        "random",
        "random: about 20 % of the short flows' packets arrive out of order",
        "% of packets",
        random_disorder,
        versus_ecmp=False,
    ),
    Claim(
        "P7",
        "random",
        "random: with 20 instead of 10 short flows long-flow throughput falls slightly, short FCT rises",
        "% change of throughput",
        more_short_flows,
        versus_ecmp=False,
        sides=(("spray", 20), ("spray", 10)),
    ),
)
"""The claims in the order of the paper."""
