"""docs/deploy.md: the ring of three servers behaves as described."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from jails import in_jail

PROGRAMS = Path(sys.executable).parent


@pytest.mark.skipif(
    not (PROGRAMS / "weft-switchd").exists(), reason="weft-switchd is not installed; run `make emulation`"
)
@pytest.mark.skipif(shutil.which("ping") is None, reason="ping is not installed")
def test_the_ring_of_three_servers_survives_a_cut_cable_and_goes_back(root, monkeypatch):
    monkeypatch.setenv("PATH", f"{PROGRAMS}:{os.environ['PATH']}")
    seen = in_jail("import ring\ntell(ring.seen())\n")
    assert seen["whole"] == 10
    # Pings over the failed link may be lost, until the host is found via the third server; others are sent for them.
    assert seen["cut"] == 10
    assert seen["down"] == "down"
    assert seen["ended"] == [0, 0, 0]
    assert seen["left"] == []
    assert seen["bridged"]
