"""`python -m benches.switch`: takes the figures, shows them and writes them to a file."""

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from benches.command import CONSOLE, Output, refuse, run, tables_console, telling, write
from benches.machine import describe, noise
from benches.switch import connect, forward, jail, kill, recover, show, table
from benches.switch.lab import BINARIES, EXAMPLES, LabError
from benches.switch.peers import MODES
from weft.emulation.errors import EmulationError

PARTS = ("forward", "connect", "recover", "kill", "table")
FORWARDERS = ("bridge", *MODES, "ovs", "bridge again")
LIMIT = 3 * 3600.0


def take(
    parts: list[str],
    names: list[str],
    rounds: int,
    seconds: float,
    trials: int,
    quick: bool,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """The figures of the selected parts."""
    result: dict[str, Any] = {}
    for part in parts:

        def progress(what: str, part: str = part) -> None:
            tell(f"{part}: {what}")

        with noise() as seen:
            if part == "forward":
                figures = forward.measure(forward.present(names), rounds, seconds, progress)
            elif part == "connect":
                figures = connect.measure(["arp-path", "tcp-path"], rounds, seconds, progress)
            elif part == "recover":
                figures = recover.measure(trials, not quick, progress)
            elif part == "kill":
                figures = kill.measure(trials, progress)
            else:
                figures = table.measure(
                    trials, [1000, 10_000] if quick else [1000, 10_000, 100_000, 1_000_000], progress
                )
        result[part] = {"figures": figures, **seen}
    return result


def main(
    parts: Annotated[list[str] | None, typer.Argument(help=f"any of {', '.join(PARTS)} [default: all]")] = None,
    switches: Annotated[str, typer.Option(help="for forward, with commas; must include bridge")] = ",".join(FORWARDERS),
    rounds: Annotated[int, typer.Option(min=1, help="turns per switch (forward, connect)")] = 15,
    seconds: Annotated[float, typer.Option(min=0.05, help="length of one turn")] = 1.0,
    trials: Annotated[int, typer.Option(min=1, help="per kind of failure; runs of table")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="smoke test: three short turns, two trials")] = False,
    output: Output = None,
) -> None:
    """Benchmark the Linux switch, as ratios to other switches in the same run (benches/switch/README.md)."""
    parts = parts or list(PARTS)
    names = switches.split(",")
    refuse("part", parts, PARTS)
    refuse("switch", names, FORWARDERS)
    if forward.BASE not in names:
        raise typer.BadParameter(f"all ratios are to the {forward.BASE}: add it to --switches")
    if quick:
        rounds, seconds, trials = 3, min(seconds, 1.0), 2
    if not jail.is_inside():
        missing = [path for path in (EXAMPLES / "frames", BINARIES / "weft-switchd") if not path.exists()]
        if missing:
            CONSOLE.print(f"{missing[0]} is not built; run `make bench-switch`")
            raise typer.Exit(2)
        raise typer.Exit(jail.run("benches.switch", sys.argv[1:], LIMIT))
    jail.furnish()
    with telling() as tell:
        result = take(parts, names, rounds, seconds, trials, quick, tell)
    document = describe() | result
    show.tables(document, tables_console(132))
    write(document, output)


if __name__ == "__main__":
    run(main, LabError, EmulationError)
