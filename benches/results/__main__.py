"""`python -m benches.results`: makes a large sweep, and times the commands that read it."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.table import Table

from benches.command import Output, run, tables_console, telling, timed, write
from benches.machine import describe, noise, spelled, spelled_noise
from benches.results.synthetic import make
from weft.aggregates import FOLDER

AVERAGE = "SELECT scheme, avg(fct_s), quantile_cont(fct_s, 0.99) FROM flows WHERE measured GROUP BY scheme"
COMMANDS: dict[str, list[str]] = {
    "summary": ["summary", "--json"],
    "report": ["report"],
    "query": ["query", AVERAGE],
}
STATES = ("first", "again")
"""Without kept aggregates, and with them."""
QUICK = 2, 1, 200, 10
"""The loads, seeds, flows and samples of a quick run."""


class BenchError(Exception):
    """A command failed."""


def measured(directory: Path, words: list[str]) -> dict[str, float]:
    """Wall-clock and processor seconds, and peak memory, of a command on a directory."""
    command = [sys.executable, "-m", "weft", words[0], str(directory), *words[1:]]
    with tempfile.TemporaryFile() as said:
        status, figures = timed(command, stdout=subprocess.DEVNULL, stderr=said)
        if status != 0:
            said.seek(0)
            raise BenchError(f"weft {words[0]}: {said.read().decode().strip()}")
    return figures


def measure(directory: Path, name: str, rounds: int) -> dict[str, Any]:
    """All rounds of a command in both states."""
    found: dict[str, Any] = {}
    for state in STATES:
        taken = []
        for _ in range(rounds):
            if state == "first":
                shutil.rmtree(directory / FOLDER, ignore_errors=True)
            taken.append(measured(directory, COMMANDS[name]))
        found[state] = {key: [row[key] for row in taken] for key in taken[0]}
    return found


def show(document: dict[str, Any]) -> None:
    """Print the figures: median, and in brackets least and most."""
    console = tables_console(110)
    title = (
        f"{document['runs']:,} runs, {document['runs'] * document['flows']:,} flows; page {document['page_mb']:.1f} MB"
    )
    table = Table(title=title, title_justify="left", box=None)
    for name in ("command", "aggregates", "seconds", "processor seconds", "peak MB"):
        table.add_column(name, justify="left" if name in ("command", "aggregates") else "right")
    for name, states in document["commands"].items():
        for state, figures in states.items():
            cells = [f"{median(row):.1f} ({min(row):.1f} to {max(row):.1f})" for row in figures.values()]
            table.add_row(f"weft {name}", "to be made" if state == "first" else "kept", *cells)
    console.print(table)
    console.print(f"{spelled(document)}; {spelled_noise(document)}")


def main(
    rounds: Annotated[int, typer.Option(min=1, help="rounds of each command")] = 3,
    seeds: Annotated[int, typer.Option(min=1, help="seeds; 200 runs each, of 8 schemes at 25 loads")] = 10,
    flows: Annotated[int, typer.Option(min=10, help="flows per run")] = 5_000,
    samples: Annotated[int, typer.Option(min=2, help="sample times per run")] = 100,
    quick: Annotated[bool, typer.Option("--quick", help="smoke test: 16 small runs, one round")] = False,
    output: Output = None,
) -> None:
    """Benchmark the commands that read results on 2 000 runs with 10 million flows (docs/results.md)."""
    loads = 25
    if quick:
        rounds = 1
        loads, seeds, flows, samples = QUICK
    document: dict[str, Any] = describe() | {"flows": flows, "samples": samples, "rounds": rounds}
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder, telling() as tell, noise() as seen:
        directory = Path(folder) / "sweep"
        document["runs"] = make(directory, loads, seeds, flows, samples, tell)
        document["commands"] = {}
        for name in COMMANDS:
            tell(f"weft {name}")
            document["commands"][name] = measure(directory, name, rounds)
        document["page_mb"] = (directory / "report.html").stat().st_size / 1e6
    document |= seen
    show(document)
    write(document, output)


if __name__ == "__main__":
    run(main, BenchError)
