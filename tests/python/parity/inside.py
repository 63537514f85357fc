"""Process 1 of a jail: makes one network, runs a group of cases in it, prints a line of JSON for each cell.

With `WEFT_PARITY_LOGS=1` it also prints what the daemons have logged, on its standard error.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path

from weft.emulation import jail

from . import table
from .fabric import PACES, Fabric
from .stalls import Stalls


def main(kind: str, group: str, form: str, switchd: str, turn: str, *names: str) -> None:
    """Run the cases of a group, or only the named ones.

    Args:
        kind: The column.
        group: The group.
        form: `full` or `short`.
        switchd: The program of the Linux switch.
        turn: A lock file, held while creating a network.
        names: Cases; empty for all.
    """
    jail.furnish()
    with contextlib.suppress(PermissionError):
        # Raise the priority, so that times reflect the network and not scheduling on a busy machine.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    with Path(turn).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fabric = Fabric(kind, PACES[form], switchd)
        try:
            fabric.start()
        except BaseException:
            fabric.end()
            raise
    try:
        for case in table.GROUPS[group]:
            if names and case.name not in names:
                continue
            began = time.monotonic()
            with Stalls() as stalls:
                cells = case.run(fabric)
            for name, cell in cells.items():
                cell.stalled = stalls.longest_ms
                print(f"{case.name}\t{name}\t{cell.to_json()}", flush=True)
            print(f"{kind}: {case.name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    finally:
        fabric.end()
        if not fabric.bridged and os.environ.get("WEFT_PARITY_LOGS"):
            for name in fabric.ports:
                print(f"--- {name}\n{fabric.log(name)}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
