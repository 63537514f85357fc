"""Refuses a dependency between crates that points the wrong way (see ARCHITECTURE.md).

`{units, wire} <- fabric <- control <- {switching, transport, traffic} <- scenario <- sim <- python`; and what lies
below `sim` may not use threads, files or clocks through a crate that brings them. `control` stands on `wire` and
`fabric`, `ofload` on `control` beside them, `switchd` on `wire`, `fabric` and `switching`, `loadgen` on `traffic`.
`loadgen` and `ofload` share `poller`.
"""

from __future__ import annotations

import json
import subprocess
import sys

LAYERS: dict[str, int] = {
    "weft-units": 0,
    "weft-wire": 0,
    "weft-fabric": 1,
    "weft-control": 2,
    "weft-switching": 3,
    "weft-transport": 3,
    "weft-traffic": 3,
    "weft-scenario": 4,
    "weft-poller": 4,
    "weft-sim": 5,
    "weft-switchd": 5,
    "weft-loadgen": 5,
    "weft-ofload": 5,
    "weft-python": 6,
}
"""A crate may depend on crates of lower layers only."""

STANDS_ON = {
    "weft-control": {"weft-units", "weft-fabric", "weft-wire"},
    "weft-switchd": {"weft-units", "weft-fabric", "weft-wire", "weft-switching"},
    "weft-poller": set(),
    "weft-loadgen": {"weft-units", "weft-traffic", "weft-poller"},
    "weft-ofload": {"weft-units", "weft-fabric", "weft-wire", "weft-control", "weft-poller"},
}
"""What a crate may depend on where that is less than all lower layers."""

IMPURE = {"rayon", "tokio", "rand", "libc"}
"""What a crate below the simulator may not depend on."""


def main() -> int:
    """Print what is wrong; the exit code says whether anything is."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    wrong = []
    for package in metadata["packages"]:
        name = package["name"]
        if name not in LAYERS:
            wrong.append(f"{name} has no layer: give it one in {__file__}")
            continue
        for dependency in package["dependencies"]:
            other = dependency["name"]
            if other in LAYERS and LAYERS[other] >= LAYERS[name]:
                wrong.append(f"{name} depends on {other}, which is not below it")
            if other in LAYERS and other not in STANDS_ON.get(name, LAYERS):
                wrong.append(f"{name} depends on {other}, which it does not stand on")
            if other in IMPURE and LAYERS[name] < LAYERS["weft-sim"] and dependency["kind"] is None:
                wrong.append(f"{name} depends on {other}, and what is below weft-sim is pure")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
