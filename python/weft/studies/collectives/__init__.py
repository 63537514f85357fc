"""All ways to use the paths of a fabric on the same collectives.

`setups` has the ways and scenarios, `table` collects completion times, `parts` tells the effect of paths from that of
hosts, `claims` has the rows, `figures` the times over the bound.
"""

from collections.abc import Sequence
from pathlib import Path

from ...files import write_text
from ...results import Results
from ..base import Part, Simulated, Study
from ..outcome import Outcome, Size
from . import claims, setups
from .parts import split
from .table import gather

TABLE = "collectives.csv"
"""The file of the table, in the study's directory."""
PARTS = "collectives-parts.csv"
"""The file of the parts of paths and hosts."""


class Collectives(Study):
    """The study of collectives."""

    name = "collectives"
    summary = "all-reduce and all-to-all under spraying, REPS, ConWeave, TCP-Path, smoc and Tag-and-Forward"
    chosen = setups.CHOSEN

    def parts(self, size: Size) -> Sequence[Part]:
        """Each way on the whole fabric, then with a failed uplink."""
        return [Simulated(name, scenario) for name, scenario in setups.scenarios(size)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """The rows of paths and hosts for each collective on each fabric."""
        table = gather(results)
        return Outcome(claims.judge(table), claims.remarks(table))

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Times over the bound."""
        from . import figures

        return figures.draw(gather(results), out, formats)

    def publish(self, directory: Path, size: Size, outcome: Outcome, results: dict[str, Results]) -> list[Path]:
        """The tables, as CSV."""
        table = gather(results)
        write_text(directory / TABLE, table.write_csv())
        write_text(directory / PARTS, split(table).write_csv())
        return [directory / TABLE, directory / PARTS]
