"""A page with the time line of a flow: its packets, window and bytes in flight over time, and the causes of its time.

`course` has the data of one run, thinned out for the page, `page` assembles it.
"""

from collections.abc import Sequence
from pathlib import Path

from ..files import write_text
from .course import Course
from .page import render

__all__ = ["Course", "write"]


def write(
    courses: Sequence[Course], out: str | Path, *, name: str, note: str = "", animation: str | None = None
) -> Path:
    """Write the page of a flow under one or more schemes, and return its path.

    Args:
        courses: The flow in each run.
        out: The page.
        name: The name of the scenario.
        note: A remark at the top of the page.
        animation: The file, beside the page, that shows how the flow finds its path.

    Raises:
        OutputError: The page cannot be written; an existing one is left unchanged.
    """
    path = Path(out)
    write_text(path, render(courses, name=name, note=note, animation=animation))
    return path
