"""What Prometheus finds at running daemons and a running controller."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.extend(str(Path(__file__).parents[1] / name) for name in ("emulation", "controller"))

from jails import in_jail
from prometheus import program, queries
from weft.emulation import requirements

PROLOGUE = f"""
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1] / "controller")]}
import scraped
"""


@pytest.fixture(scope="session")
def seen() -> dict[str, Any]:
    """Texts of all targets, results of all queries of the dashboard, and the state of all rules (`scraped.py`)."""
    pytest.importorskip("prometheus_client", reason="the Python package prometheus-client is not installed")
    if os.geteuid() != 0:
        pytest.skip("network namespaces and eBPF need root")
    for name in ("unshare", "mount", "ip", "weft-switchd"):
        if requirements.program(name) is None:
            pytest.skip(f"{name} is not installed (`make emulation`)")
    server, switchd = program("prometheus"), requirements.required("weft-switchd")
    call = f"tell(scraped.seen({server!r}, {switchd!r}, json.loads({json.dumps(queries())!r})))"
    found: dict[str, Any] = in_jail(PROLOGUE, call)
    return found
