"""The decision rules of the rows L1 to L9, as pure functions of the tables of `table` and `measures`.

Most of the papers say "up to": such a claim holds if the best case reaches `REACHED` of the paper's number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from ...statistics import Estimate, paired_ratio, relative_difference
from ..rows import Finding, decided, spelled, uneven
from .measures import UNFINISHED
from .own import HERMES_LOAD, HERMES_RIVALS, PATTERNS, SHORT_GAP, TESTBED_LOADS, WITH_DCTCP
from .standing import standing

REACHED = 0.8
"""Share of the paper's number that a claim with "up to", or with one number, must reach."""
FIVE_TIMES, TWENTY_FIVE_TIMES = 5.0, 25.0
MILD, LARGE = 1.2, 2.0
"""LetFlow's mean completion time over CONGA's, at most (L2)."""
DRILL_GAIN = (1.3, 1.4)
BISECTION, BISECTION_SLACK, HEDERA_GAIN = 0.96, 0.05, 1.13
TRACKS = 1.1
"""A slowdown up to this factor of the single switch's tracks it (L5)."""
PLB = {"imbalance": -0.60, "drops": -0.33, "small_p99_s": -0.20}
HERMES_GAIN, HERMES_FAILURE = {"conga": 0.10, "clove": 0.20}, 0.32


@dataclass(frozen=True)
class Tables:
    """The survey, the claims' own setups, and why schemes do not run in situations of the survey."""

    survey: pl.DataFrame
    own: pl.DataFrame
    refused: Mapping[tuple[str, str], str]


def values(tables: Tables, part: str, scheme: str, column: str, load: float | None = None) -> dict[int, float]:
    """A column of the table of own setups, by seed."""
    rows = tables.own.filter((pl.col("part") == part) & (pl.col("scheme") == scheme) & pl.col(column).is_not_null())
    if load is not None:
        rows = rows.filter(pl.col("load") == load)
    return dict(rows.select("seed", column).iter_rows())


def ratio(
    tables: Tables, part: str, above: str, below: str, column: str = "mean_fct_s", load: float | None = None
) -> Estimate | None:
    """A column of one scheme over that of another; None without an interval."""
    found = paired_ratio(values(tables, part, above, column, load), values(tables, part, below, column, load))
    return None if found is None or found.low is None else found


Side = tuple[str, str]
"""A part and a scheme."""


def differ(tables: Tables, one: Side, other: Side, column: str = "mean_fct_s", load: float | None = None) -> str:
    """The shares of unfinished flows of two sides whose values are compared, if they differ; else empty."""
    shares = {}
    for part, scheme in (one, other):
        found = values(tables, part, scheme, UNFINISHED[column], load).values()
        shares[scheme if one[0] == other[0] else f"{part} {scheme}"] = sum(found) / len(found) if found else None
    where = ", ".join(dict.fromkeys((one[0], other[0]))) + ("" if load is None else f", {100 * load:.0f} % load")
    return uneven(where, shares)


def _finding(value: Estimate, holds: bool, unequal: Iterable[str], notes: Iterable[str]) -> Finding:
    """The result for a claim, without a verdict if unfinished flows differ."""
    return Finding(value, *decided(holds, unequal, notes))


def _over_loads(tables: Tables, part: str, above: str, below: str, loads: tuple[float, ...]) -> dict[float, Estimate]:
    found = {load: ratio(tables, part, above, below, load=load) for load in loads}
    return {load: value for load, value in found.items() if value is not None}


def times(value: Estimate) -> str:
    """``1.23 [1.10, 1.35]``."""
    return f"{value.mean:.2f}" + ("" if value.low is None else f" [{value.low:.2f}, {value.high:.2f}]")


def _listed(found: Mapping[float, Estimate]) -> str:
    return ", ".join(f"{times(value)} at {100 * load:.0f} %" for load, value in found.items())


def _with_dctcp(found: Mapping[float, Estimate]) -> str:
    return f"with DCTCP: {_listed(found)}" if found else ""


def conga(tables: Tables) -> Finding | None:
    """L1 holds if, at the best load, ECMP's mean FCT is at least 4 times CONGA's, the whole interval above 1."""
    found = _over_loads(tables, "testbed-mild", "ecmp", "conga", TESTBED_LOADS["mild"])
    if not found:
        return None
    best = max(found.values(), key=lambda value: value.mean)
    notes = [
        f"by load of the uplinks: {_listed(found)}",
        _with_dctcp(_over_loads(tables, f"testbed-mild{WITH_DCTCP}", "ecmp", "conga", TESTBED_LOADS["mild"])),
        "same: 2 leaves, 2 spines, 2:1, one of two parallel links failed; other: those links are one of 80 Gbps at half"
        " its rate, web-search sizes, `linux`",
        "not compared: loads from 50 % on, where ECMP's share exceeds the slow link and the ratio grows with the run",
    ]
    sides = ("testbed-mild", "ecmp"), ("testbed-mild", "conga")
    unequal = [differ(tables, *sides, load=load) for load in found]
    return _finding(best, best.mean >= REACHED * FIVE_TIMES and (best.low or 0) > 1, unequal, notes)


def letflow(tables: Tables) -> Finding | None:
    """L2 holds if LetFlow's mean FCT is at most 1.2 times CONGA's at mild loads, and 2 times at all large ones."""
    found = {
        kind: _over_loads(tables, f"testbed-{kind}", "letflow", "conga", TESTBED_LOADS[kind]) for kind in TESTBED_LOADS
    }
    if not all(found.values()):
        return None
    worst = {kind: max(each.values(), key=lambda value: value.mean) for kind, each in found.items()}
    notes = [f"{kind} asymmetry: {_listed(each)}" for kind, each in found.items()]
    for kind, loads in TESTBED_LOADS.items():
        short = _over_loads(tables, f"testbed-{kind}", SHORT_GAP, "conga", loads)
        notes += [f"{kind} with a gap of 100 us: {_listed(short)}"] if short else []
        for scheme, title in (("letflow", kind), (SHORT_GAP, f"{kind}, gap of 100 us")):
            beside = _over_loads(tables, f"testbed-{kind}{WITH_DCTCP}", scheme, "conga", loads)
            notes += [f"{title}, {_with_dctcp(beside)}"] if beside else []
    notes.append("mild: a link at half its rate, as in L1; large: at a fifth")
    unequal = [
        differ(tables, (f"testbed-{kind}", "letflow"), (f"testbed-{kind}", "conga"), load=load)
        for kind, each in found.items()
        for load in each
    ]
    return _finding(worst["mild"], worst["mild"].mean <= MILD and worst["large"].mean <= LARGE, unequal, notes)


def drill(tables: Tables) -> Finding | None:
    """L3 holds if the mean FCTs of CONGA and Presto over DRILL's are above 1 and their intervals overlap 1.3 to 1.4."""
    rivals = {rival: ratio(tables, "clos", rival, "drill") for rival in ("conga", "presto")}
    known = {rival: value for rival, value in rivals.items() if value is not None}
    if "conga" not in known:
        return None
    low, high = DRILL_GAIN
    holds = all((v.low or 0) > 1 and (v.low or 0) <= high and (v.high or 0) >= low for v in known.values())
    ecmp = ratio(tables, "clos", "ecmp", "drill")
    beside = {rival: ratio(tables, f"clos{WITH_DCTCP}", rival, "drill") for rival in rivals}
    notes = [
        *(["no runs with presto"] if "presto" not in known else []),
        ", ".join(f"{rival}'s {times(value)}" for rival, value in known.items()),
        f"ECMP's {times(ecmp)}" if ecmp else "",
        *(f"with DCTCP {rival}'s {times(value)}" for rival, value in beside.items() if value is not None),
        "80 % of the uplinks of an 8-8-8 fabric at 10 Gbps, `linux`, hosts without DRILL's reordering buffer",
    ]
    if len(known) < len(rivals):
        return Finding(known["conga"], None, notes)
    return _finding(
        known["conga"], holds, [differ(tables, ("clos", rival), ("clos", "drill")) for rival in known], notes
    )


def hedera(tables: Tables) -> Finding | None:
    """L4 holds if Hedera's goodput is at least 91 % of the optimum for each pattern and 90 % above ECMP's for one."""
    shares = {p: ratio_to_one(values(tables, f"elephants-{p}", "hedera", "bisection")) for p in PATTERNS}
    gains = {p: ratio(tables, f"elephants-{p}", "hedera", "ecmp", "bisection") for p in PATTERNS}
    known = [value for value in shares.values() if value is not None]
    gained = [value for value in gains.values() if value is not None]
    if len(known) < len(PATTERNS) or len(gained) < len(PATTERNS):
        return None
    worst, best = min(known, key=lambda v: v.mean), max(gained, key=lambda v: v.mean)
    holds = worst.mean >= BISECTION - BISECTION_SLACK and best.mean - 1 >= REACHED * HEDERA_GAIN
    notes = [f"{p}: {times(shares[p])} of the optimum, {times(gains[p])} times ECMP's" for p in PATTERNS]  # type: ignore[arg-type]
    notes.append("fat-tree of 128 hosts at 100 Mbps instead of 8192 at 1 Gbps: ECMP collides less")
    return Finding(worst.scaled(100), holds, notes)


def ratio_to_one(by_seed: Mapping[int, float]) -> Estimate | None:
    """The geometric mean of positive values, with its interval; None without one."""
    found = paired_ratio(by_seed, dict.fromkeys(by_seed, 1.0))
    return None if found is None or found.low is None else found


def presto(tables: Tables) -> Finding | None:
    """L5 holds if the intervals of Presto's slowdowns of small and large flows end below 1.1 times one switch's."""
    pairs = {}
    for kind in ("small_mean", "large_mean"):
        switch = values(tables, "single-switch", "ecmp", kind)
        for scheme in ("presto", "ecmp"):
            found = paired_ratio(values(tables, "clos-random", scheme, kind), switch)
            if found is None or found.low is None:
                return None
            pairs[scheme, kind] = found
    own = [pairs["presto", kind] for kind in ("small_mean", "large_mean")]
    notes = [
        f"{scheme}: small flows {times(pairs[scheme, 'small_mean'])}, large {times(pairs[scheme, 'large_mean'])}"
        for scheme in ("presto", "ecmp")
    ]
    notes.append("slowdown over that on one switch; 8-8-8 at 10 Gbps, 60 % of the hosts' links, random pairs")
    sides = ("clos-random", "presto"), ("single-switch", "ecmp")
    unequal = [differ(tables, *sides, kind) for kind in ("small_mean", "large_mean")]
    return _finding(max(own, key=lambda v: v.mean), all((v.high or 0) <= TRACKS for v in own), unequal, notes)


def wcmp(tables: Tables) -> Finding | None:
    """L6 holds if the relative variance of throughputs is at least 20 times below ECMP's, the interval above 1."""
    found = ratio(tables, "striped", "ecmp", "wcmp", "variation")
    if found is None:
        return None
    beside = ratio(tables, f"striped{WITH_DCTCP}", "ecmp", "wcmp", "variation")
    notes = [
        "leaves with uplinks of 80, 80, 20 and 20 Gbps, 20 hosts of 10 Gbps each, 16 flows of 10 MB per host, `linux`",
        *([f"with DCTCP {times(beside)}"] if beside is not None else []),
    ]
    unequal = [differ(tables, ("striped", "ecmp"), ("striped", "wcmp"), "variation")]
    return _finding(found, found.mean >= REACHED * TWENTY_FIVE_TIMES and (found.low or 0) > 1, unequal, notes)


def plb(tables: Tables) -> Finding | None:
    """L7 holds if imbalance, drops and small flows' p99 fall by at least 48, 26 and 16 %, intervals below zero."""
    changes = {column: _change(tables, column) for column in PLB}
    known = {column: change for column, change in changes.items() if change is not None}
    if "imbalance" not in known:
        return None
    holds = all(change.mean <= REACHED * PLB[column] and (change.high or 0) < 0 for column, change in known.items())
    names = {"imbalance": "imbalance of uplinks", "drops": "drops", "small_p99_s": "p99 of small flows"}
    notes = [f"no {names[column]} under ECMP" for column in PLB if column not in known]
    notes += [f"{names[column]} {spelled(change, '+')} %" for column, change in known.items()]
    notes.append(
        "8-8-8 at 10 Gbps, queues of 100 packets, 80 % of the uplinks, web search (the paper: Google's fabrics)"
    )
    value = known["imbalance"].scaled(100)
    if len(known) < len(PLB):
        return Finding(value, None, notes)
    return _finding(value, holds, [differ(tables, ("clos-ecn", "plb"), ("clos-ecn", "ecmp"), "small_p99_s")], notes)


def _change(tables: Tables, column: str) -> Estimate | None:
    """The change of a measure from ECMP to PLB as a share; None without an interval, or if ECMP's is zero."""
    found = relative_difference(*[values(tables, "clos-ecn", scheme, column) for scheme in ("plb", "ecmp")])
    return None if found is None or found.low is None else found


def hermes(tables: Tables) -> Finding | None:
    """L8 holds if Hermes's mean FCT is over 32 % below all rivals', 0 to 10 % below CONGA's, 0 to 20 % below Clove's.

    The first number is that with a failing spine, its interval above zero; the others are those with slow uplinks.
    """
    gray = {rival: _gain(tables, "hermes-gray", rival) for rival in HERMES_RIVALS}
    degraded = {rival: _gain(tables, "hermes-degraded", rival) for rival in HERMES_GAIN}
    known = {rival: gain for rival, gain in gray.items() if gain is not None}
    if not known:
        return None
    least = min(known.values(), key=lambda gain: gain.mean)
    holds = all(gain.mean > HERMES_FAILURE and (gain.low or 0) > 0 for gain in known.values()) and all(
        0 <= gain.mean <= HERMES_GAIN[rival] for rival, gain in degraded.items() if gain is not None
    )
    missing = [rival for rival in HERMES_RIVALS if gray[rival] is None or degraded.get(rival, least) is None]
    notes = [f"no runs with {' and '.join(missing)}"] if missing else []
    for title, gains in (("spine 0 loses 2 %", gray), ("20 % of uplinks at a fifth", degraded)):
        each = [f"{rival} {spelled(gain)} %" for rival, gain in gains.items() if gain is not None]
        notes += [f"{title}, lower than {', '.join(each)}"] if each else []
    notes.append(f"8-8-16 at 10 Gbps, 2:1, {100 * HERMES_LOAD:.0f} % of the uplinks, web search, DCTCP")
    if missing:
        return Finding(least.scaled(100), None, notes)
    unequal = [
        differ(tables, (part, "hermes"), (part, rival))
        for part, gains in (("hermes-gray", gray), ("hermes-degraded", degraded))
        for rival in gains
    ]
    return _finding(least.scaled(100), holds, unequal, notes)


def _gain(tables: Tables, part: str, rival: str) -> Estimate | None:
    found = ratio(tables, part, "hermes", rival)
    return None if found is None else found.scaled(-1).shifted(1)


def of_project(tables: Tables) -> Finding | None:
    """L9 has no verdict: TCP-Path's mean slowdown compared with ECMP's, and the places of the four papers' schemes."""
    found = standing(tables.survey)
    return None if found is None else Finding(found[0], None, found[1])
