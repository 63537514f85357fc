"""Shared by the benchmarks' command lines."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

CONSOLE = Console(stderr=True, highlight=False)


def writable(output: Path | None) -> Path | None:
    """Rejects, before the run, an output file that cannot be written."""
    if output and (output.is_dir() or not os.access(output if output.exists() else output.parent, os.W_OK)):
        raise typer.BadParameter(f"cannot write {output}: choose a file in an existing, writable directory")
    return output


Output = Annotated[Path | None, typer.Option("--json", help="write all figures to this file", callback=writable)]
"""The option `--json`."""


def refuse(what: str, given: list[str], known: tuple[str, ...]) -> None:
    """Rejects unknown names."""
    for name in given:
        if name not in known:
            raise typer.BadParameter(f"unknown {what} {name}; choose from {', '.join(known)}")


def tables_console(width: int) -> Console:
    """The console for tables; `width` columns wide when stdout is not a terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else width)


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """Within this block, the function that names the current measurement: in one place on a terminal, else on lines."""
    with CONSOLE.status("") as status:
        yield status.update if CONSOLE.is_terminal else CONSOLE.print


def timed(command: list[str], **settings: Any) -> tuple[int, dict[str, float]]:
    """A command's exit status, wall-clock and processor seconds, and peak memory; `settings` are those of Popen."""
    began = time.perf_counter()
    process = subprocess.Popen(command, **settings)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took = time.perf_counter() - began
    figures = {"seconds": took, "cpu_seconds": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss * 1024 / 1e6}
    return process.returncode, figures


def write(document: dict[str, Any], output: Path | None) -> None:
    """Writes all figures as JSON if an output file is given."""
    if output:
        output.write_text(json.dumps(document, indent=1) + "\n")


def run(main: Callable[..., None], *faults: type[Exception]) -> None:
    """Runs the command line; prints `faults` as one-line errors."""
    try:
        typer.run(main)
    except faults as error:
        CONSOLE.print(f"[red]error:[/red] {error}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
