"""Runs a case with the kernel's MPTCP over private Open vSwitches: the part outside the jail."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from weft.emulation import iperf, mptcp, openvswitch, requirements
from weft.emulation.run import follow

from .cases import Case


def check() -> None:
    """Check that the machine meets the requirements.

    Raises:
        weft.emulation.errors.EmulationError: Something is missing.
    """
    requirements.check(())
    openvswitch.check()
    mptcp.check()
    iperf.check()


def emulate(case: Case) -> dict[str, Any]:
    """Run a case once; returns `series` as simulated, the sender's MPTCP counters, versions and CPU share.

    Raises:
        weft.emulation.errors.EmulationError: The run failed.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "options.json").write_text(json.dumps({"case": case.name}), encoding="utf-8")
        follow("validation.mptcp.inside", directory, lambda _: None, beside=Path(__file__).parents[2])
        observed: dict[str, Any] = json.loads((directory / "observed.json").read_text(encoding="utf-8"))
        return observed
