"""The cost of new TCP connections: rate and set-up latency, one at a time and eight at once.

Measured through one switch, where Weft does not explore because both hosts are attached to it, and through two leaves
and two spines, where each SYN is wrapped, flooded and unwrapped. Bridges get one spine: a spanning tree uses no more.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benches.ratio import ratios, spread
from benches.switch.lab import EXAMPLES, Lab, LabError, Space, address, wait_for
from benches.switch.peers import Bridge, Switch, Weft

BASE = "bridge"
PORT = 5001
AT_ONCE = (1, 8)
# Every connection must be explored: a rate limit would leave some to the default forwarding.
EXPLORE = "[exploration]\nexploration_rate = 1000000\nexploration_burst = 100000\n"


@dataclass
class Path:
    """Two hosts and the switches between them."""

    name: str
    shape: str
    client: Space
    server: Space
    switches: list[Switch]


def create(lab: Lab, kind: str, name: str) -> Switch:
    """A bridge or a Weft switch."""
    return Bridge(lab, name) if kind == BASE else Weft(lab, name, kind, EXPLORE)


def one_switch(lab: Lab, kind: str) -> Path:
    """Both hosts at one switch."""
    switch = create(lab, kind, f"{kind}-only")
    hosts = [lab.host(f"{kind}-o{number}", number, switch.space, f"p{number}") for number in (1, 2)]
    switch.start(["p1", "p2"])
    return ready(Path(kind, "one switch", hosts[0], hosts[1], [switch]))


def leaf_spine(lab: Lab, kind: str) -> Path:
    """Two leaves with one host each, connected by two spines (one spine for bridges)."""
    leaves = [create(lab, kind, f"{kind}-leaf{number}") for number in (1, 2)]
    spines = [create(lab, kind, f"{kind}-spine{number}") for number in ((1,) if kind == BASE else (1, 2))]
    hosts = [lab.host(f"{kind}-f{number}", number, leaf.space, "p0") for number, leaf in enumerate(leaves, 1)]
    for up, spine in enumerate(spines, 1):
        for down, leaf in enumerate(leaves, 1):
            lab.cable(leaf.space, f"p{up}", spine.space, f"p{down}")
    for leaf in leaves:
        leaf.start([f"p{number}" for number in range(len(spines) + 1)])
    for spine in spines:
        spine.start(["p1", "p2"])
    return ready(Path(kind, "2 leaves, 2 spines", hosts[0], hosts[1], leaves + spines))


def ready(path: Path) -> Path:
    """Waits until the switches forward, then starts the server."""
    wait_for(
        f"{path.name}, {path.shape}", lambda: all([path.client.answers(address(2)), path.server.answers(address(1))])
    )
    path.server.start(str(EXAMPLES / "connections"), "serve", f"{address(2)}:{PORT}", cpu=1)
    return path


def measure(modes: list[str], rounds: int, seconds: float, progress: Callable[[str], None]) -> dict[str, Any]:
    """Connections a second and set-up latency, as ratios to the bridge. Raises `LabError` if connections fail."""
    result: dict[str, Any] = {}
    for shape in (one_switch, leaf_spine):
        with Lab() as lab:
            paths = [shape(lab, kind) for kind in (BASE, *modes)]
            result[paths[0].shape] = compare(paths, rounds, seconds, progress)
    return result


def compare(paths: list[Path], rounds: int, seconds: float, progress: Callable[[str], None]) -> dict[str, Any]:
    """Measures the paths of one shape alternately."""
    taken: dict[int, dict[str, list[dict[str, float]]]] = {n: {path.name: [] for path in paths} for n in AT_ONCE}
    for number in range(rounds):
        progress(f"{paths[0].shape}, round {number + 1} of {rounds}")
        turn = number % len(paths)
        for path in paths[turn:] + paths[:turn]:
            for at_once in AT_ONCE:
                taken[at_once][path.name].append(connections(path, at_once, seconds))
    result: dict[str, Any] = {}
    for at_once, of in taken.items():
        for name, rows in of.items():
            figures = result.setdefault(name, {}).setdefault(f"{at_once} at once", {})
            for key in ("per_second", "p50_us", "p99_us"):
                values = [row[key] for row in rows]
                base = [row[key] for row in of[BASE]]
                figures[key] = {"ratio": ratios(values, base).json(), "absolute": spread(values).json()}
            figures["late"] = sum(row["late"] for row in rows)
            figures["explored"] = sum(row["explored"] for row in rows)
            figures["opened"] = sum(row["opened"] for row in rows)
    return result


def connections(path: Path, at_once: int, seconds: float) -> dict[str, float]:
    """One round on one path."""
    before = explored(path)
    command = [str(EXAMPLES / "connections"), "open", f"{address(2)}:{PORT}"]
    output = path.client.run(*command, "--seconds", f"{seconds:g}", "--at-once", str(at_once), cpu=0)
    row: dict[str, float] = json.loads(output)
    if not row["opened"]:
        raise LabError(f"{path.name}, {path.shape}: no connection was opened")
    row["per_second"] = row["opened"] / row["seconds"]
    row["explored"] = explored(path) - before
    return row


def explored(path: Path) -> int:
    """Explorations that reached the server's switch, counted by their late copies; 0 for bridges."""
    switch = path.switches[min(1, len(path.switches) - 1)]
    return switch.dropped("late_copy") if isinstance(switch, Weft) else 0
