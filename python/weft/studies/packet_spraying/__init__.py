"""Packet spraying compared with a single path, after Kaymak and Rojas-Cessa (2016).

The paper is "Packet-Based Load Balancing in Data Center Networks". `scenarios` has the setup of its section 2.2,
`table` collects the data for the claims, `claims` has the rows P1 to P7 with their decision rules, `figures` the
paper's figures 2 to 9.
"""

from collections.abc import Sequence
from pathlib import Path

from ...results import Results
from ..base import Part, Study
from ..outcome import Outcome, Size
from . import claims, scenarios
from .table import gather


class PacketSpraying(Study):
    """The study of random packet spraying on a small fat-tree."""

    name = "packet-spraying"
    summary = "random packet spraying compared with a single path on a k=4 fat-tree, long and short flows"
    chosen = scenarios.CHOSEN

    def parts(self, size: Size) -> Sequence[Part]:
        """Two scenarios, fixed and random pairs, each over scheme, transport and number of flows."""
        return scenarios.parts(size)

    def judge(self, results: dict[str, Results]) -> Outcome:
        """P1 to P7."""
        return Outcome(claims.judge(gather(results)), [])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Figures 2 to 9."""
        from . import figures

        return figures.draw(gather(results), out, formats)
