"""Packet spraying over a limited number of entropy values, compared with csg-htsim's published runs.

`setups` has the scenarios, `published` htsim's figures, `table` collects completion times, `claims` has the rows E1 and
E2 with their decision rules, `figures` the completion times by number of hosts and of entropies.
"""

from collections.abc import Sequence
from pathlib import Path

from ...results import Results
from ..base import Part, Simulated, Study
from ..outcome import Outcome, Size
from . import claims, setups
from .table import gather


class EntropySpraying(Study):
    """The study of spraying over entropy values."""

    name = "entropy-spraying"
    summary = "packet spraying over 1 to 256 entropy values on three-tier fat-trees at 100 Gbps, against csg-htsim"
    chosen = setups.CHOSEN

    def parts(self, size: Size) -> Sequence[Part]:
        """Permutations by number of hosts, then spraying with large queues, with trimming and with marks."""
        return [Simulated(setup.name, setup.scenario()) for setup in setups.setups(size)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """E1 for each number of hosts, and E2."""
        return Outcome(claims.judge(gather(results)), [])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Completion of the last flow by entropies."""
        from . import figures

        return figures.draw(gather(results), out, formats)
