"""`weft bench`: speed and memory of the engine on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated, Any

import typer
from rich.table import Table

from .. import _weft, ns3, quantity
from . import shell


@shell.guarded
def bench(
    case: Annotated[str | None, typer.Argument(metavar="[CASE]", help="Case to run (default: all).")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, metavar="S", help="Approximate time per case.")] = 4.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurements as JSON.")] = False,
) -> None:
    """Measure the simulator: packet-hops per second on one core, peak memory, ratios to ns-3 and ECMP.

    Each case runs in its own process, to measure its peak memory. The ratio to ns-3 (same flows, a short slice) is
    printed for TCP cases in a source checkout with libns3-dev; the ns-3 program is built once, in about a minute. Cases
    of other schemes alternate with the same case under ECMP; the ratio is CPU time per packet-hop.

    [bold]Examples[/bold]

      weft bench
      weft bench fat-tree-k4-tcp --json
    """
    known = _weft.bench_cases()
    if case is not None and case not in known:
        raise shell.fail(f"unknown case `{case}`", f"one of {', '.join(known)}")
    if case is not None:
        rows = [json.loads(_weft.bench(case, seconds))]
        program = ns3.find(build=False)
        if program is not None:
            rows[0]["ratio_to_ns3"] = ns3.ratio(program, case)
    else:
        rows = []
        with shell.err.status("building the ns-3 reference program …"):
            ns3.find(build=True)
        for name in known:
            with shell.err.status(f"{name} …"):
                rows.append(_in_process(name, seconds))
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("case", no_wrap=True)
    for head in ("hops", "CPU time", "hops/s", "memory", "vs ns-3", "vs ECMP"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            str(row["case"]),
            quantity.count(row["packet_hops"]),
            quantity.seconds(row["cpu_seconds"]),
            quantity.count(row["packet_hops_per_second"]),
            quantity.size(row["peak_memory_bytes"]),
            quantity.ratio(row.get("ratio_to_ns3")),
            quantity.ratio(row.get("ratio_to_ecmp")),
        )
    shell.out.print(table)
    shell.out.print("hops: packet-hops (one packet crossing one link) on one core; memory: peak", style="dim")
    shell.out.print("vs ns-3: speed ratio; vs ECMP: ratio of CPU time per packet-hop", style="dim")


def _in_process(case: str, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "weft", "bench", case, "--seconds", str(seconds), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise shell.fail(f"{case}: {done.stderr.strip() or f'exit code {done.returncode}'}", code=shell.FAILED)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows[0]
