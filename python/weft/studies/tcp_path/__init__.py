"""TCP-Path and TFE compared with ECMP, after Alvarez-Horcajo et al. (IEEE Access 2019).

The paper is "Improving multipath routing of TCP flows by network exploration". `scenarios` has the setup of its
section V-B, `table` collects the data for the claims, `measures` reads it, `claims` has the rows T0 to T11,
`performance` and `scalability` their decision rules, `recovery` failures of links, `failures` their rule, `equations`
the paper's equations and Table 2, `figures` its figures 6 to 17.
"""

from collections.abc import Sequence
from pathlib import Path

from ...results import Results
from ..base import Part, Study
from ..outcome import Outcome, Size
from . import claims, cost, scenarios
from .table import gather


class TcpPath(Study):
    """The study of path exploration on a spine-leaf fabric."""

    name = "tcp-path"
    summary = (
        "TCP-Path, TFE and ARP-Path compared with ECMP on 4-4-20 and a three-layer fabric, web search and data mining"
    )
    chosen = scenarios.CHOSEN
    of_traffic = ("T0",)

    def parts(self, size: Size) -> Sequence[Part]:
        """One scenario for each distribution and setup, each failing link and each mesh size."""
        return scenarios.parts(size)

    def judge(self, results: dict[str, Results]) -> Outcome:
        """T0 to T11, and an estimate of the time for the paper's whole evaluation on this machine."""
        tables = gather(results)
        return Outcome(claims.judge(tables), cost.estimate(tables))

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Figures 6 to 17, and recovery by hops."""
        from . import figures

        return figures.draw(gather(results), out, formats)
