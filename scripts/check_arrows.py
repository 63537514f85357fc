"""Checks the direction of dependencies between crates, and between the files of the engine (see ARCHITECTURE.md).

`{units, wire, pcapng} <- fabric <- control <- {transport <- switching, traffic} <- scenario <- sim <- plugin <-
python`. Crates below `sim` must not depend on crates that provide threads, files or clocks. `control` depends on `wire`
and `fabric`, `ofload` also on `control`, `switchd` on `wire`, `pcapng`, `fabric` and `switching`, `loadgen` on
`traffic`. `loadgen` and `ofload` share `poller`, `switchd` and `loadgen` share `manual`. No two files of `sim` use each
other, not even over others.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

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
    "weft-switchd": {
        "weft-units",
        "weft-fabric",
        "weft-wire",
        "weft-pcapng",
        "weft-switching",
        "weft-manual",
    },
    "weft-pcapng": set(),
    "weft-manual": set(),
    "weft-poller": set(),
    "weft-loadgen": {"weft-units", "weft-traffic", "weft-poller", "weft-manual"},
    "weft-ofload": {"weft-units", "weft-fabric", "weft-wire", "weft-control", "weft-poller"},
}
"""Permitted dependencies of crates that must not use all lower layers."""

IMPURE = {"rayon", "tokio", "rand", "libc"}
"""Crates that crates below the simulator must not depend on."""


ENGINE = Path("crates/sim/src")
"""The crate whose files must not use each other in a circle."""


def circle(root: Path) -> list[str]:
    """Modules below `root` that use each other in a circle, the first one twice; empty if there are none."""
    files = {path.relative_to(root).with_suffix("").as_posix(): path for path in root.rglob("*.rs")}
    texts = {name.removesuffix("/mod").replace("/", "::"): path.read_text() for name, path in files.items()}
    uses = {name: set(_used(name, text, texts)) - {name} for name, text in texts.items()}
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def _used(name: str, text: str, known: dict[str, str]) -> list[str]:
    """The modules named in `text`, the source of module `name`: paths from the crate or the parent, and children."""
    text = text.split("#[cfg(test)]\nmod tests", 1)[0]
    parent = name.rpartition("::")[0] or "lib"
    paths = _paths(r"\bcrate::", text)
    paths += [f"{parent}::{path}".removeprefix("lib::") for path in _paths(r"\bsuper::", text)]
    paths += [f"{name}::{child}" for child in re.findall(r"^mod ([a-z_0-9]+);", text, flags=re.MULTILINE)]
    found = []
    for path in paths:
        parts = path.strip(":").split("::")
        prefixes = ["::".join(parts[:length]) for length in range(len(parts), 0, -1)]
        found += [next((prefix for prefix in prefixes if prefix in known), name)]
    return found


def _paths(start: str, text: str) -> list[str]:
    """The paths behind `start`; each of those in braces, as in `crate::{a, b::c}`."""
    paths = re.findall(start + r"([a-z_:0-9]+)", text)
    for group in re.findall(start + r"\{([^;]*)\};", text):
        paths += re.findall(r"(?:^|[,{])\s*([a-z_:0-9]+)", re.sub(r"::\{[^}]*\}", "", group))
    return paths


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
    if found := circle(ENGINE):
        wrong.append(f"files of {ENGINE} use each other: {' -> '.join(found)}")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
