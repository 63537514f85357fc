"""The page's data on why its slowest flows were slow: causes, the command of `weft why`, pages beside the report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import drawing
from ..cause_style import CAUSES
from ..content import Content
from ..errors import ResultsError
from ..explanation import source
from ..results import Results
from .causes import Causes, causes_of

_PAGE = re.compile(r"why-[\w.-]+-\d+\.html")


def why(
    content: Content, parts: Mapping[str, bytes], out: Path | None, *, wanted: bool | None, spent: float = 0.0
) -> dict[str, Any]:
    """The data of the section of the slowest flows; see `causes_of` for `parts`, `wanted` and `spent`.

    Keys: `flows`, causes by ``RUN/FLOW``; `note`, why other flows have none; `command` up to the flow, empty if there
    is none; `named`, if the user has to name the scenario; `pages` beside the report; `links`, the places of the drawn
    links; `names` of the causes in the order of their colours.
    """
    results = content.results
    folder = (out or results.place("report.html")).parent
    reason, named = refused(results)
    found = Causes(note=reason)
    if not reason and not named:
        found = causes_of(results, parts, wanted=wanted, spent=spent)
    if named:
        found = Causes(note="The scenario names other files, so that only weft why can simulate the runs again.")
    links = content.fabric.links
    return {
        "flows": found.flows,
        "note": found.note,
        "command": "" if reason else f"weft why {quoted(results)}",
        "named": named,
        "pages": sorted(page.name for page in folder.glob("why-*.html") if _PAGE.fullmatch(page.name)),
        "links": {
            f"{links[i].source}->{links[i].target}": at for at, i in enumerate(drawing.drawn_links(content.fabric))
        },
        "names": list(CAUSES),
    }


def quoted(results: Results) -> str:
    """The directory of results, as a word of a command."""
    return shlex.quote(str(results.path))


def refused(results: Results) -> tuple[str, bool]:
    """Why no flow can be explained, or nothing; and whether the scenario has to be named."""
    if results.in_memory:
        return "These results have no directory that weft why could read.", False
    try:
        source(results)
    except ResultsError as error:
        return ("", True) if error.hint else (f"No causes: {error}.", False)
    return "", False
