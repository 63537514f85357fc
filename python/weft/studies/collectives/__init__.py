"""All ways to use the paths of a fabric on the same collectives.

`setups` has the ways and scenarios, `table` collects completion times, `claims` has a row for each collective and
fabric, `figures` the times over the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...files import write_text
from ..base import Outcome, Part, Simulated, Size, Study
from . import setups

if TYPE_CHECKING:
    from ...results import Results

TABLE = "collectives.csv"
"""The file of the table, in the study's directory."""


class Collectives(Study):
    """The study of collectives."""

    name = "collectives"
    summary = "all-reduce and all-to-all under spraying, REPS, ConWeave, TCP-Path, smoc and Tag-and-Forward"
    chosen = setups.CHOSEN

    def parts(self, size: Size) -> Sequence[Part]:
        """Each way on the whole fabric, then with a failed uplink."""
        return [Simulated(name, scenario) for name, scenario in setups.scenarios(size)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """A row for each collective on each fabric."""
        from . import claims
        from .table import gather

        return Outcome(claims.judge(gather(results)), [])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Times over the bound."""
        from . import figures
        from .table import gather

        return figures.draw(gather(results), out, formats)

    def publish(self, directory: Path, size: Size, outcome: Outcome, results: dict[str, Results]) -> list[Path]:
        """The table, as CSV."""
        from .table import gather

        write_text(directory / TABLE, gather(results).write_csv())
        return [directory / TABLE]
