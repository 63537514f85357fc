"""Checks the direction of dependencies between crates (see ARCHITECTURE.md); `check_circles.py` looks within them.

`{units, wire, pcapng} <- fabric <- control <- {transport <- switching, traffic} <- scenario <- sim <- plugin <-
python`. Crates below `sim` must not depend on crates that provide threads, files or clocks. `control` depends on `wire`
and `fabric`, `ofload` also on `control`, `switchd` on `wire`, `pcapng`, `fabric` and `switching`, `loadgen` on
`fabric` and `traffic`. `loadgen` and `ofload` share `poller`, `switchd` and `loadgen` share `manual`.
"""

import json
import subprocess
import sys

LAYERS: dict[str, int] = {
    "weft-units": 0,
    "weft-wire": 0,
    "weft-pcapng": 0,
    "weft-fabric": 1,
    "weft-control": 2,
    "weft-transport": 3,
    "weft-traffic": 3,
    "weft-switching": 4,
    "weft-scenario": 5,
    "weft-manual": 5,
    "weft-poller": 5,
    "weft-sim": 6,
    "weft-switchd": 6,
    "weft-loadgen": 6,
    "weft-ofload": 6,
    "weft-plugin": 7,
    "weft-python": 8,
}
"""A crate may depend on crates of lower layers only."""

STANDS_ON = {
    "weft-control": {"weft-units", "weft-fabric", "weft-wire"},
    "weft-switchd": {"weft-units", "weft-fabric", "weft-wire", "weft-pcapng", "weft-switching", "weft-manual"},
    "weft-pcapng": set(),
    "weft-manual": set(),
    "weft-poller": set(),
    "weft-loadgen": {"weft-units", "weft-fabric", "weft-traffic", "weft-poller", "weft-manual"},
    "weft-ofload": {"weft-units", "weft-fabric", "weft-wire", "weft-control", "weft-poller"},
}
"""Permitted dependencies of crates that must not use all lower layers."""

IMPURE = {"rayon", "tokio", "rand", "libc"}
"""Crates that crates below the simulator must not depend on."""


def main() -> int:
    """Print violations; the exit code is 1 if there are any."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    wrong = []
    for package in metadata["packages"]:
        name = package["name"]
        if name not in LAYERS:
            wrong.append(f"{name} has no layer: add it to LAYERS in {__file__}")
            continue
        for dependency in package["dependencies"]:
            other = dependency["name"]
            if other in LAYERS and LAYERS[other] >= LAYERS[name]:
                wrong.append(f"{name} depends on {other}, which is not in a lower layer")
            if other in LAYERS and other not in STANDS_ON.get(name, LAYERS):
                wrong.append(f"{name} depends on {other}, which STANDS_ON does not permit")
            if other in IMPURE and LAYERS[name] < LAYERS["weft-sim"] and dependency["kind"] is None:
                wrong.append(f"{name} depends on {other}, which crates below weft-sim must not use")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
