"""The report: one self-contained HTML page that works offline.

`content` collects the data of a result directory; `frames` and `details` turn it into data for the page's scripts
(`assets/`), which draw the charts from the specifications of `figures`; `drawing`, `tables` and `findings` make SVG,
HTML and text; `page` assembles them.
"""

from collections.abc import Callable
from pathlib import Path

from ..files import write_text
from ..results import Results


def write(
    results: Results,
    out: str | Path | None = None,
    *,
    baseline: str | None = None,
    why: bool | None = None,
    on_progress: Callable[[int, int], object] = lambda _, __: None,
) -> Path:
    """Write the report of `results` and return its path.

    Args:
        results: The results to report.
        out: The page; default ``report.html`` in the result directory.
        baseline: The scheme to compare with, or a value of a swept key such as ``load=0.2``; default the scenario's,
            else `ecmp`, else the first.
        why: Whether the runs of the slowest flows and of critical paths are simulated again, to find the causes of
            their time; default: if that takes at most 20 s of CPU time.
        on_progress: Called with the number of steps done and their total.

    Raises:
        ResultsError: No run has finished, or the baseline does not exist.
        OutputError: The page cannot be written; an existing one is left unchanged.
    """
    # Not above: `weft.exploring` uses parts of this package and needs no charts.
    from .page import render

    path = Path(out) if out is not None else results.place("report.html")
    write_text(path, render(results, baseline=baseline, out=path, explained=why, on_progress=on_progress))
    return path
