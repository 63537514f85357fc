"""The report: one HTML page with everything in it, readable without a network.

`content` gathers what a result directory has to show, `charts`, `drawing`, `tables` and `findings` turn parts of it
into Vega-Lite, SVG, HTML and words, and `page` puts them together.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..files import write_text
from .page import render

if TYPE_CHECKING:
    from ..results import Results


def write(results: Results, out: str | Path | None = None, *, baseline: str | None = None) -> Path:
    """Write the report of `results` and return where it is.

    Args:
        results: What to report.
        out: The page; default ``report.html`` in the result directory.
        baseline: The scheme to compare with; default the scenario's, else `ecmp`, else the first.

    Raises:
        ResultsError: There is nothing to report, or there is no such baseline.
        OutputError: The page cannot be written; an earlier one is left as it was.
    """
    path = Path(out) if out is not None else results.path / "report.html"
    write_text(path, render(results, baseline=baseline))
    return path
