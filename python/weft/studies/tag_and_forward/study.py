"""The study: rounds in which Open vSwitch, a flow table at every hop and tags take turns, on real Linux hosts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...emulation import openvswitch
from ..base import Outcome, Part, Size, Study
from . import claims
from .measurements import Measurements
from .setup import RULES, Extent
from .table import Measured, gather, of_peer

if TYPE_CHECKING:
    from ...results import Results

NAME = "fabric"
"""The part."""
EXTENTS = {
    Size.quick: Extent(rounds=10, echoes=10, loads=2, trial_s=0.5, settings=10),
    Size.standard: Extent(rounds=100, echoes=20, loads=8, trial_s=1.0, settings=100, tables=(200_000,)),
    Size.paper: Extent(rounds=100, echoes=100, loads=100, trial_s=1.0, settings=100, tables=(200_000,)),
}


class TagAndForward(Study):
    """G1 to G5."""

    name = "tag-and-forward"
    summary = (
        "Tag-and-Forward against Open vSwitch and against a flow table at every hop: the paper's fat-tree, emulated"
    )
    chosen = (
        "The fat-tree of Figure 1 in namespaces of one machine, links without limits of their own,"
        f" {RULES} rules in each table, one for each of 8000 UDP flows of the load among them."
        " Peers take turns within a round."
    )

    def parts(self, size: Size) -> Sequence[Part]:
        """One: building the peers takes longer than measuring them."""
        return [Measurements(NAME, EXTENTS[size])]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """G1 to G5; then who forwarded."""
        runs = gather(results[NAME])
        return Outcome(claims.judge(runs), remarks(runs))

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Round trips and packets a second by packet size."""
        from . import figures

        return figures.draw(gather(results[NAME]), out, formats)


def remarks(runs: Sequence[Measured]) -> list[str]:
    """Who forwarded, and what is known of the load."""
    found = of_peer(runs, "ovs")
    if not found:
        return ["no run has finished"]
    versions = found[0].emulated["versions"]
    where = "in user space" if versions["datapath"] == openvswitch.USER_SPACE else "in the kernel"
    lost = sum(run.lost for run in runs)
    return [
        f"Open vSwitch {versions['openvswitch']} forwarding {where} (datapath {versions['datapath']}),"
        f" a daemon for each switch, Linux {versions['kernel']}; {lost} echoes were not answered"
    ]
