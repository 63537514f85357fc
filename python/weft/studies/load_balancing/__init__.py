"""All schemes of Weft compared on leaf-spines and a fat-tree, symmetric and not, and claims of the schemes' papers.

`survey` has the scenarios of the survey, `own` those that claims need of their own, `setups` the schemes that run in
them. `table` and `measures` collect the data. `claims` has the rows L1 to L9, `rules` their decision rules, `standing`
the places of the four papers' schemes. `page` writes the survey as a page, `listing` as CSV, Markdown and JSON,
`figures` as PDF.
"""

from collections.abc import Sequence
from pathlib import Path

from ...files import write_text
from ...results import Results
from ..base import Part, Simulated, Study
from ..outcome import Outcome, Size
from . import claims, listing, measures, own, page, survey, table
from .rules import Tables


class LoadBalancing(Study):
    """The survey of load balancers."""

    name = "load-balancing"
    summary = (
        "all schemes on leaf-spines and a fat-tree: symmetric, one uplink cut, a slow spine, a spine that loses packets"
    )
    chosen = (
        "Runs start warm and measure ten ideal times of the largest flow after a warm-up. Web search and Hadoop end "
        "at 5 MB, data mining at 50 MB. Load: payload as a share of the uplinks of the intact fabric; 60 % of the "
        "capacity that a situation leaves. Small flows: below 100 kB, large: above 1 MB."
    )
    page = "survey.html"

    def parts(self, size: Size) -> Sequence[Part]:
        """The survey's scenarios, then those of claims."""
        return [Simulated(setup.name, setup.scenario()) for setup in (*survey.setups(size), *own.setups(size))]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """L1 to L9, and the schemes that do not run in a situation."""
        tables = self._tables(results)
        return Outcome(claims.judge(tables), listing.remarks(tables.refused))

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """Slowdowns of small and large flows by scheme, one panel per situation."""
        from . import figures

        return figures.draw(self._tables(results).survey, out, formats)

    def publish(self, directory: Path, size: Size, outcome: Outcome, results: dict[str, Results]) -> list[Path]:
        """The survey as a page, and as CSV, Markdown and JSON."""
        found = listing.aggregate(self._tables(results).survey)
        refused = survey.refused()
        version = next(iter(results.values())).version
        texts = {
            self.page: page.render(found, refused, outcome, size, version),
            "survey.csv": found.write_csv(),
            "survey.json": listing.as_json(found, refused),
            "survey.md": listing.markdown(found, refused),
        }
        for name, text in texts.items():
            write_text(directory / name, text)
        return [directory / name for name in texts]

    def _tables(self, results: dict[str, Results]) -> Tables:
        return Tables(table.gather(results), measures.gather(results), survey.refused())
