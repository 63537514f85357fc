"""`python -m validation.mptcp`: runs the cases simulated and emulated, and prints and writes the comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from weft.errors import WeftError

from .cases import BY_NAME
from .emulated import check, emulate
from .series import Observed
from .simulated import simulate
from .table import Row, markdown, rows

HERE = Path(__file__).parent
CONSOLE = Console(stderr=True, highlight=False)


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Cases [default: all].", metavar="[CASE]...")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Emulated runs per case; also the number of seeds.")] = 3,
    out: Annotated[Path | None, typer.Option(help="Output page [default: comparison.md if all cases run].")] = None,
) -> None:
    """Compare the simulated Multipath TCP with this machine's kernel."""
    unknown = sorted(set(names or ()) - set(BY_NAME))
    if unknown:
        CONSOLE.print(f"[red]error:[/] unknown case {', '.join(unknown)}; choose from {', '.join(BY_NAME)}")
        raise typer.Exit(2)
    try:
        check()
        found, about = compare(list(names or BY_NAME), runs)
    except WeftError as error:
        CONSOLE.print(f"[red]error:[/] {error}" + (f"\n  {error.hint}" if error.hint else ""))
        raise typer.Exit(1) from None
    text = markdown(found, about)
    target = out if out is not None or names else HERE / "comparison.md"
    if target is not None:
        target.write_text(text, encoding="utf-8")
    print(text, end="")


def compare(names: list[str], runs: int) -> tuple[list[Row], str]:
    """Rows of the cases, and a description of the runs and versions.

    Cases alternate within each run, so that other load on the machine affects all alike.
    """
    kernel: dict[str, list[Observed]] = {name: [] for name in names}
    about, busy = "", 0.0
    for number in range(runs):
        for name in names:
            CONSOLE.print(f"run {number + 1} of {runs}: {name}")
            seen = emulate(BY_NAME[name])
            kernel[name].append(seen["series"])
            busy = max(busy, seen["own_share"])
            versions = seen["versions"]
            about = (
                f"{runs} runs and seeds, 95 % intervals; Linux {versions['kernel'].partition('-')[0]}, Open vSwitch"
                f" {versions['openvswitch']} (datapath {versions['datapath']}). Switches and hosts used at most"
                f" {100 * busy:.0f} % of the processors."
            )
    found = [row for name in names for row in rows(BY_NAME[name], kernel[name], simulate(BY_NAME[name], runs))]
    return found, about


if __name__ == "__main__":
    typer.run(main)
