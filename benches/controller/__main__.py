"""`python -m benches.controller`: takes the figures, shows them and writes them to a file."""

from typing import Annotated

import typer

from benches.command import Output, refuse, run, tables_console, telling, write
from benches.controller import load, profile, set_up, show
from benches.controller.processes import LOAD, LoadError
from benches.machine import describe, noise

PARTS = ("load", "profile", "set-up")


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"any of {', '.join(PARTS)} [default: load]")] = None,
    controllers: Annotated[str, typer.Option(help="comma-separated")] = ",".join(load.CONTROLLERS),
    fabric: Annotated[str, typer.Option(help="fabric of the load, as for weft-ofload")] = load.FABRIC,
    rounds: Annotated[int, typer.Option(min=1, help="turns per controller")] = 5,
    connections: Annotated[int, typer.Option(min=100, help="per turn (load, profile), or in total (set-up)")] = 5000,
    memory: Annotated[int, typer.Option(min=0, help="live connections in the memory run; 0 to skip it")] = 100_000,
    quick: Annotated[bool, typer.Option("--quick", help="smoke test: two short turns on few switches")] = False,
    output: Output = None,
) -> None:
    """Benchmark the OpenFlow controller against an os-ken learning switch (benches/controller/README.md)."""
    parts, names = parts or ["load"], controllers.split(",")
    refuse("part", parts, PARTS)
    refuse("controller", names, load.CONTROLLERS)
    if not LOAD.exists():
        raise LoadError(f"{LOAD} is not built; run `make bench-controller`")
    if quick:
        fabric, rounds, connections, memory = "spine-leaf:2x4x2", 2, min(connections, 200), min(memory, 1000)
    document = describe()
    with telling() as tell:
        for part in parts:
            with noise() as seen:
                if part == "load":
                    figures = load.measure(names, fabric, rounds, connections, memory, tell)
                elif part == "profile":
                    most = load.IN_PROGRESS[-1]
                    figures = {name: profile.measure(name, fabric, connections, most, tell) for name in names}
                else:
                    tell("set-up: Open vSwitch and the kernel's Multipath TCP")
                    figures = set_up.measure(min(connections, 300), 4)
            document[part] = {"figures": figures, **seen}
    show.tables(document, tables_console(160))
    write(document, output)


if __name__ == "__main__":
    run(main, LoadError)
