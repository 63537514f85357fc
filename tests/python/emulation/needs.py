"""Requirements of tests with real networks; tests are skipped if they are missing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from weft.emulation import requirements
from weft.emulation.errors import EmulationError


def root() -> None:
    """Skip the test unless it runs as root on Linux with the system programs."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("network namespaces need root on Linux")
    missing = [name for name in requirements.SYSTEM_PROGRAMS if requirements.program(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; run `make emulation`")
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system does not allow network namespaces")


def passed(*checks: Callable[[], None]) -> None:
    """Skip the test unless these checks pass."""
    for check in checks:
        try:
            check()
        except EmulationError as error:
            pytest.skip(f"{error}; {error.hint}")
