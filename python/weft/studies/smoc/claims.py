"""Decision rules of the claims S1 to S5: pure functions of `table.Measured`, for simulated and emulated runs.

Intervals are 95 % Student t intervals over runs. Throughput is that of the receiving program from the second second on,
as a share of the links' rate: of 1500-byte IP packets, 1448 bytes are application data with TCP, 1428 with MPTCP.
"""

from collections.abc import Callable, Iterable, Sequence

from ...samples import quantile
from ...statistics import Estimate, estimate, paired_difference
from ..outcome import StudyRow, Verdict
from ..rows import not_measured, row, spelled
from .setup import SMOC, SPANNING_TREE, SUBFLOWS
from .table import REACHED, Measured
from .topologies import LOCAL, ROUND_TRIP_S, SHAPES, Topology

ABOUT_95 = (0.90, 0.97)
"""Range for "about 95 of 100" of a link (S1)."""
USED = 0.8
"""A path is used if each of its links is busy for this share of the time (S2)."""
AT_ONCE_S = 1.0
"""Time by which all paths have to be used."""
HALF_S, MOST_S = 0.010, 0.030
"""Limits for the median and the 99th percentile of path setup times: the paper's took 2 to 3 s (S4)."""

EARLY_S, LATE_S = 10.0, 150.0
"""End of the start phase, and the time from which the rate counts as final (S5)."""
GROWN, GROWING_S = 0.9, 80.0
"""Share of the final rate at which growth ends, and its minimum duration: half of the paper's 160 s (S5)."""
S5_CLAIM = "wide area: smoc above spanning tree from the start"
S5_UNIT = "Mbps above spanning tree in the first 10 s"
S5_GROWTH_CLAIM = "wide area: smoc's throughput grows for about 160 s as windows open"
S5_GROWTH_UNIT = f"s until {100 * GROWN:.0f} % of the final rate"


def judge(runs: Sequence[Measured]) -> list[StudyRow]:
    """The rows S1 to S4, and the times until S2 and S3 hold; `wide_area` is S5."""
    return [
        _one_path(runs),
        _all_paths(runs, "S2", "smoc, topology 1: all four paths are used, up to 400 of 400 Mbps", Topology.isolated),
        _soon(runs, "S2-start", Topology.isolated),
        _all_paths(runs, "S3", "smoc, topology 2: up to 200 of 200 Mbps", Topology.shared),
        _soon(runs, "S3-start", Topology.shared),
        _set_up(runs),
    ]


def wide_area(runs: Sequence[Measured]) -> list[StudyRow]:
    """S5: whether smoc is above spanning tree from the start, and whether it grows as long as the paper's."""
    return [_above(runs), _growth(runs)]


def wide_area_not_measured(why: str) -> list[StudyRow]:
    """The rows of `wide_area` without a value."""
    return [
        not_measured("S5", S5_CLAIM, S5_UNIT, why),
        not_measured("S5-growth", S5_GROWTH_CLAIM, S5_GROWTH_UNIT, why),
    ]


def _above(runs: Sequence[Measured]) -> StudyRow:
    """Holds if smoc's first seconds are above spanning tree's, run by run."""
    by_seed = {
        scheme: {run.setup.seed: run for run in chosen(runs, Topology.wide, scheme)} for scheme in (SMOC, SPANNING_TREE)
    }
    early = {
        scheme: {seed: run.mean_bps(0.0, EARLY_S) for seed, run in found.items()} for scheme, found in by_seed.items()
    }
    above = paired_difference(early[SMOC], early[SPANNING_TREE])
    if above is None or above.low is None:
        return not_measured("S5", S5_CLAIM, S5_UNIT, "two runs of each scheme are needed")
    return row("S5", S5_CLAIM, above.low > 0, above.scaled(1e-6), S5_UNIT, [])


def _growth(runs: Sequence[Measured]) -> StudyRow:
    """Holds if runs under smoc take longer than `GROWING_S` to reach `GROWN` of the final rate, with the interval."""
    found = chosen(runs, Topology.wide, SMOC)
    times = [run.grown_s(GROWN, run.mean_bps(LATE_S)) for run in found]
    mean, final = estimate(times), _estimate(found, lambda run: run.mean_bps(LATE_S))
    if mean is None or mean.low is None or final is None:
        return not_measured("S5-growth", S5_GROWTH_CLAIM, S5_GROWTH_UNIT, "two runs under smoc are needed")
    holds = mean.low >= GROWING_S and None not in times
    notes = [f"the paper: about 160 s; the final rate is the mean from {LATE_S:.0f} s on, {mbps(final.mean)}"]
    if not holds:
        setup = found[0].setup
        subflows = setup.streams * setup.subflows
        each = setup.capacity_bps * ROUND_TRIP_S / 8 / subflows
        notes.append(
            f"{each / 1e3:.0f} kB in flight for each of {subflows} subflows fill both paths,"
            f" which slow start reaches in a few round trips of {ROUND_TRIP_S:g} s"
        )
    return row("S5-growth", S5_GROWTH_CLAIM, holds, mean, S5_GROWTH_UNIT, notes)


def chosen(runs: Iterable[Measured], topology: Topology, scheme: str, subflows: int = SUBFLOWS) -> list[Measured]:
    """The runs of one kind."""
    return [
        run
        for run in runs
        if (run.setup.topology, run.setup.scheme, run.setup.subflows) == (topology, scheme, subflows)
    ]


def mbps(value: float) -> str:
    """A rate in Mbit/s, as text."""
    return f"{value / 1e6:.1f} Mbps"


def _one_path(runs: Sequence[Measured]) -> StudyRow:
    """S1 holds if under spanning tree the mean is about 95 of 100 on each topology."""
    claim, unit = "spanning tree: about 95 of 100 Mbps whatever the topology", "% of a link"
    each = {topology: chosen(runs, topology, SPANNING_TREE) for topology in LOCAL}
    means = {topology: _estimate(found, lambda run: _of_a_link(run)) for topology, found in each.items() if found}
    together = _estimate([run for found in each.values() for run in found], _of_a_link)
    if together is None or len(means) < len(LOCAL):
        return not_measured("S1", claim, unit, "runs of both topologies under spanning tree are needed")
    low, high = ABOUT_95
    holds = all(low <= found.mean <= high for found in means.values() if found is not None)
    notes = [f"topology {topology:d}: {spelled(found)} %" for topology, found in means.items() if found is not None]
    return row("S1", claim, holds, together.scaled(100), unit, [*notes, _share_of_machine(each[Topology.isolated])])


def _all_paths(runs: Sequence[Measured], ident: str, claim: str, topology: Topology) -> StudyRow:
    """Holds if the whole interval is above `REACHED` of the paths' capacity, and (S2) all paths are used."""
    found = chosen(runs, topology, SMOC)
    unit = f"% of {SHAPES[topology].capacity} links"
    mean = _estimate(found, lambda run: run.share)
    if mean is None or mean.low is None:
        return not_measured(ident, claim, unit, "two runs under smoc are needed")
    used = [sum(use >= USED for use in run.path_use) for run in found]
    wanted = len(SHAPES[topology].paths) if topology is Topology.isolated else 0
    holds = mean.low >= REACHED and min(used) >= wanted
    notes = [
        f"{mbps(mean.mean * found[0].setup.capacity_bps)} of {mbps(found[0].setup.capacity_bps)}"
        f", equivalent to {mean.mean * 100 * SHAPES[topology].capacity:.0f} of {100 * SHAPES[topology].capacity} Mbps"
    ]
    if wanted:
        notes.append(f"paths whose links are busy for {100 * USED:.0f} % of the time: at least {min(used)}")
    notes.append(_share_of_machine(found))
    return row(ident, claim, holds, mean.scaled(100), unit, notes)


def _soon(runs: Sequence[Measured], ident: str, topology: Topology) -> StudyRow:
    """Holds if every run reaches the capacity, and the interval of these times ends before `AT_ONCE_S`."""
    links = SHAPES[topology].capacity
    claim = f"smoc, topology {topology:d}: {100 * links * REACHED:.0f} of {100 * links} Mbps within 1 s of the start"
    found = chosen(runs, topology, SMOC)
    times = [run.reached_s for run in found]
    mean = estimate(times)
    if mean is None or mean.high is None:
        reached = sum(time is not None for time in times)
        why = f"{reached} of {len(times)} runs reached it" if times else "two runs under smoc are needed"
        verdict = Verdict.did_not_hold if len(times) > 1 else Verdict.not_measured
        return StudyRow(ident, claim, verdict, None, None, None, "s", why)
    holds = mean.high <= AT_ONCE_S and None not in times
    missed = sum(time is None for time in times)
    first = _estimate(found, lambda run: run.mean_bps(0.0, 1.0) / run.setup.capacity_bps)
    notes = [f"{missed} of {len(times)} runs never reached it"] if missed else []
    if first is not None:
        notes.append(f"mean of the first second: {spelled(first)} %")
    return row(ident, claim, holds, mean, "s", notes)


def _set_up(runs: Sequence[Measured]) -> StudyRow:
    """S4 holds if half of all paths are set up within `HALF_S`, and 99 of 100 within `MOST_S`."""
    claim = "a path is set up at least 100 times faster than the paper's 2-3 s: half in 10 ms, 99 of 100 in 30 ms"
    found = [run for run in runs if run.setup.scheme == SMOC and run.set_up_s]
    took = sorted(seconds for run in found for seconds in run.set_up_s)
    if not took:
        return not_measured("S4", claim, "ms, the median", "no run recorded path setup times")
    median, most = quantile(took, 0.5), quantile(took, 0.99)
    each = estimate(quantile(run.set_up_s, 0.5) for run in found)
    low, high = (None, None) if each is None else (each.low, each.high)
    value = Estimate(median, low, high, len(took)).scaled(1e3)
    notes = [
        f"{len(took)} paths, 99th percentile {1e3 * most:.1f} ms, maximum {1e3 * took[-1]:.1f} ms",
        "the interval is that of the runs' medians",
    ]
    return row("S4", claim, median < HALF_S and most < MOST_S, value, "ms, the median", notes)


def _of_a_link(run: Measured) -> float:
    return run.mean_bps() / run.setup.rate_bps


def _estimate(runs: Iterable[Measured], value: Callable[[Measured], float]) -> Estimate | None:
    return estimate(value(run) for run in runs)


def _share_of_machine(runs: Sequence[Measured]) -> str:
    """CPU usage of the runs; above about four fifths, the machine limits the results."""
    shares = [run.own_share for run in runs if run.own_share is not None]
    return f"switches and hosts used at most {100 * max(shares):.0f} % of the CPU" if shares else ""
