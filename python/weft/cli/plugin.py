"""The option `--plugin`: schemes and congestion controllers from modules of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from . import shell

Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="PATH",
        help="Load a scheme or congestion controller of your own: its crate or compiled module; may be repeated.",
    ),
]


def load(paths: Sequence[Path] | None, *, quiet: bool = False) -> None:
    """Load plugins and say so."""
    if not paths:
        return
    from .. import catalogue, plugins

    for path in paths:
        name = plugins.load_plugin(path, quiet=quiet)
        if not quiet:
            kind = "scheme" if any(entry["name"] == name for entry in catalogue.schemes()) else "congestion controller"
            shell.say(f"Loaded the {kind} [bold]{escape(name)}[/bold] from {escape(str(path))}")
