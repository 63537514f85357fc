"""The table's rows: one list of cases, and for each what is meant to differ from the bridge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import carried
import configuring
import faults
import idle
import kernel
import moves
from cell import Cell
from fabric import Fabric


@dataclass(frozen=True)
class Case:
    """A case: one row, or several that are measured together.

    Attributes:
        name: What it is called.
        run: Tries it in a network; cells by row.
    """

    name: str
    run: Callable[[Fabric], Mapping[str, Cell]]


GROUPS: dict[str, tuple[Case, ...]] = {
    "idle": (Case("idle hosts", idle.measure),),
    "frames": (Case("kinds of frames", carried.measure), Case("kernels", kernel.measure), Case("configuration", configuring.measure)),
    "events": (
        Case("moves", moves.measure),
        Case("restarts", faults.restarts),
        Case("hangs", faults.hangs),
        Case("pins", faults.pins),
        Case("loops", faults.loops),
    ),
}
