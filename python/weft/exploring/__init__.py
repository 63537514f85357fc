"""An animated page of one exploration: racing request copies, locks, the chosen path, and its recovery.

`trace` holds the engine's observations, `story` describes them in text, `stage` lays out the fabric, `page` assembles
the page.
"""

from pathlib import Path

from ..files import write_text
from .page import render
from .trace import Trace, follow

__all__ = ["Trace", "follow", "write"]


def write(trace: Trace, out: str | Path, *, time_line: str | None = None) -> Path:
    """Write the page of `trace`, with a link to the page with the flow's time line if it has one; return its path.

    Raises `OutputError` if it cannot be written; an existing page is left unchanged.
    """
    path = Path(out)
    write_text(path, render(trace, time_line))
    return path
