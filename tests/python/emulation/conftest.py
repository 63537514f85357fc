"""Requirements of emulation tests, as fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

import needs
from weft.emulation import requirements


@pytest.fixture(scope="session")
def root() -> None:
    """Root on Linux, with the required system programs."""
    needs.root()


@pytest.fixture(scope="session")
def switches(root: None) -> None:
    """All requirements of `weft emulate`, and a kernel that loads the switch's programs."""
    needs.passed(requirements.check)
    if not Path("/sys/fs/bpf").is_dir():
        pytest.skip("this kernel has no BPF")
