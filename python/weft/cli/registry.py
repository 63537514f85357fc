"""The commands of `weft`, each imported when it is used or listed: imports take longer than most commands.

A command's help is the docstring of its function, so `weft --help` imports all of them.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer

from ..codes import INTERRUPTED
from .help_pages import Commands, Group


class Entry(NamedTuple):
    """A command or a group of commands."""

    panel: str
    """Its panel on the help page."""
    module: str
    """Its module in this package."""
    attribute: str
    """Its function, or its `Commands`."""


_SIMULATE, _CONTROL, _LOOK, _LIST = "Simulate", "Control real switches", "Look at results", "Reference"

ENTRIES = {
    "new": Entry(_SIMULATE, "new", "new"),
    "scenarios": Entry(_SIMULATE, "scenarios", "scenarios"),
    "check": Entry(_SIMULATE, "check", "check"),
    "run": Entry(_SIMULATE, "run", "run"),
    "emulate": Entry(_SIMULATE, "emulate", "emulate"),
    "explore": Entry(_SIMULATE, "explore", "explore"),
    "reproduce": Entry(_SIMULATE, "reproduce", "reproduce"),
    "bench": Entry(_SIMULATE, "bench", "bench"),
    "summary": Entry(_LOOK, "show", "summary"),
    "report": Entry(_LOOK, "show", "report"),
    "plot": Entry(_LOOK, "show", "plot"),
    "why": Entry(_LOOK, "why", "why"),
    "query": Entry(_LOOK, "query", "query"),
    "export": Entry(_LOOK, "export", "export"),
    "fabric": Entry(_LIST, "fabric", "fabric"),
    "list": Entry(_LIST, "lists", "list_"),
    "schemes": Entry(_LIST, "lists", "schemes"),
    "schema": Entry(_LIST, "lists", "schema"),
    "controller": Entry(_CONTROL, "controller", "app"),
    "tag-forward": Entry(_CONTROL, "tag_forward", "app"),
}
"""The commands in the order of the help page."""


class Loaded(Mapping[str, Any]):
    """The commands as Typer builds them, each from the first access on."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _built(name, ENTRIES[name])
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(ENTRIES)

    def __len__(self) -> int:
        return len(ENTRIES)


def _built(name: str, entry: Entry) -> Any:
    try:
        found = getattr(import_module(f".{entry.module}", __package__), entry.attribute)
    except KeyboardInterrupt:
        # Typer would print that the command was aborted.
        raise SystemExit(INTERRUPTED) from None
    alone = Commands()
    if isinstance(found, Commands):
        alone.add_typer(found, name=name, rich_help_panel=entry.panel)
    else:
        alone.command(name, rich_help_panel=entry.panel)(found)
    return typer.main.get_group(alone).commands[name]


class Root(Group):
    """The command `weft`, with these commands."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.commands: Any = Loaded()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page, after all imports: Ctrl-C during these leaves no half page."""
        list(self.commands.values())
        super().format_help(ctx, formatter)
