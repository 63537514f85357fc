"""Decision rules of the claims about flow sizes, throughput and completion times: T0 to T4b, T7, T8, T9c and T10.

Mean throughputs are over all flows: one that does not finish has zero. Mean completion times are over finished flows;
if the shares of unfinished ones differ, there is no verdict.
"""

from collections.abc import Mapping

import polars as pl

from ...statistics import Estimate, estimate
from ..rows import Finding, decided
from .measures import beside, change, differ, each, improvement, percent, pooled, settled, unfinished, values
from .scenarios import COLD, DISTRIBUTIONS, MAIN, OVER, PAPER_SCHEMES, VARIANTS
from .table import Tables

ABOUT_50 = (0.35, 0.65)
"""Range for "about 50 %" (T1 at 40 % load)."""
UP_TO_70 = (0.5, 0.9)
"""Range of the larger improvement at 60 % load for "up to 70 %" (T1)."""
NEGLIGIBLE = 0.05
"""A difference whose mean is at most this is negligible (T2)."""
TEN_TO_TWENTY = (0.05, 0.25)
"""Range for "10 to 20 %" (T2)."""
OVER_60 = -0.6
"""Required change of mice's completion times (T3)."""
CLOSE = 0.1
"""TFE is close to TCP-Path if its elephants' throughput is at most this share below (T4)."""
ABOUT_5 = (0.04, 0.06)
"""Range for "about 5 %" of flows (T0)."""
MOST_BYTES = (0.5, 0.95)
"""Range of elephants' share of all bytes (T0)."""
AGREES = 0.15
"""Relative difference within which results are "fairly similar" (T9c)."""
SAME = 0.15
"""Improvements (as shares of ECMP) that differ by less than this "give the same picture" (T7, T8)."""


def elephants(tables: Tables) -> Finding | None:
    """T1 holds if the mean improvement is in `ABOUT_50` at 40 % load and the larger one in `UP_TO_70` at 60 %."""
    at_40 = {s: improvement(tables, MAIN, s, 0.4, "elephant") for s in DISTRIBUTIONS}
    at_60 = {s: improvement(tables, MAIN, s, 0.6, "elephant") for s in DISTRIBUTIONS}
    both = pooled(list(at_40.values()))
    highest = max((one.mean for one in at_60.values() if one), default=None)
    if both is None or highest is None:
        return None
    holds = ABOUT_50[0] <= both.mean <= ABOUT_50[1] and UP_TO_70[0] <= highest <= UP_TO_70[1]
    notes = [
        f"40 %: {each(lambda s: percent(at_40[s]))}",
        f"60 %: {each(lambda s: percent(at_60[s]))}",
        *(f"at {100 * load:.0f} % {unfinished(tables, MAIN, load)}" for load in (0.4, 0.6)),
        *(f"{note} (40 %)" for note in beside(tables, 0.4, "elephant", "throughput_bps", ("linux", "published"))),
    ]
    variants = {what: improvement(tables, what, "web-search", 0.4, "elephant") for what in VARIANTS}
    if any(variants.values()):
        spelled = ", ".join(f"{what} {percent(one)}" for what, one in variants.items() if one)
        notes.append(f"web search at 40 % with one thing changed: {spelled}")
    return Finding(both.scaled(100), holds, notes)


def others(tables: Tables) -> Finding | None:
    """T2 holds if rabbits and mice gain at most `NEGLIGIBLE` at 10 % load and within `TEN_TO_TWENTY` at 40 %, each."""
    low = {(s, k): improvement(tables, MAIN, s, 0.1, k) for s in DISTRIBUTIONS for k in ("rabbit", "mouse")}
    high = {key: improvement(tables, MAIN, key[0], 0.4, key[1]) for key in low}
    both = pooled(list(high.values()))
    if both is None or any(one is None for one in low.values()):
        return None
    holds = all(one is not None and abs(one.mean) <= NEGLIGIBLE for one in low.values())
    holds &= all(one is not None and TEN_TO_TWENTY[0] <= one.mean <= TEN_TO_TWENTY[1] for one in high.values())

    def spell(found: Mapping[tuple[str, str], Estimate | None]) -> str:
        return ", ".join(f"{sizes} {klass} {percent(one)}" for (sizes, klass), one in found.items())

    notes = [f"10 %: {spell(low)}", f"40 %: {spell(high)}"]
    for klass in ("rabbit", "mouse"):
        found = beside(tables, 0.4, klass, "throughput_bps", ("linux", "published"))
        notes += [f"{klass}, {note} (40 %)" for note in found]
    return Finding(both.scaled(100), holds, notes)


def mice(tables: Tables) -> Finding | None:
    """T3 holds if mice's mean FCT falls by more than 60 % at 40 and at 60 % load, and by more than the others' does."""
    at = {
        (load, k): pooled([improvement(tables, MAIN, s, load, k, column="fct_s") for s in DISTRIBUTIONS])
        for load in (0.4, 0.6)
        for k in ("mouse", "rabbit", "elephant")
    }
    value = at[0.4, "mouse"]
    if value is None or any(one is None for one in at.values()):
        return None
    means = {key: one.mean for key, one in at.items() if one}
    holds = all(means[load, "mouse"] < OVER_60 for load in (0.4, 0.6))
    holds &= all(means[load, "mouse"] < means[load, k] for load in (0.4, 0.6) for k in ("rabbit", "elephant"))
    cold = pooled([improvement(tables, COLD, s, 0.4, "mouse", column="fct_s") for s in DISTRIBUTIONS])
    median = pooled([improvement(tables, MAIN, s, 0.4, "mouse", column="median_fct_s") for s in DISTRIBUTIONS])
    spelled = [
        f"{100 * load:.0f} %: " + ", ".join(f"{k} {percent(at[load, k])}" for k in ("mouse", "rabbit", "elephant"))
        for load in (0.4, 0.6)
    ]
    notes = [
        *spelled,
        f"mice at 40 % if every flow resolves an address, which ECMP's hosts do not need here: {percent(cold)}; "
        f"their median: {percent(median)}",
        *(f"{note} (mice, 40 %)" for note in beside(tables, 0.4, "mouse", "fct_s", ("linux", "published"))),
    ]
    apart = [differ(tables, (MAIN, "tcp_path"), (MAIN, "ecmp"), s, load, k) for load, k in at for s in DISTRIBUTIONS]
    verdict, notes = decided(holds, apart, notes)
    return Finding(value.scaled(100), verdict, notes)


def tfe(tables: Tables) -> Finding | None:
    """T4 holds if TFE is `CLOSE` with data mining and clearly behind with web search, at 40 % load.

    Clearly: the whole interval is below TCP-Path's elephants, and the mean further below than with data mining.
    """

    def behind(part: str, sizes: str, load: float) -> Estimate | None:
        return improvement(tables, part, sizes, load, "elephant", scheme="tfe", baseline="tcp_path")

    at_40 = {s: behind(MAIN, s, 0.4) for s in DISTRIBUTIONS}
    web, mining = at_40["web-search"], at_40["data-mining"]
    if web is None or mining is None or web.high is None:
        return None
    holds = mining.mean >= -CLOSE and web.high < 0 and web.mean < mining.mean
    notes = [f"40 %: {each(lambda s: percent(at_40[s]))}", f"60 %: {each(lambda s: percent(behind(MAIN, s, 0.6)))}"]
    for part in ("linux", "published"):
        found = {s: behind(part, s, 0.4) for s in DISTRIBUTIONS}
        if any(found.values()):
            notes.append(f"{part}: {each(lambda s, found=found: percent(found[s]))}")  # type: ignore[misc]
    notes += _beyond(tables)
    return Finding(web.scaled(100), holds, notes)


def _beyond(tables: Tables) -> list[str]:
    """Beyond the paper: variants that move active flows, compared with TCP-Path on the same flows."""
    notes = []
    for load in (0.4, 0.6):
        found = {}
        for scheme in ("tfe-auto", "tfe-auto-refresh", "tcp_path", "tcp_path-refresh"):
            each = []
            for sizes in DISTRIBUTIONS:
                treated = values(tables, "beyond", sizes, scheme, load, "elephant", "throughput_bps")
                baseline = values(tables, "beyond", sizes, "tcp_path", load, "elephant", "throughput_bps")
                each.append(estimate(change(treated, baseline).values()))
            found[scheme] = pooled(each)
        if any(found.values()):
            spelled = ", ".join(f"{s} {percent(e)}" for s, e in found.items() if s != "tcp_path")
            notes.append(f"beyond the paper, elephants compared with TCP-Path at {100 * load:.0f} %: {spelled}")
    moved = tables.classes.filter(
        (pl.col("part") == "beyond") & (pl.col("class") == "elephant") & (pl.col("moves") > 0)
    )
    if len(moved):
        means = (
            moved.group_by("scheme").agg(pl.col("moves").mean(), pl.col("out_of_order_per_move").mean()).sort("scheme")
        )
        notes.append(
            "path changes per elephant, and out-of-order segments per change: "
            + ", ".join(f"{s} {m:.1f} and {o:.1f}" for s, m, o in means.iter_rows())
        )
    return notes


def over(tables: Tables) -> Finding | None:
    """T4b holds if elephants gain from TFE over ECMP and over a spanning tree alike: whole intervals above zero.

    Each is compared with its default forwarding alone, at the load of `OVER`.
    """

    def gain(scheme: str, klass: str) -> Estimate | None:
        return improvement(tables, f"over-{scheme}", "web-search", OVER[scheme], klass, scheme="tfe", baseline=scheme)

    found = {scheme: gain(scheme, "elephant") for scheme in OVER}
    if any(one is None or one.low is None for one in found.values()):
        return None
    notes = [
        f"over {scheme}, {100 * load:.0f} % load, compared with it alone: "
        + ", ".join(f"{klass} {percent(gain(scheme, klass))}" for klass in ("elephant", "rabbit", "mouse"))
        for scheme, load in OVER.items()
    ]
    holds = all(one is not None and one.low is not None and one.low > 0 for one in found.values())
    value = found["ecmp"]
    return Finding(value.scaled(100) if value else None, holds, notes)


def both_tcps(tables: Tables) -> Finding | None:
    """T9c holds if with Linux's TCP elephants and rabbits are within `AGREES` of ns-3's under all schemes, mice faster.

    Both are simulated at 10 Mbps and 40 % load; the measure is mean throughput.
    """
    ratios = {}
    for klass in ("elephant", "rabbit", "mouse"):
        for scheme in PAPER_SCHEMES:
            each = [
                estimate(
                    change(
                        values(tables, "10mbps-linux", sizes, scheme, 0.4, klass, "throughput_bps"),
                        values(tables, "10mbps", sizes, scheme, 0.4, klass, "throughput_bps"),
                    ).values()
                )
                for sizes in DISTRIBUTIONS
            ]
            ratios[klass, scheme] = pooled(each)
    if any(one is None for one in ratios.values()):
        return None
    known = {key: one for key, one in ratios.items() if one is not None}
    holds = all(one.mean > 0 if klass == "mouse" else abs(one.mean) <= AGREES for (klass, _), one in known.items())
    notes = [
        f"{klass}: " + ", ".join(f"{scheme} {percent(known[klass, scheme])}" for scheme in PAPER_SCHEMES)
        for klass in ("elephant", "rabbit", "mouse")
    ]
    worst = max((one for (klass, _), one in known.items() if klass != "mouse"), key=lambda one: abs(one.mean))
    return Finding(worst.scaled(100), holds, notes)


def shares(tables: Tables) -> Finding | None:
    """T0 holds if `ABOUT_5` of each distribution's generated flows are elephants, with `MOST_BYTES` of the bytes."""
    found: dict[str, tuple[float, float]] = {}
    notes = []
    for (sizes,), rows in tables.sizes.group_by("sizes", maintain_order=True):
        flows, data = rows["flows"].sum(), rows["bytes"].sum()
        by_class = {k: (f / flows, b / data) for k, f, b in rows.select("class", "flows", "bytes").iter_rows()}
        found[str(sizes)] = by_class.get("elephant", (0.0, 0.0))
        shown = ", ".join(f"{k} {100 * f:.1f} % of flows, {100 * b:.1f} % of bytes" for k, (f, b) in by_class.items())
        notes.append(f"{sizes}: {shown}")
    if len(found) < len(DISTRIBUTIONS):
        return None
    holds = all(
        ABOUT_5[0] <= flows <= ABOUT_5[1] and MOST_BYTES[0] <= data <= MOST_BYTES[1] for flows, data in found.values()
    )
    mean = sum(flows for flows, _ in found.values()) / len(found)
    return Finding(Estimate(100 * mean, None, None, 1), holds, notes)


def _same(tables: Tables, parts: Mapping[str, str]) -> tuple[Estimate, bool, list[str]] | None:
    """Whether the improvement of elephants at 40 % load is the same in other parts as in the main one."""
    main = {s: improvement(tables, MAIN, s, 0.4, "elephant") for s in DISTRIBUTIONS}
    notes, apart, holds = [f"1 Gbps: {each(lambda s: percent(main[s]))}"], [], True
    for part, label in parts.items():
        found = {s: improvement(tables, part, s, 0.4, "elephant") for s in DISTRIBUTIONS}
        if any(one is None for one in (*found.values(), *main.values())):
            return None
        notes.append(f"{label}: {each(lambda s, found=found: percent(found[s]))}")  # type: ignore[misc]
        for sizes in DISTRIBUTIONS:
            one, other = found[sizes], main[sizes]
            if one is None or other is None or one.half is None or other.half is None:
                return None
            difference = one.mean - other.mean
            half = (one.half**2 + other.half**2) ** 0.5
            apart.append(Estimate(difference, difference - half, difference + half, one.n))
            holds &= abs(difference) <= SAME
    worst = max(apart, key=lambda one: abs(one.mean))
    return worst.scaled(100), holds, notes


def rates(tables: Tables) -> Finding | None:
    """T7 holds if at 10 and 100 Mbps TCP-Path's improvement at 40 % load is within `SAME` of that at 1 Gbps."""
    found = _same(tables, {"100mbps": "100 Mbps", "10mbps": "10 Mbps"})
    if found is None:
        return None
    value, holds, notes = found
    share = {
        part: pooled(
            [
                estimate(
                    v / bps for v in values(tables, part, s, "tcp_path", 0.4, "elephant", "throughput_bps").values()
                )
                for s in DISTRIBUTIONS
            ]
        )
        for part, bps in ((MAIN, 1e9), ("100mbps", 1e8), ("10mbps", 1e7))
    }
    spelled = ", ".join(f"{part} {100 * one.mean:.0f} %" for part, one in share.items() if one)
    notes = [*notes, f"TCP-Path's elephants as a share of the link: {spelled}"]
    return Finding(value, holds, notes)


def three_layer(tables: Tables) -> Finding | None:
    """T8 holds if TCP-Path's improvement at 40 % load is within `SAME` of that on the spine-leaf, both at 10 Mbps."""
    if not len(tables.classes.filter(pl.col("part") == "10mbps")):
        return None
    spine_leaf = {s: improvement(tables, "10mbps", s, 0.4, "elephant") for s in DISTRIBUTIONS}
    layered = {s: improvement(tables, "three-layer", s, 0.4, "elephant") for s in DISTRIBUTIONS}
    one, other = pooled(list(layered.values())), pooled(list(spine_leaf.values()))
    if one is None or other is None:
        return None
    differences = [
        (a.mean - b.mean)
        for a, b in zip(layered.values(), spine_leaf.values(), strict=True)
        if a is not None and b is not None
    ]
    half = ((one.half or 0.0) ** 2 + (other.half or 0.0) ** 2) ** 0.5
    mean = one.mean - other.mean
    notes = [
        f"10 Mbps, spine-leaf: {each(lambda s: percent(spine_leaf[s]))}",
        f"three-layer: {each(lambda s: percent(layered[s]))}",
    ]
    holds = all(abs(difference) <= SAME for difference in differences)
    return Finding(Estimate(mean, mean - half, mean + half, one.n).scaled(100), holds, notes)


def over_time(tables: Tables) -> Finding | None:
    """T10 holds if the mean of elephants is stable from the start at 1 Gbps, and not before 400 s at 10 Mbps.

    The mean at t covers elephants that start at t or later; `settled` returns the time from which it is stable.
    """
    found = {
        part: [settled(tables.time, part, s, scheme) for s in DISTRIBUTIONS for scheme in PAPER_SCHEMES]
        for part in (MAIN, "10mbps")
    }
    if any(one is None for each in found.values() for one in each):
        return None
    fast, slow = ([one for one in found[part] if one is not None] for part in (MAIN, "10mbps"))
    end = float(tables.time.filter(pl.col("part") == MAIN)["start_s"].max())  # type: ignore[arg-type]
    holds = max(fast) <= 0.05 * end and max(slow) >= 400
    labels = [f"{s} {scheme}" for s in DISTRIBUTIONS for scheme in PAPER_SCHEMES]
    notes = [
        f"{label}, stable from: " + ", ".join(f"{name} {one:g} s" for name, one in zip(labels, each, strict=True))
        for label, each in ((f"1 Gbps ({end:.0f} s run)", fast), ("10 Mbps (1800 s)", slow))
    ]
    return Finding(Estimate(max(slow), None, None, 1), holds, notes)
