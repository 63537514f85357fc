"""The ns-3 reference program, for the ratio printed by `weft bench`: find it, build it if possible, and run it.

The program and its build script are in ``validation/ns3`` of a checkout; an installed package has neither and prints no
ratio.
"""

import csv
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import _weft

HEADERS = Path("/usr/include/ns3/core-module.h")
"""A header installed by Debian's libns3-dev."""
SLICE_SECONDS = 0.1
"""CPU seconds of our engine to compare: ns-3 takes about a hundred times as long for the same flows. Of 20 ms, most
would be the start of the flows on the fat-tree k=16."""
MOST_BYTES, FIRST_PORT = 1_000_000_000, 1024
"""The longest flow given to ns-3, longer than can finish within the slice, and the first receiver port."""
_TCP = {"tcp": "cubic", "20": "cubic"}
"""The program's transport by the last word of a case's name; cases with other transports are not compared."""


def find(*, build: bool) -> Path | None:
    """The reference program, or None; with `build`, it is built (about a minute) if libns3-dev is installed."""
    named = os.environ.get("WEFT_NS3_REFERENCE")
    if named:
        return Path(named)
    for root in (Path.cwd(), *Path(__file__).resolve().parents):
        script = root / "validation" / "ns3" / "run.sh"
        if script.is_file():
            program = root / "target" / "ns3-reference" / "reference"
            if not program.exists() and build and HEADERS.exists() and shutil.which("g++"):
                command = ["bash", str(script), "--no-install", "--check", "--case", "lone.single_path.newreno"]
                subprocess.run(command, capture_output=True, check=False)
            return program if program.exists() else None
    return None


def ratio(program: Path, case: str) -> float | None:
    """Packet-hops per CPU second of our engine relative to ns-3, on the same flows.

    Ours is the median of three runs, because a run is very short; ns-3 runs once.

    None if the program cannot run the case.
    """
    tcp = _TCP.get(case.rpartition("-")[2])
    if tcp is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        simulated = _weft.bench_export(case, SLICE_SECONDS, folder)
        _adapt(Path(folder) / "flows.csv")
        command = [
            str(program),
            f"--fabric={folder}/fabric.csv",
            f"--flows={folder}/flows.csv",
            "--scheme=ecmp",
            f"--tcp={tcp}",
            "--mss=1448",
            f"--stop={simulated}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        theirs = json.loads(done.stdout.strip().splitlines()[-1])
        speed = theirs["packet_hops"] / theirs["cpu_seconds"]
    except (ValueError, LookupError, ZeroDivisionError):
        return None
    ours = sorted(json.loads(_weft.bench(case, SLICE_SECONDS, 1))["packet_hops_per_second"] for _ in range(3))
    return float(ours[1] / speed)


def _adapt(flows: Path) -> None:
    """Adapt a flow list to ns-3: starts in whole nanoseconds, 32-bit sizes, one port per flow."""
    with flows.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["start_ps"] = str(int(row["start_ps"]) // 1000 * 1000)
        row["bytes"] = str(min(int(row["bytes"]), MOST_BYTES))
        row["dport"] = str(FIRST_PORT + number % (65_536 - FIRST_PORT))
    with flows.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
