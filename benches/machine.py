"""The machine that figures were taken on, and its other load during the measurement."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def steal() -> float:
    """Steal time: seconds that the hypervisor has kept this machine's cores waiting."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def describe() -> dict[str, Any]:
    """Kernel, CPU and number of cores."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "kernel": platform.release(),
        "cpu": models[0].split(":", 1)[1].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
    }


@contextmanager
def noise() -> Iterator[dict[str, Any]]:
    """Records load, steal time and duration of the block in `noise` and `took_s` when it ends."""
    seen: dict[str, Any] = {}
    before, stolen, at = os.getloadavg()[0], steal(), datetime.now(UTC)
    yield seen
    seen["noise"] = {
        "load_before": before,
        "load_after": os.getloadavg()[0],
        "stolen_s": round(steal() - stolen, 2),
    }
    seen["took_s"] = round((datetime.now(UTC) - at).total_seconds(), 1)
