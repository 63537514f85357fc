"""What the command lines of the benchmarks share."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

CONSOLE = Console(stderr=True, highlight=False)


def refuse(what: str, given: list[str], known: tuple[str, ...]) -> None:
    """Refuses a name that is not known."""
    for name in given:
        if name not in known:
            raise typer.BadParameter(f"no {what} is called {name}; there are {', '.join(known)}")


def tables_console(width: int) -> Console:
    """Where tables go; `width` columns where that is no terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else width)


def write(document: dict[str, Any], output: Path | None) -> None:
    """Writes all figures down, if that is asked for."""
    if output:
        output.write_text(json.dumps(document, indent=1) + "\n")


def run(main: Callable[..., None], *faults: type[Exception]) -> None:
    """The command line, with faults as sentences."""
    try:
        typer.run(main)
    except faults as error:
        CONSOLE.print(f"[red]error:[/red] {error}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
