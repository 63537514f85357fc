"""Requirements of emulation tests; tests are skipped if they are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.emulation import requirements
from weft.emulation.errors import EmulationError


@pytest.fixture(scope="session")
def root() -> None:
    """Root on Linux, with the required system programs."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("network namespaces need root on Linux")
    missing = [name for name in requirements.SYSTEM_PROGRAMS if requirements.program(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; run `make emulation`")
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system does not allow network namespaces")


@pytest.fixture(scope="session")
def switches(root: None) -> None:
    """All requirements of `weft emulate`, and a kernel that loads the switch's programs."""
    try:
        requirements.check()
    except EmulationError as error:
        pytest.skip(f"{error}; {error.hint}")
    if not Path("/sys/fs/bpf").is_dir():
        pytest.skip("this kernel has no BPF")
