"""Safe terminal output: control characters in user-supplied names are shown, never interpreted.

A name in a scenario, a fabric file or a result directory may contain control characters, with which a terminal would
set colours, move its cursor or change its title.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..labels import UNSEEN, visible


class Terminal(Console):
    """A console that escapes control characters in everything it prints."""

    def __init__(self, **settings: Any) -> None:
        """Takes the settings of `rich.console.Console`; text between colons is not turned into emoji."""
        super().__init__(highlight=False, emoji=False, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to print, escaped except for Rich's own control segments."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Raise the error again: for Rich, a reader that closed the pipe (``| head``) is a failure of the command."""
        raise


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON for a terminal or a program: readable, with control characters as JSON escapes."""
    return UNSEEN.sub(_escaped, json.dumps(value, indent=indent, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
