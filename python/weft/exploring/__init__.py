"""One exploration as a page that plays it: request copies racing, locks, the path kept, and its recovery.

`trace` is what the engine saw, `story` says it in words, `stage` places the fabric, `page` puts them together.
"""

from __future__ import annotations

from pathlib import Path

from ..files import write_text
from .page import render
from .trace import Trace, follow

__all__ = ["Trace", "follow", "write"]


def write(trace: Trace, out: str | Path) -> Path:
    """Write the page of `trace` and return where it is.

    Raises:
        OutputError: It cannot be written; an earlier one is left as it was.
    """
    path = Path(out)
    write_text(path, render(trace))
    return path
