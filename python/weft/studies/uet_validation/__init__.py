"""Ultra Ethernet hosts held to the limits of uet-htsim's validation lists.

`weft.against.networks` and `traffic` describe the lists' set-ups, `setups` has the scenarios, `published` the limits
and uet-htsim's results, `table` collects completion times, `claims` has the rows with their decision rule, `rules` the
reasons of rows that do not hold, `figures` the times relative to the limits.
"""

from collections.abc import Sequence
from pathlib import Path

from ...results import Results
from ..base import Part, Simulated, Study
from ..outcome import Outcome, Size
from . import claims, published, setups
from .table import gather


class UetValidation(Study):
    """The study of uet-htsim's validation lists."""

    name = "uet-validation"
    summary = "Ultra Ethernet on uet-htsim's validation lists: permutations, incasts, oversubscription, a slow link"
    chosen = setups.CHOSEN
    decision = "A row holds if the mean over seeds is at or below the limit, as uet-htsim's script judges one run."

    def parts(self, size: Size) -> Sequence[Part]:
        """Each set-up of the lists."""
        return [Simulated(name, scenario) for name, scenario in setups.scenarios(size)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """The rows of the sender list, then of the load-balancing list."""
        return Outcome(claims.judge(gather(results)), [f"uet-htsim's times: commit {published.COMMIT[:7]}"])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Completion times relative to the limits."""
        from . import figures

        return figures.draw(gather(results), out, formats)
