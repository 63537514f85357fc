"""The options of `weft run` that capture frames, and what it says of captures."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from .._weft import CAPTURE_LIMIT
from ..labels import plural
from ..scenario import Outcome
from . import shell

_LISTED = 5

Captures = Annotated[
    list[str] | None,
    typer.Option(
        "--capture",
        metavar="LINK|FLOW",
        help="Write frames for Wireshark: l0->s0 (one direction), l0-s0 (both) or flow:17; may be repeated.",
    ),
]
CaptureDir = Annotated[
    Path | None,
    typer.Option("--capture-dir", metavar="DIR", help="Directory of the captures (default: captures in -o)."),
]
CaptureLimit = Annotated[
    str | None,
    typer.Option("--capture-limit", metavar="SIZE", help=f'End each capture at this size (default "{CAPTURE_LIMIT}").'),
]


def report(outcome: Outcome) -> None:
    """Warn of captures that reached their limit."""
    full = [capture for capture in outcome.captures if capture["full_at"] is not None]
    for capture in full[:_LISTED]:
        left_out = plural(capture["left_out"], "later frame")
        shell.warn(f"{capture['path']} reached --capture-limit at {capture['full_at']}: {left_out} left out")
    if len(full) > _LISTED:
        shell.warn(f"so did {len(full) - _LISTED} more captures")


def show(outcome: Outcome, folder: Path) -> None:
    """Print the number of captures and their directory."""
    if outcome.repeated:
        runs = plural(outcome.repeated, "run")
        shell.say(f"{runs} had results and ran again for the captures; the results are unchanged.")
    if outcome.captures:
        frames = sum(capture["frames"] for capture in outcome.captures)
        files = plural(len(outcome.captures), "capture")
        shell.say(f"{files} with {plural(frames, 'frame')} in {escape(str(folder))}")
    if outcome.captures_kept:
        kept = plural(outcome.captures_kept, "capture")
        shell.say(f"{kept} existed and {'is' if outcome.captures_kept == 1 else 'are'} kept")
