"""Packet spraying on real Linux TCP: the static scenario on an emulated k=4 fat-tree, compared with the simulator.

The paper simulated an old TCP, which treats each gap of three segments as a loss; Linux's RACK (RFC 8985) first waits
for a fraction of the round-trip time. Links are slower than in the paper, since two CPU cores have to carry all of
them, and have no delay except the kernel's processing. The same flows are simulated with the paper's transport and with
the profile `linux`, and emulated.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ...results import Results
from ...scenario import Scenario
from ...statistics import relative_difference
from ..agreement import LABELS, SAME, Cell, EmulatedRun, above, cells, describe, pairs, ran
from ..base import Emulated, Part, Simulated, Study, saturation, settled
from ..outcome import Outcome, Size, StudyRow
from ..rows import not_measured, row
from .scenarios import SCHEMES, STATIC_PAIRS

PAPER, SIMULATED, EMULATED = "paper-tcp", "simulated", "emulated"
RATE = "100 Mbps"


@dataclass(frozen=True)
class Extent:
    """Extent of a size: seeds, and numbers of long flows."""

    seeds: int
    long: tuple[int, ...]


EXTENTS = {
    Size.quick: Extent(3, (1, 5)),
    Size.standard: Extent(10, (1, 3, 5)),
    Size.paper: Extent(10, (0, 1, 2, 3, 4, 5)),
}


def scenario(size: Size, profile: str) -> Scenario:
    """The scenario for simulation and emulation: one short flow and some long ones towards one server."""
    extent = EXTENTS[size]
    text = f"""\
name = "packet-spraying, emulation"

[fabric]
kind = "fat-tree"
k = 4
rate = "{RATE}"
delay = "1 us"
queue = "100 packets"

[[traffic]]
class = "short"
sizes = {{ fixed = "200 kB" }}
arrivals = "at-once"
jitter = "10 ms"
flows = 1
pairs = [["h0", "h15"]]

[[traffic]]
class = "long"
sizes = {{ fixed = "10 MB" }}
arrivals = "at-once"
jitter = "10 ms"
flows = 5
pairs = {STATIC_PAIRS}

[scheme]
name = "single_path"

[transport]
profile = "{profile}"

[run]
duration = "1 s"
limit = "30 s"
seeds = {extent.seeds}

[measure]
interval = "100 ms"
baseline = "single_path"

[sweep]
"scheme.name" = {json.dumps(SCHEMES)}
"traffic.long.flows" = {json.dumps(extent.long)}
"""
    return Scenario.from_text(text, "packet-spraying-emulation.toml")


class PacketSprayingEmulated(Study):
    """Spraying with Linux's TCP; not in the paper."""

    name = "packet-spraying-emulated"
    summary = "packet spraying on an emulated k=4 fat-tree with real Linux TCP, compared with the simulator"
    chosen = (
        f"Links of {RATE} with queues of 100 packets; simulated links have 1 us of delay, emulated ones only the "
        "kernel's processing delay. Segments are not coalesced (hosts and links have no GSO)."
    )

    def parts(self, size: Size) -> list[Part]:
        """The same flows with the paper's transport, with Linux's in the simulator, and on real hosts."""
        linux = scenario(size, "linux")
        return [Simulated(PAPER, scenario(size, "ns3-3.23")), Simulated(SIMULATED, linux), Emulated(EMULATED, linux)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """The effect of spraying on short and long flows in each part, and agreement of simulation and emulation."""
        simulated, emulated = results.get(SIMULATED), results.get(EMULATED)
        found = cells(pairs(simulated, emulated)) if simulated and emulated else []
        runs = ran(emulated) if emulated else []

        def judge(chosen: Sequence[EmulatedRun]) -> list[StudyRow]:
            # A mean over the numbers of long flows needs all runs of a seed.
            partly = {run.seed for run in runs if run not in chosen}
            whole = [run.id for run in chosen if run.seed not in partly]
            part = emulated.only(whole) if emulated and whole else None
            return [
                *(_change(kind, EMULATED, part) for kind in ("short", "long")),
                _agreement(cells(pairs(simulated, part)) if simulated and part else []),
            ]

        *changes, agree = settled(judge, runs)
        rows = [
            row
            for kind, real in zip(("short", "long"), changes, strict=True)
            for row in (*(_change(kind, name, results.get(name)) for name in (PAPER, SIMULATED)), real)
        ]
        remarks = [_reordering(name, results[name]) for name in (PAPER, SIMULATED, EMULATED) if name in results]
        return Outcome([*rows, agree], [*saturation(runs), *remarks, *(describe(cell) for cell in found)])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """The ratios of emulated to simulated means."""
        from ...figures.agreement import draw

        found = cells(pairs(results[SIMULATED], results[EMULATED]))
        return draw(found, SAME, LABELS, out / "agreement", formats)


_TITLES = {PAPER: "simulated, the paper's TCP", SIMULATED: "simulated, Linux's TCP", EMULATED: "real Linux hosts"}


def _change(kind: str, name: str, part: Results | None) -> StudyRow:
    """Holds if spraying's mean completion time is below that of a single path, with the whole interval."""
    ident = f"{'S' if kind == 'short' else 'L'}-{name}"
    claim = f"spraying shortens {kind} flows compared with a single path: {_TITLES[name]}"
    unit = "% mean completion time"
    few = not_measured(ident, claim, unit, "at least two seeds are needed")
    if part is None:
        return few
    flows = part.scan_flows(measured=True).filter(pl.col("class") == kind)
    means = flows.group_by("scheme", "seed").agg(pl.col("fct_s").mean()).collect()

    def by_seed(scheme: str) -> dict[int, float | None]:
        return dict(means.filter(pl.col("scheme") == scheme).select("seed", "fct_s").iter_rows())

    found = relative_difference(by_seed("spray"), by_seed("single_path"))
    if found is None or found.high is None:
        return few
    return row(ident, claim, found.high < 0, found.scaled(100), unit, ["mean over the numbers of long flows"])


def _agreement(found: list[Cell]) -> StudyRow:
    """Holds if every mean completion time of the emulation is within `SAME` of the simulated one."""
    claim, unit = "simulation and emulation agree", "% emulated above simulated, largest"
    judged = [(cell, cell.ratios["fct_s"]) for cell in found if "fct_s" in cell.ratios]
    if not judged:
        return not_measured("E", claim, unit, "no flow finished in both")
    cell, worst = max(judged, key=lambda item: abs(item[1].mean - 1))
    within = sum(abs(one.mean - 1) <= SAME for _, one in judged)
    note = f"{within} of {len(judged)} within {100 * SAME:.0f} %; largest: {cell.klass}, {cell.scheme}, {cell.point}"
    return row("E", claim, within == len(judged), above(worst), unit, [note])


def _reordering(name: str, part: Results) -> str:
    """Out-of-order and retransmitted segments as shares of those sent, by scheme.

    Linux counts segments that arrive while an earlier one is missing, whether late or lost; the simulator counts first
    transmissions that arrive after a later one.
    """
    sums = part.scan_flows(measured=True).group_by("scheme").agg(pl.col("retransmissions", "packets_sent").sum())
    late: dict[str, float] = {}
    if name == EMULATED:
        for run, summary in zip(part.finished, part.summaries(), strict=True):
            counted = sum(row["rcv_ooopack"] for row in summary["emulated"]["classes"].values())
            late[run.scheme] = late.get(run.scheme, 0.0) + counted
    else:
        counts = part.scan_flows(measured=True).group_by("scheme").agg(pl.col("out_of_order").sum()).collect()
        late = dict(counts.iter_rows())
    each = [
        f"{scheme} {100 * late[scheme] / sent:.1f} and {100 * again / sent:.2f} %"
        for scheme, again, sent in sums.sort("scheme").collect().iter_rows()
        if sent
    ]
    return f"{_TITLES[name]}, segments out of order and retransmitted: {', '.join(each)}"
