"""A trial of a scenario with FRR's daemons: the part outside the jail."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from weft.emulation.errors import EmulationError
from weft.emulation.requirements import program
from weft.emulation.run import follow

from .fabric import DAEMONS, PROGRAMS

_SYSTEM = ("unshare", "setpriv", "mount", "ip", "tc", "ping", "vtysh")


def check() -> None:
    """Check that the machine meets the requirements.

    Raises:
        EmulationError: Something is missing.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        raise EmulationError("network namespaces need root on Linux", "the same command with `sudo`")
    missing = [name for name in _SYSTEM if program(name) is None]
    missing += [name for name in DAEMONS if not (PROGRAMS / name).is_file()]
    if missing:
        raise EmulationError(f"missing: {', '.join(missing)}", "apt-get install frr iproute2 iputils-ping")


def observe(scenario: str, repeats: int) -> dict[str, Any]:
    """Run a scenario's fabric once.

    Args:
        scenario: The text of a scenario file with one run, scheme `ecmp` or `wcmp`.
        repeats: The number of failures of each kind and place.

    Returns:
        ``daemons_s``, seconds until all daemons have their configuration, and ``up_s`` until all routes are there;
        ``wanted`` and ``found``, Weft's and FRR's next hops with weights; ``unreachable``, pairs of hosts;
        ``reactions``, each with ``kind``, ``place``, ``link`` and ``seconds``; FRR's ``version``.

    Raises:
        EmulationError: The trial failed.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        options = {"scenario": scenario, "repeats": repeats}
        (directory / "options.json").write_text(json.dumps(options), encoding="utf-8")
        follow("validation.frr.inside", directory, lambda _: None, beside=Path(__file__).parents[2])
        observed: dict[str, Any] = json.loads((directory / "observed.json").read_text(encoding="utf-8"))
        return observed
