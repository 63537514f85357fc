"""Rails against a fat-tree, and RoCE against Ultra Ethernet, in clusters of GPUs, with and without failed uplinks.

`setups` has the cases and their scenarios, `table` collects completion times, `times` compares them by seed, `claims`
has the rows, `figures` the times over the bound.
"""

from collections.abc import Sequence
from pathlib import Path

from ...files import write_text
from ...results import Results
from ..base import Part, Simulated, Study
from ..outcome import Outcome, Size
from . import claims, setups
from .table import gather

TABLE = "ai-cluster.csv"
"""The file of the table, in the study's directory."""


class AiCluster(Study):
    """The study of clusters of GPUs."""

    name = "ai-cluster"
    summary = "clusters of GPUs: rails against a fat-tree, RoCE against Ultra Ethernet, with and without failed uplinks"
    chosen = setups.CHOSEN

    def parts(self, size: Size) -> Sequence[Part]:
        """A part for each case."""
        return [Simulated(name, scenario) for name, scenario in setups.scenarios(size)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """The rows of fabrics, of hosts and of failed uplinks for each collective and number of GPUs."""
        table = gather(results)
        return Outcome(claims.judge(table), claims.remarks(table))

    def needs(self, ident: str, size: Size) -> Size | None:
        """The smallest size with clusters of as many GPUs as the row's id ends with."""
        gpus = int(ident.rpartition("-")[2])
        if gpus in setups.EXTENTS[size].gpus:
            return None
        return next((larger for larger, extent in setups.EXTENTS.items() if gpus in extent.gpus), None)

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Times over the bound."""
        from . import figures

        return figures.draw(gather(results), out, formats)

    def publish(self, directory: Path, size: Size, outcome: Outcome, results: dict[str, Results]) -> list[Path]:
        """The table, as CSV."""
        write_text(directory / TABLE, gather(results).write_csv())
        return [directory / TABLE]
