"""`python -m benches.tags`: takes the figures, shows them and writes them to a file."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from benches.command import CONSOLE, Output, run, tables_console, write
from benches.machine import describe, noise
from benches.switch import jail, lab
from benches.switch.lab import EXAMPLES, LabError, on_cpu
from benches.tags import show
from weft.emulation.errors import EmulationError

PINS = "/sys/fs/bpf/tags"
LIMIT = 1800.0


def main(
    frames: Annotated[int, typer.Option(min=1, help="frames timed per figure")] = 20_000,
    rules: Annotated[str, typer.Option(help="table sizes, comma-separated")] = "100,2000,40000,200000",
    kinds: Annotated[str, typer.Option(help="kinds of rules, comma-separated; at most 64")] = "1,8,64",
    quick: Annotated[bool, typer.Option("--quick", help="smoke test: small tables, few frames")] = False,
    output: Output = None,
    drawing: Annotated[Path | None, typer.Option("--draw", help="write lookups.png into this directory")] = None,
) -> None:
    """Benchmark the eBPF programs with tags and with a flow table at every switch (docs/tag-forward-study.md)."""
    if quick:
        frames, rules, kinds = 200, "10,1000", "1,8"
    if not jail.is_inside():
        program = EXAMPLES / "tags"
        if not program.exists():
            CONSOLE.print(f"{program} is not built; run `make bench-tags`")
            raise typer.Exit(2)
        raise typer.Exit(jail.run("benches.tags", sys.argv[1:], LIMIT))
    jail.furnish()
    command = [*on_cpu(0), str(EXAMPLES / "tags"), PINS, "--frames", str(frames), "--rules", rules, "--kinds", kinds]
    with noise() as seen, CONSOLE.status("timing frames"):
        figures = json.loads(lab.run(*command, limit=LIMIT))
    document = describe() | {"figures": figures, **seen}
    show.tables(document, tables_console(132))
    write(document, output)
    if drawing:
        show.draw(document, drawing)


if __name__ == "__main__":
    run(main, LabError, EmulationError)
