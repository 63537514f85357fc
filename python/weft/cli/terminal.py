"""What is written to a terminal: names of others are shown there, never obeyed.

A name in a scenario, a fabric file or a result directory may hold control characters, and a terminal would set colours,
move its cursor or change its title by them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..labels import UNSEEN, visible


class Terminal(Console):
    """A console that spells control characters in whatever it prints."""

    def __init__(self, **settings: Any) -> None:
        """With the settings of a `rich.console.Console`; words between colons stay what they are."""
        super().__init__(highlight=False, emoji=False, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed. Those that Rich itself controls the terminal by stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON for a terminal or a program: readable, and whatever a terminal would obey as an escape of JSON."""
    return UNSEEN.sub(_escaped, json.dumps(value, indent=indent, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
