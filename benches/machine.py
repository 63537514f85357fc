"""What figures were taken on, and what else went on there meanwhile."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def steal() -> float:
    """Seconds that the machine below has kept this one's cores waiting."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def describe() -> dict[str, Any]:
    """What the figures were taken on."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "kernel": platform.release(),
        "cpu": models[0].split(":", 1)[1].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
    }


@contextmanager
def noise() -> Iterator[dict[str, Any]]:
    """What went on during the block: `noise` and `took_s`, once it is over."""
    seen: dict[str, Any] = {}
    before, stolen, at = os.getloadavg()[0], steal(), datetime.now(UTC)
    yield seen
    seen["noise"] = {
        "load_before": before,
        "load_after": os.getloadavg()[0],
        "stolen_s": round(steal() - stolen, 2),
    }
    seen["took_s"] = round((datetime.now(UTC) - at).total_seconds(), 1)
