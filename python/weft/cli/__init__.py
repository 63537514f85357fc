"""The command `weft`: one file per group of commands, listed in `registry`; `shell` for output and errors.

Only the file of the command that is used is imported; functions import modules that take long, such as Polars.
"""

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from . import manual, shell
from .help_pages import Commands
from .registry import Root

_ABOUT = (
    "How do flow completion times change when a data-centre network picks paths differently "
    "(ECMP, packet spraying, TCP-Path ...)?"
)

app = Commands(
    cls=Root,
    name="weft",
    help=_ABOUT,
    epilog="Begin with [bold]weft new mine.toml[/bold], then [bold]weft run mine.toml[/bold].",
    no_args_is_help=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"weft {__version__}")
        raise typer.Exit


def _completion(shell: manual.Shell | None) -> None:
    if shell is not None:
        print(manual.script(shell))
        raise typer.Exit


@shell.guarded
def _man(directory: Path | None) -> None:
    if directory is not None:
        for path in manual.write_pages(typer.main.get_command(app), directory):
            print(path)
        raise typer.Exit


@app.callback(help=_ABOUT)
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    completion: Annotated[
        manual.Shell | None,
        typer.Option(callback=_completion, is_eager=True, help="Print the completion script of a shell."),
    ] = None,
    man: Annotated[
        Path | None,
        typer.Option(
            callback=_man, is_eager=True, metavar="DIR", help="Write manual pages of all commands into a directory."
        ),
    ] = None,
) -> None:
    """Hold the options that belong to no command."""


def main() -> None:
    """Run the command line; `weft.entry` calls it."""
    manual.answer_shell()
    app(prog_name="weft")
