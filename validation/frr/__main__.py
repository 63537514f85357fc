"""`python -m validation.frr`: measures the reaction of FRR's daemons to failed links, for `fabric.reaction`."""

from __future__ import annotations

from statistics import median
from typing import Annotated

import typer
from rich.console import Console

from weft.errors import WeftError

from .scenarios import UNEQUAL
from .trial import check, observe

CONSOLE = Console(stderr=True, highlight=False)


def main(repeats: Annotated[int, typer.Option(min=1, help="Failures of each kind and place.")] = 10) -> None:
    """Bring a leaf-spine fabric up under FRR, compare its routes with Weft's, fail links and print the reaction."""
    try:
        check()
        observed = observe(UNEQUAL, repeats)
    except WeftError as error:
        CONSOLE.print(f"[red]error:[/] {error}" + (f"\n  {error.hint}" if error.hint else ""))
        raise typer.Exit(1) from None
    print(f"FRR {observed['version']}: routes {observed['up_s']:.1f} s after the configuration was loaded\n")
    print("| failure | link of the path | median | range | scenario |\n|---|---|---|---|---|")
    times: dict[tuple[str, str], list[float]] = {}
    for reaction in observed["reactions"]:
        times.setdefault((reaction["kind"], reaction["place"]), []).append(1000 * reaction["seconds"])
    for (kind, place), found in times.items():
        between = f"{min(found):.0f} to {max(found):.0f} ms"
        offered = f'`reaction = "{median(found):.0f} ms"`'
        print(f"| {kind} | {place} | {median(found):.0f} ms | {between} | {offered} |")


if __name__ == "__main__":
    typer.run(main)
