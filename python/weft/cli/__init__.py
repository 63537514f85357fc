"""The command `weft`: one file per group of commands, `shell` for output and errors.

Modules that take long to import (Polars, vl-convert) are imported by the commands that need them.
"""

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from . import (
    bench,
    controller,
    emulate,
    explore,
    export,
    fabric,
    lists,
    manual,
    new,
    query,
    reproduce,
    run,
    scenarios,
    shell,
    show,
    tag_forward,
)
from .help_pages import Commands

_ABOUT = (
    "How do flow completion times change when a data-centre network picks paths differently "
    "(ECMP, packet spraying, TCP-Path ...)?"
)

app = Commands(
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


_SIMULATE, _CONTROL, _LOOK, _LIST = "Simulate", "Control real switches", "Look at results", "Reference"
app.command("new", rich_help_panel=_SIMULATE)(new.new)
app.command("scenarios", rich_help_panel=_SIMULATE)(scenarios.scenarios)
app.command("check", rich_help_panel=_SIMULATE)(run.check)
app.command("run", rich_help_panel=_SIMULATE)(run.run)
app.command("emulate", rich_help_panel=_SIMULATE)(emulate.emulate)
app.command("explore", rich_help_panel=_SIMULATE)(explore.explore)
app.command("reproduce", rich_help_panel=_SIMULATE)(reproduce.reproduce)
app.command("bench", rich_help_panel=_SIMULATE)(bench.bench)
app.add_typer(controller.app, name="controller", rich_help_panel=_CONTROL)
app.add_typer(tag_forward.app, name="tag-forward", rich_help_panel=_CONTROL)
app.command("summary", rich_help_panel=_LOOK)(show.summary)
app.command("report", rich_help_panel=_LOOK)(show.report)
app.command("plot", rich_help_panel=_LOOK)(show.plot)
app.command("query", rich_help_panel=_LOOK)(query.query)
app.command("export", rich_help_panel=_LOOK)(export.export)
app.command("fabric", rich_help_panel=_LIST)(fabric.fabric)
app.command("list", rich_help_panel=_LIST)(lists.list_)
app.command("schemes", rich_help_panel=_LIST)(lists.schemes)
app.command("schema", rich_help_panel=_LIST)(lists.schema)


def main() -> None:
    """Run the command line; `weft.entry` calls it."""
    manual.answer_shell()
    app(prog_name="weft")
