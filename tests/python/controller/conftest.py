"""Requirements of controller tests with real switches; tests are skipped if they are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "emulation"))

from jails import in_jail
from weft.emulation import iperf, mptcp, openvswitch, requirements
from weft.emulation.errors import EmulationError

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def lab():
    """Runs Python in a jail, with `lab`'s names imported."""
    if sys.platform != "linux":
        pytest.skip("network namespaces need Linux")
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    pytest.importorskip("h11", reason="the Python package h11 is not installed (`make controller`)")
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system does not allow network namespaces")
    missing = [name for name in requirements.SYSTEM_PROGRAMS if requirements.program(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; run `make emulation`")
    for module in (openvswitch, mptcp, iperf):
        try:
            module.check()
        except EmulationError as error:
            pytest.skip(f"{error}; {error.hint}")
    places = [str(HERE), str(HERE.parents[2])]
    prologue = f"import sys; sys.path[:0] = {places}\nfrom benches.controller.lab import *\n"
    return lambda code, limit_s=90.0: in_jail(prologue, code, limit_s=limit_s)
