"""A case with the kernel's MPTCP, through Open vSwitches of its own: from outside of the jail."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from weft.emulation import iperf, mptcp, openvswitch, requirements
from weft.emulation.run import follow

from .cases import Case


def check() -> None:
    """Refuse a machine without what the runs need.

    Raises:
        weft.emulation.errors.EmulationError: Something is missing.
    """
    requirements.check(())
    openvswitch.check()
    mptcp.check()
    iperf.check()


def emulate(case: Case) -> dict[str, Any]:
    """Run a case once: `series` as simulated, with MPTCP's counters at the sender, versions, and what it took.

    Raises:
        weft.emulation.errors.EmulationError: It did not work.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "options.json").write_text(json.dumps({"case": case.name}), encoding="utf-8")
        follow("validation.mptcp.inside", directory, lambda _: None)
        observed: dict[str, Any] = json.loads((directory / "observed.json").read_text(encoding="utf-8"))
        return observed
