"""What figures are taken on, and what else it does meanwhile."""

import os
import platform
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "kernel": platform.release(),
        "cpu": models[0].split(":", 1)[1].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
    }


def steal() -> float:
    """Seconds that the machine below has kept this one's cores waiting."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


class Noise:
    """What else the machine did since this was made."""

    def __init__(self) -> None:
        self._load, self._stolen = os.getloadavg()[0], steal()

    def json(self) -> dict[str, float]:
        """As written to files."""
        stolen = round(steal() - self._stolen, 2)
        return {"load_before": self._load, "load_after": os.getloadavg()[0], "stolen_s": stolen}
