"""The study: rounds in which Open vSwitch, a flow table at every hop and tags take turns, on real Linux hosts."""

from collections.abc import Sequence
from pathlib import Path

from ... import quantity
from ...results import Results
from ...statistics import estimate
from ..base import Part, Study, saturation
from ..outcome import Outcome, Size
from ..rows import spelled
from . import claims, external
from .measurements import Measurements
from .setup import FEW_CLASS, FLOW_TABLE, LABELS, LOAD_SIZES, OVS, PACKETS, PEERS, RULES, SEGMENTS, Extent
from .table import Measured, gather, of_peer

NAME = "fabric"
"""The name of the part."""
EXTENTS = {
    Size.quick: Extent(rounds=10, echoes=10, loads=4, trial_s=0.3, settings=10),
    Size.standard: Extent(rounds=100, echoes=20, loads=8, trial_s=1.0, settings=100, tables=(200_000,)),
    Size.paper: Extent(rounds=100, echoes=100, loads=100, trial_s=1.0, settings=100, tables=(200_000,)),
}


class TagAndForward(Study):
    """G1 to G7."""

    name = "tag-and-forward"
    summary = (
        "Tag-and-Forward compared with Open vSwitch and with a flow table at every hop: the paper's fat-tree, emulated"
    )
    chosen = (
        "The fat-tree of Figure 1 in namespaces of one machine, links without rate limits,"
        f" {RULES} rules in each table, including one for each of the load's 8000 UDP flows."
        " Peers take turns within a round."
    )

    def parts(self, size: Size) -> Sequence[Part]:
        """One part for all measurements, as building the peers takes longer than measuring; two simulated parts."""
        return [Measurements(NAME, EXTENTS[size]), *external.parts()]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """G1 to G7; then the datapath and further measurements."""
        runs = gather(results[NAME]) if NAME in results else []
        return Outcome([*claims.judge(runs), *external.judge(results)], [*remarks(runs), *saturation(runs)])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Round trips and packets per second by packet size, and the time to set gates."""
        from . import figures

        return figures.draw(gather(results[NAME]), out, formats)


def remarks(runs: Sequence[Measured]) -> list[str]:
    """The datapath, TCP throughput, and the effect of larger tables."""
    found = of_peer(runs, OVS)
    if not found:
        return ["no run has finished"]
    versions = found[0].emulated["versions"]
    where = "in user space" if claims.in_user_space(found[0]) else "in the kernel"
    lost = sum(run.lost for run in runs)
    return [
        f"Open vSwitch {versions['openvswitch']} forwarding {where} (datapath {versions['datapath']}),"
        f" one daemon per switch, Linux {versions['kernel']}; {lost} echoes without a reply",
        *_transfers(runs),
        *_tables(runs),
    ]


def _transfers(runs: Sequence[Measured]) -> list[str]:
    """TCP through each peer: tags need hosts that segment in software."""
    parts = []
    for peer in PEERS:
        for how in (PACKETS, SEGMENTS):
            rates = [run.transfers_bps[how] for run in of_peer(runs, peer) if how in run.transfers_bps]
            mean = estimate(rates)
            if mean is not None:
                spread = "" if mean.half is None else f" ±{quantity.fixed(mean.half / 1e9, 2)}"
                parts.append(f"{LABELS[peer]}, {how} {mean.mean / 1e9:.2f}{spread} Gbit/s")
    return [f"one TCP connection between pods: {'; '.join(parts)}"] if parts else []


def _tables(runs: Sequence[Measured]) -> list[str]:
    """The gain of tags over a table at every hop, by number of rules."""
    lines, size = [], LOAD_SIZES[0]
    for rules in sorted({run.rules for run in runs}):
        found = {
            f"round trips of {size} B": claims.gain(runs, "round_trip_s", size, FLOW_TABLE, rules=rules),
            f"packets per second of {size} B": claims.gain(runs, "carried", size, FLOW_TABLE, rules=rules),
            f"packets per second of {FEW_CLASS}": claims.few_gain(runs, rules),
        }
        gains = [f"{what} {spelled(one, '+')} %" for what, one in found.items() if one is not None]
        if gains:
            lines.append(f"gain of tags over a table of {rules} rules at every hop: {', '.join(gains)}")
    return lines
