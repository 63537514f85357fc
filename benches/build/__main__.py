"""`python -m benches.build`: times the first builds that a newcomer waits for, each in a fresh clone."""

import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.table import Table

from benches.command import Output, run, tables_console, telling, timed, write
from benches.machine import describe, noise, spelled, spelled_noise

ROOT = Path(__file__).parents[2]
SCHEME = "crates/switching/src/ecmp.rs"
"""The scheme that is changed."""
CHECK = ["cargo", "check", "--quiet", "-p", "weft-python"]
STEPS: dict[str, list[str]] = {
    "make quickstart": ["make", "quickstart"],
    "first build of a plugin": [
        "sh",
        "-c",
        ".venv/bin/weft new scheme mine && cd mine && cargo build --release",
    ],
    "first cargo check": CHECK,
    "cargo check after a change in a scheme": CHECK,
}
"""In this order, in one clone."""


class BenchError(Exception):
    """A command failed."""


def measured(clone: Path, command: list[str], log: Path) -> dict[str, float]:
    """Wall-clock and processor seconds of a command in a clone; its output goes to `log`."""
    # `make` sets variables for the commands that it starts, which must not reach the other `make`.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "WEFT"))}
    environment.pop("VIRTUAL_ENV", None)
    with log.open("w") as output:
        status, figures = timed(command, cwd=clone, env=environment, stdout=output, stderr=subprocess.STDOUT)
    if status != 0:
        raise BenchError(f"{' '.join(command)} failed:\n{''.join(log.read_text().splitlines(True)[-20:])}")
    return figures


def measure(tell: Any, rounds: int) -> dict[str, list[dict[str, float]]]:
    """All rounds of all steps. Package managers' earlier downloads are used, their builds are not."""
    found: dict[str, list[dict[str, float]]] = {step: [] for step in STEPS}
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory(prefix="weft-build-", dir=ROOT / "target") as scratch:
            clone = Path(scratch) / "weft"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            for step, command in STEPS.items():
                tell(f"{step}: round {number} of {rounds}")
                if "change" in step:
                    changed = clone / SCHEME
                    changed.write_text(
                        changed.read_text() + "\n/// Added by the benchmark.\npub const ADDED: u32 = 1;\n"
                    )
                found[step].append(measured(clone, command, Path(scratch) / "log"))
    return found


def show(document: dict[str, Any]) -> None:
    """Print the figures: median, and in brackets least and most."""
    console = tables_console(110)
    table = Table(box=None)
    for name in ("command", "processor seconds", "seconds"):
        table.add_column(name, justify="left" if name == "command" else "right")
    for step, rounds in document["steps"].items():
        columns = ([row[key] for row in rounds] for key in ("cpu_seconds", "seconds"))
        cells = [f"{median(row):.0f} ({min(row):.0f} to {max(row):.0f})" for row in columns]
        table.add_row(step, *cells)
    console.print(table)
    console.print(f"{spelled(document)}; {spelled_noise(document)}")


def main(
    rounds: Annotated[int, typer.Option(min=1, help="fresh clones")] = 3,
    json: Output = None,
) -> None:
    """Time `make quickstart`, a plugin's first build and `cargo check` in fresh clones of the last commit."""
    document = describe()
    (ROOT / "target").mkdir(exist_ok=True)
    with noise() as seen, telling() as tell:
        document["steps"] = measure(tell, rounds)
    document |= seen
    show(document)
    write(document, json)


run(main, BenchError)
