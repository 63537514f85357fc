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
    """The head of a document of figures: `machine` (kernel, CPU and number of cores), and the time, `at`."""
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    machine = {
        "kernel": platform.release(),
        "cpu": models[0].split(":", 1)[1].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
    }
    return {"machine": machine, "at": datetime.now(UTC).isoformat(timespec="seconds")}


def spelled(document: dict[str, Any]) -> str:
    """The machine of a document, as text."""
    machine = document["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}"


@contextmanager
def noise() -> Iterator[dict[str, Any]]:
    """Records load, steal time and duration of the block in `noise` and `took_s` when it ends."""
    seen: dict[str, Any] = {}
    before, stolen, at = os.getloadavg()[0], steal(), datetime.now(UTC)
    yield seen
    seen["noise"] = {"load_before": before, "load_after": os.getloadavg()[0], "stolen_s": round(steal() - stolen, 2)}
    seen["took_s"] = round((datetime.now(UTC) - at).total_seconds(), 1)


def spelled_noise(seen: dict[str, Any]) -> str:
    """The record of `noise`, as text."""
    noise = seen["noise"]
    return (
        f"took {seen['took_s']:g} s; load {noise['load_before']:.1f} before, {noise['load_after']:.1f} after; "
        f"{noise['stolen_s']:g} s stolen"
    )
