"""Decision rules of the claims about tables and floods: T5 and T6."""

from ...statistics import Estimate, estimate
from ..rows import Finding
from . import equations
from .measures import each, pooled, runs
from .scenarios import COLD, DISTRIBUTIONS, LOADS, MAIN
from .table import Tables

ABOUT_TABLE = 0.01
"""Tolerance for the paper's shares of table entries, 5.6 and 5.1 % (T5)."""
RATIO_FACTOR = 2.0
"""A measured ratio of bytes within this factor of the equation's is "close to it" (T6)."""


def tables_of_switches(found: Tables) -> Finding | None:
    """T5 holds if TFE's mean number of entries is within `ABOUT_TABLE` of 5.6 and 5.1 % of TCP-Path's at 40 % load."""
    paper = {"web-search": 0.056, "data-mining": 0.051}

    def share(sizes: str, load: float) -> Estimate | None:
        small, large = (runs(found, MAIN, sizes, s, load, "flow_entries") for s in ("tfe", "tcp_path"))
        return estimate(small[seed] / large[seed] for seed in small.keys() & large.keys() if large[seed])

    at_40 = {s: share(s, 0.4) for s in DISTRIBUTIONS}
    both = pooled(list(at_40.values()))
    if both is None:
        return None
    holds = all(one is not None and abs(one.mean - paper[s]) <= ABOUT_TABLE for s, one in at_40.items())

    def spelled(sizes: str) -> str:
        each = {load: share(sizes, load) for load in LOADS}
        return " / ".join(f"{100 * one.mean:.1f}" for one in each.values() if one)

    entries = {s: estimate(runs(found, MAIN, s, "tcp_path", 0.4, "flow_entries").values()) for s in DISTRIBUTIONS}
    counts = ", ".join(f"{s} {one.mean:.0f}" for s, one in entries.items() if one)
    loads = " / ".join(f"{100 * load:.0f}" for load in LOADS)
    notes = [
        f"% at {loads} % load: {each(spelled)}",
        f"entries of TCP-Path per switch at 40 %: {counts}",
        "locks that lose the race stay for 3 s and count, entries of finished flows for 10 s",
    ]
    return Finding(both.scaled(100), holds, notes)


def broadcasts(tables: Tables) -> Finding | None:
    """T6 holds if explorations measured at 4-4-20 and 40 % load are within `RATIO_FACTOR` of equation (3).

    This applies to both schemes and distributions. The paper's own measurement includes ARP broadcasts.
    """
    measured = {
        (s, scheme): estimate(runs(tables, MAIN, s, scheme, 0.4, "exploration_ratio").values())
        for s in DISTRIBUTIONS
        for scheme in ("tcp_path", "tfe")
    }
    value = measured["web-search", "tcp_path"]
    if value is None or any(one is None for one in measured.values()):
        return None

    def theory(sizes: str, scheme: str) -> float:
        share = equations.ratio(4, 4, equations.REQUEST_BYTES, equations.MEAN_FLOW_BYTES[sizes])
        return share if scheme == "tcp_path" else equations.ELEPHANT_SHARE * share

    close = all(1 / RATIO_FACTOR <= one.mean / theory(*key) <= RATIO_FACTOR for key, one in measured.items() if one)
    spelled = ", ".join(
        f"{s} {scheme} {100 * one.mean:.4f} % (equation {100 * theory(s, scheme):.4f} %)"
        for (s, scheme), one in measured.items()
        if one
    )
    arp = {s: estimate(runs(tables, COLD, s, "tcp_path", 0.4, "broadcast_ratio").values()) for s in DISTRIBUTIONS}
    with_arp = ", ".join(f"{s} {100 * one.mean:.4f} %" for s, one in arp.items() if one)
    return Finding(
        value.scaled(100), close, [f"measured {spelled}; including ARP Requests: {with_arp}", *_meshes(tables)]
    )


def table_2(_: Tables) -> Finding:
    """T6b holds if equation (3), the request length and the stated means reproduce every printed cell."""
    cells = [
        f"{cell.sizes} {cell.spines}x{cell.leaves} {100 * cell.tcp_path:.3g} / {100 * cell.tfe:.3g} %"
        f" (printed {printed[0]:g} / {printed[1]:g})"
        for cell in equations.table_2()
        for printed in (equations.PRINTED[cell.sizes, cell.spines],)
    ]
    notes = [f"equation (3): {', '.join(cells)}"]
    wrong = _misprints()
    for sizes in dict.fromkeys(cell.sizes for cell in wrong):
        mean = equations.implied_mean(128, 128, equations.PRINTED[sizes, 128][0])
        stated = equations.MEAN_FLOW_BYTES[sizes]
        notes.append(
            f"the printed values of {sizes} imply a mean of {mean / 1e6:.2f} MB, not the stated {stated / 1e6:.2f} MB"
        )
    return Finding(None, not wrong, notes)


def _misprints() -> list[equations.Cell]:
    return [
        cell
        for cell in equations.table_2()
        for ours, theirs in zip((cell.tcp_path, cell.tfe), equations.PRINTED[cell.sizes, cell.spines], strict=True)
        if not _prints_as(100 * ours, theirs)
    ]


def _prints_as(ours: float, theirs: float) -> bool:
    """Whether `ours` rounds to the printed value; its last digit may be rounded up."""
    digits = len(f"{theirs:g}".partition(".")[2])
    return abs(ours - theirs) <= 0.75 / 10.0**digits


def _meshes(tables: Tables) -> list[str]:
    notes = []
    for (leaves,), rows in tables.meshes.sort("leaves").group_by("leaves", maintain_order=True):
        n = int(leaves)
        means = rows.mean()
        copies, frame, took = (float(means[name][0]) for name in ("copies", "frame_bytes", "exploration_s"))
        shares = {s: copies * n * frame / (2 * mean) for s, mean in equations.MEAN_FLOW_BYTES.items()}
        expected = {s: equations.ratio(n, n, frame, mean) for s, mean in equations.MEAN_FLOW_BYTES.items()}
        spelled = ", ".join(f"{s} {100 * shares[s]:.3g} % (equation {100 * expected[s]:.3g} %)" for s in shares)
        notes.append(
            f"explorations simulated on {n}x{n}: {copies:.2f} copies of {frame:.0f} bytes per leaf: {spelled}, "
            f"each taking {1e6 * took:.1f} us"
        )
    return notes
