"""`weft bench`: speed and memory of the engine on this machine."""

import json
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from .. import _weft, interpreter, ns3, quantity
from . import against, shell

_SECONDS = 4.0
"""Time per case by default."""
_ROUNDS = 5
"""Runs of each simulator by default."""


class Peer(StrEnum):
    """Simulators that whole commands are compared with."""

    htsim = "htsim"


@shell.guarded
def bench(
    case: Annotated[str | None, typer.Argument(metavar="[CASE]", help="Case to run (default: all).")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, metavar="S", help="Approximate time per case.")] = _SECONDS,
    threads: Annotated[int, typer.Option(min=1, metavar="N", help="Threads within each run.")] = 1,
    model: Annotated[
        bool, typer.Option("--model", help="Print the gain of 2 to 64 threads by a model that counts events.")
    ] = False,
    peer: Annotated[
        Peer | None, typer.Option("--against", help="Compare whole runs with another simulator instead; see --htsim.")
    ] = None,
    htsim: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --against htsim: a built checkout of uet-htsim, or its programs."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default=str(_ROUNDS), help="With --against: runs of each simulator."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            metavar="S",
            show_default="10 minutes and 1 ms per packet",
            help="With --against: end a run of the other simulator after this time.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurements as JSON.")] = False,
) -> None:
    """Measure the simulator: packet-hops per second, peak memory, ratios to ns-3, to ECMP and to one thread.

    Each case runs in its own process, to measure its peak memory. The ratio to ns-3 (same flows, a short slice) is
    printed for TCP cases in a source checkout with libns3-dev; the ns-3 program is built once, in about a minute. Cases
    of other schemes alternate with the same case under ECMP; the ratio is CPU time per packet-hop. Cases with several
    threads alternate with one thread; the ratio is elapsed time.

    With --against htsim, both simulators run the same connection matrices on one core, in alternating order. The table
    has the ratios of CPU time and memory, and whether packets and last completion agree within 3 %; if they do not, the
    exit code is 1. It builds nothing.

    [bold]Examples[/bold]

      weft bench
      weft bench fat-tree-k4-tcp --json
      weft bench fat-tree-k16-tcp --threads 2
      weft bench fat-tree-k16-tcp --model
      weft bench --against htsim --htsim ~/uet-htsim
      weft bench uec-permutation-1024 --against htsim --htsim ~/uet-htsim --rounds 3
    """
    if peer is not None:
        if htsim is None:
            raise shell.fail("--against htsim needs the directory of its programs", "--htsim DIR (docs/speed.md)")
        if model or threads != 1 or seconds != _SECONDS:
            raise shell.fail("--against compares whole runs on one thread", "leave out --model, --threads, --seconds")
        against.compare(htsim, case, rounds or _ROUNDS, timeout, as_json=as_json)
        return
    alone = {"--htsim": htsim, "--rounds": rounds, "--timeout": timeout}
    for name in (name for name, value in alone.items() if value is not None):
        raise shell.fail(f"{name} has an effect only with --against htsim", "--against htsim --htsim DIR")
    known = _weft.bench_cases()
    if case is not None and case not in known:
        raise shell.fail(f"unknown case `{case}`", f"one of {', '.join(known)}; others with --against htsim")
    if model:
        _model([case] if case is not None else known, seconds, as_json)
        return
    if case is not None:
        rows = [json.loads(_weft.bench(case, seconds, threads))]
        program = ns3.find(build=False) if threads == 1 else None
        if program is not None:
            rows[0]["ratio_to_ns3"] = ns3.ratio(program, case)
    else:
        rows = []
        if threads == 1:
            with shell.err.status("building the ns-3 reference program …"):
                ns3.find(build=True)
        for name in known:
            with shell.err.status(f"{name} …"):
                rows.append(_in_process(name, seconds, threads))
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("case", no_wrap=True)
    ratios = {"vs ns-3": "ratio_to_ns3", "vs ECMP": "ratio_to_ecmp"}
    if threads > 1:
        ratios = {"vs one thread": "ratio_to_one_thread"}
    for head in ("hops", "CPU time", "hops/s", "memory", *ratios):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            str(row["case"]),
            quantity.count(row["packet_hops"]),
            quantity.seconds(row["cpu_seconds"]),
            quantity.count(row["packet_hops_per_second"]),
            quantity.size(row["peak_memory_bytes"]),
            *(quantity.ratio(row.get(name)) for name in ratios.values()),
        )
    shell.out.print(table)
    of = "CPU time" if threads == 1 else "elapsed time"
    shell.out.print(f"hops: packet-hops (one packet crossing one link), per second of {of}", style="dim")
    if threads == 1:
        shell.out.print("vs ns-3: speed ratio; vs ECMP: ratio of CPU time per packet-hop", style="dim")


def _in_process(case: str, seconds: float, threads: int) -> dict[str, Any]:
    options = ["--seconds", str(seconds), "--threads", str(threads), "--json"]
    command = interpreter.module("weft", "bench", case, *options)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise shell.fail(f"{case}: {done.stderr.strip() or f'exit code {done.returncode}'}", code=shell.FAILED)
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows[0]


def _model(cases: list[str], seconds: float, as_json: bool) -> None:
    """Print how many times as fast as one thread several would be if every event took the same time."""
    rows = []
    for case in cases:
        with shell.err.status(f"{case} …"):
            rows.append(json.loads(_weft.bench_model(case, seconds)))
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("case", "events", *(f"{threads}" for threads, _ in rows[0]["gains"])):
        table.add_column(head, justify="left" if head == "case" else "right", no_wrap=True)
    for row in rows:
        gains = (quantity.ratio(gain) for _, gain in row["gains"])
        table.add_row(row["case"], quantity.count(row["events_per_window"]), *gains)
    shell.out.print(table)
    shell.out.print("events: in a window; 2 to 64: gain with so many threads, by a model", style="dim")
