"""The study in the simulator: smoc, spanning tree and ECMP on the three topologies, hosts with Multipath TCP."""

import json
from collections.abc import Sequence
from pathlib import Path

from ... import quantity
from ...results import Results
from ...samples import quantile
from ...scenario import Scenario
from ...statistics import estimate
from ..base import Simulated, Study
from ..outcome import Outcome, Size, StudyRow
from ..rows import not_measured
from . import claims
from .setup import COUNTS, ECMP, SCHEMES, SMOC, SPANNING_TREE, SUBFLOWS, WIDE_STREAMS, Extent
from .table import Measured, gather
from .topologies import FABRICS, LOCAL, Topology

SLOW = "slow-controller"
"""The part with a controller as slow as the paper's."""
SLOW_S = 2.5
"""Its delay: 2 to 3 s according to the paper."""


EXTENTS = {
    Size.quick: Extent(3, 10, 2, 200),
    Size.standard: Extent(10, 10, 5, 200),
    Size.paper: Extent(10, 60, 10, 300),
}

_SCENARIO = """\
name = "smoc, {name}"

[fabric]
file = "{file}"

[[traffic]]
class = "transfer"
sizes = {{ fixed = "1 TB" }}
arrivals = "at-once"
jitter = "10 ms"
flows = {flows}
pairs = [["a", "b"]]

[scheme]
name = "smoc"

[transport]
profile = "linux"
mptcp = "ndiffports"
subflows = {subflows}

[run]
duration = "{seconds} s"
limit = "{seconds} s"
seeds = {seeds}

[measure]
interval = "{interval}"
baseline = "{baseline}"

[sweep]
"""


class Smoc(Study):
    """S1 to S5, simulated."""

    name = "smoc"
    summary = "smoc compared with spanning tree and ECMP: Multipath TCP on the paper's topologies 1, 2 and wide area"
    chosen = (
        "Links of 100 Mbps, counting only IP packets; queues of 100 packets; in the wide area a round-trip time of"
        " 180 ms and queues of half the bandwidth-delay product. Linux's TCP, with uncoupled CUBIC on each subflow."
        " Installing a rule takes a switch 150 us, a message to or from the controller 100 us."
    )

    def parts(self, size: Size) -> Sequence[Simulated]:
        """A part for each topology, and one with a controller as slow as the paper's."""
        extent = EXTENTS[size]
        schemes = [*SCHEMES, ECMP]
        local = [
            _part(f"topology-{topology:d}", topology, extent.seeds, extent.seconds, schemes, COUNTS)
            for topology in LOCAL
        ]
        wide = _part(
            "wide-area", Topology.wide, extent.wide_seeds, extent.wide_seconds, SCHEMES, [SUBFLOWS], WIDE_STREAMS
        )
        slow = _part(SLOW, Topology.isolated, extent.seeds, extent.seconds, [SMOC], [SUBFLOWS])
        delayed = slow.scenario.set("scheme.install_delay", f'"{SLOW_S} s"')
        return [*local, wide, Simulated(SLOW, delayed)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """S1 to S5; S4 depends on settings here and is measured by the emulated study."""
        runs = gather([part for name, part in results.items() if name != SLOW])
        local = [run for run in runs if run.setup.topology in LOCAL]
        rows = [_setting(local, row) if row.id == "S4" else row for row in claims.judge(local)]
        return Outcome(
            [*rows, *claims.wide_area(runs)],
            [*remarks(local), *_slow(gather([part for name, part in results.items() if name == SLOW]))],
        )

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Throughput over time, and by number of subflows."""
        from . import figures

        return figures.draw(gather([part for name, part in results.items() if name != SLOW]), out, formats)


def remarks(runs: Sequence[Measured]) -> list[str]:
    """For each topology, throughput by scheme and number of subflows."""
    lines = []
    for topology in LOCAL:
        for scheme in (SPANNING_TREE, ECMP, SMOC):
            means = {
                count: estimate(run.mean_bps() for run in claims.chosen(runs, topology, scheme, count))
                for count in COUNTS
            }
            each = [
                f"{mean.mean / 1e6:.1f}" + (f" ±{quantity.fixed(mean.half / 1e6, 1)}" if mean.half is not None else "")
                for mean in means.values()
                if mean is not None
            ]
            if len(each) == len(COUNTS):
                counts = ", ".join(str(count) for count in COUNTS)
                lines.append(f"topology {topology:d}, {scheme}, subflows {counts}: {', '.join(each)} Mbps")
    return lines


def _setting(runs: Sequence[Measured], row: StudyRow) -> StudyRow:
    took = sorted(seconds for run in runs for seconds in run.set_up_s)
    why = "installation delays are a setting of the simulation; `weft reproduce smoc --emulated` measures them"
    if took:
        why += f"; with these settings, the median is {1e3 * quantile(took, 0.5):.2f} ms"
    return not_measured(row.id, row.claim, row.unit, why)


def _slow(runs: Sequence[Measured]) -> list[str]:
    """The effect of a controller as slow as the paper's on topology 1."""
    first = estimate(run.mean_bps(0.0, SLOW_S) for run in runs)
    reached = estimate(run.reached_s for run in runs)
    if first is None or reached is None:
        return []
    return [
        f"topology 1, smoc with a controller delay of {SLOW_S} s as in the paper: {claims.mbps(first.mean)} in the"
        f" first {SLOW_S} s, all paths from {reached.mean:.1f} s on"
    ]


def _part(
    name: str,
    topology: Topology,
    seeds: int,
    seconds: int,
    schemes: Sequence[str],
    counts: Sequence[int],
    flows: int = 1,
) -> Simulated:
    file = f"{'topology-wan' if topology is Topology.wide else f'topology{topology:d}'}.fabric.toml"
    baseline = SPANNING_TREE if SPANNING_TREE in schemes else schemes[0]
    text = _SCENARIO.format(
        name=name,
        file=file,
        flows=flows,
        subflows=SUBFLOWS,
        seconds=seconds,
        seeds=seeds,
        baseline=baseline,
        # With long delays, data held back by losses reaches the program in bursts.
        interval="2 s" if topology is Topology.wide else "100 ms",
    )
    text += f'"scheme.name" = {json.dumps(list(schemes))}\n"transport.subflows" = {json.dumps(list(counts))}\n'
    return Simulated(name, Scenario.from_text(text, f"smoc-{name}.toml", FABRICS))
