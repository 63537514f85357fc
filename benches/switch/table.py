"""A table of a million flows: its memory, and the time per frame by number of entries."""

import json
from collections.abc import Callable
from typing import Any

from benches.ratio import spread
from benches.switch.lab import EXAMPLES, on_cpu, run

PINS = "/sys/fs/bpf/table"


def measure(trials: int, entries: list[int], progress: Callable[[str], None]) -> dict[str, Any]:
    """The figures of `lookup`, over several independent runs."""
    runs = []
    for trial in range(trials):
        progress(f"run {trial + 1} of {trials}")
        place = f"{PINS}{trial}"
        command = [*on_cpu(0), str(EXAMPLES / "lookup"), place, "--entries", ",".join(map(str, entries))]
        runs.append(json.loads(run(*command, limit=300)))
        run("rm", "-r", place)
    rows = {
        str(count): {
            key: spread([of["rows"][number][key] for of in runs]).json()
            for key in ("p10_ns", "p50_ns", "p90_ns", "same_flow_ns")
        }
        for number, count in enumerate(entries)
    }
    return {
        "bytes": runs[0]["bytes"],
        "held": runs[0]["held"],
        "sweep_s": spread([of["sweep_s"] for of in runs]).json(),
        "frame": rows,
    }
