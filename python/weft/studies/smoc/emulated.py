"""The study on real hosts: the kernel's MPTCP through Open vSwitch under `weft controller`.

Open vSwitch without its kernel module forwards in a single thread, which cannot carry 400 Mbps over three switches
(docs/smoc-study.md has the measurements). So links have 25 Mbps in that case, and 100 Mbps if the kernel forwards.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ... import quantity
from ...emulation import openvswitch, shaping
from ...results import Results
from ...statistics import estimate
from ..base import Part, Study, saturation, settled
from ..outcome import Outcome, Size, StudyRow
from . import claims
from .setup import COUNTS, SCHEMES, SMOC, SPANNING_TREE, SUBFLOWS, WIDE_STREAMS, Extent, Setup, setups
from .table import Measured, gather
from .topologies import LOCAL, Topology
from .transfers import Transfers

RATES_BPS = {openvswitch.KERNEL: 100_000_000, openvswitch.USER_SPACE: 25_000_000}
"""Rates of links between switches, by datapath."""


EXTENTS = {
    Size.quick: Extent(3, 5, 2, 170),
    Size.standard: Extent(10, 10, 3, 200),
    Size.paper: Extent(10, 60, 10, 300),
}


class SmocEmulated(Study):
    """S1 to S5 with the kernel's MPTCP."""

    name = "smoc-emulated"
    summary = "smoc compared with spanning tree: the kernel's MPTCP through Open vSwitch, topologies 1 and 2"
    chosen = (
        "Links of 100 Mbps if the kernel has Open vSwitch's datapath, of 25 Mbps if it forwards in user space, with "
        "queues of 100 packets and no delay. Further subflows use alias addresses. Every run has a new network and "
        "controller."
    )

    def parts(self, size: Size) -> Sequence[Part]:
        """A part for each topology; the wide area only if the kernel can delay frames."""
        extent, rate = EXTENTS[size], RATES_BPS[openvswitch.datapath()]
        parts = [Transfers(_name(topology), setups(topology, extent.seeds, rate, extent.seconds)) for topology in LOCAL]
        if shaping.has_netem():
            parts.append(Transfers(_name(Topology.wide), list(_wide(extent, rate))))
        return parts

    def judge(self, results: dict[str, Results]) -> Outcome:
        """S1 to S5; then throughput by number of subflows, and the subflows' shares."""
        runs = gather(list(results.values()))
        local = [run for run in runs if run.setup.topology in LOCAL]
        rows = [*settled(claims.judge, local), *_s5(runs)]
        return Outcome(rows, [_network(list(results.values())), *saturation(runs), *remarks(local)])

    def results(self, directory: Path, size: Size) -> dict[str, Results]:
        """The existing parts: whether the wide area was run depends on the machine."""
        from ...results import Results

        there = [_name(topology) for topology in Topology if (directory / _name(topology)).is_dir()]
        return {name: Results(directory / name) for name in there}

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Throughput over time, and by number of subflows."""
        from . import figures

        return figures.draw(gather(list(results.values())), out, formats)


def remarks(runs: Sequence[Measured]) -> list[str]:
    """For each topology, throughput by number of subflows, and shares and paths of the subflows of one run."""
    lines = []
    for topology in LOCAL:
        kinds = [(SPANNING_TREE, SUBFLOWS), *((SMOC, count) for count in COUNTS)]
        for scheme, count in kinds:
            found = claims.chosen(runs, topology, scheme, count)
            mean = estimate(run.mean_bps() for run in found)
            if mean is None:
                continue
            interval = f" ±{quantity.fixed(mean.half / 1e6, 1)}" if mean.half is not None else ""
            lines.append(
                f"topology {topology:d}, {scheme}, subflows {count}: {mean.mean / 1e6:.1f}{interval} Mbps"
                f" of {claims.mbps(found[0].setup.capacity_bps)}; {shares(found)}"
            )
    return lines


def shares(runs: Sequence[Measured]) -> str:
    """Share and path of each subflow of the first run whose subflows were observed."""
    run = next((run for run in runs if sum(run.subflow_bytes)), None)
    if run is None:
        return "subflows not observed"
    total = sum(run.subflow_bytes)
    each = sorted(zip(run.subflow_bytes, run.subflow_paths, strict=True), key=lambda one: -one[0])
    return f"seed {run.setup.seed}: " + ", ".join(
        f"{100 * count / total:.0f} %" + (f" over {path.replace(' ', '-')}" if path else "") for count, path in each
    )


def _s5(runs: Sequence[Measured]) -> list[StudyRow]:
    if not any(run.setup.topology is Topology.wide for run in runs):
        why = "this kernel has no netem, so links have no delay; `weft reproduce smoc` simulates it"
        return claims.wide_area_not_measured(why)
    return settled(claims.wide_area, [run for run in runs if run.setup.topology is Topology.wide])


def _network(results: Sequence[Results]) -> str:
    """The datapath, and the other versions that the results depend on."""
    for part in results:
        for summary in part.summaries():
            versions, busy = summary["emulated"]["versions"], summary["emulated"]["processors"]
            where = "in user space" if versions["datapath"] == openvswitch.USER_SPACE else "in the kernel"
            return (
                f"Open vSwitch {versions['openvswitch']} forwarding {where} (datapath {versions['datapath']}), Linux"
                f" {versions['kernel']}, iperf3 {versions['iperf3']}, {busy['cores']} CPU cores"
            )
    return "no run has finished"


def _wide(extent: Extent, rate: int) -> Iterator[Setup]:
    for seed in range(1, extent.wide_seeds + 1):
        for scheme in SCHEMES:
            yield Setup(Topology.wide, scheme, SUBFLOWS, seed, rate, extent.wide_seconds, WIDE_STREAMS)


def _name(topology: Topology) -> str:
    return "wide-area" if topology is Topology.wide else f"topology-{topology:d}"
