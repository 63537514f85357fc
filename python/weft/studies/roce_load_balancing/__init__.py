"""RoCE under load balancing, compared with a reproduction of ConWeave, and DCQCN with its fluid model.

`setups` has the scenarios, `published` the figures to compare with, `fluid` DCQCN's fixed point, `table` collects
slowdowns, marks and losses, `claims` has the rows E3 to E5 with their decision rules, `figures` the slowdowns by load.
"""

from collections.abc import Sequence
from pathlib import Path

from ...results import Results
from ..base import Part, Simulated, Study
from ..outcome import Outcome, Size
from . import claims, setups
from .table import gather


class RoceLoadBalancing(Study):
    """The study of RoCE under load balancing."""

    name = "roce-load-balancing"
    summary = "lossless RoCE at 100 Gbps under ECMP, LetFlow, CONGA and ConWeave; DCQCN's fixed point, losses with PFC"
    chosen = setups.CHOSEN

    def parts(self, size: Size) -> Sequence[Part]:
        """Each scheme at both loads, an incast, then DCQCN by number of senders."""
        return [Simulated(name, scenario) for name, scenario in setups.scenarios(size)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """E3 by load, E4, E5."""
        return Outcome(claims.judge(gather(results)), [])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Slowdowns by load, ours and the published ones."""
        from . import figures

        return figures.draw(gather(results).balance, out, formats)
