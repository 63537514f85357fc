"""The controller under load: new Multipath TCP connections of four subflows over 64 switches.

The baseline is a plain os-ken learning switch, measured in the same run: the framework's own limit. Controllers take
turns within a round, in random order, so that other load on the machine slows all alike.
"""

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benches.controller.processes import Process, free_port, load
from benches.ratio import ratios, spread

YARDSTICK = "os-ken learning switch"
WEFT = "weft smoc"
TREE = "weft spanning-tree"
CONTROLLERS = (YARDSTICK, WEFT, TREE)
IN_PROGRESS = (1, 16, 64)
"""Connections in progress: one for pure latency, a few, and more than the controller can handle in parallel."""
OFFERED = (0.25, 0.5, 0.75)
"""Rates of the open loop, as fractions of the rate reached in the closed loop."""
SUBFLOWS = 4
FABRIC = "spine-leaf:8x56x2"
"""64 switches: 56 leaves with two hosts each, 8 spines."""


def start(name: str) -> Process:
    """Start a controller. Raises `LoadError` if it does not start listening."""
    port = free_port()
    if name == YARDSTICK:
        return Process(name, ["benches.controller.learning_switch", str(port)], port)
    control = Path(tempfile.mkdtemp(prefix="weft-load-")) / "control.sock"
    forwarding = "spanning-tree" if name == TREE else "smoc"
    arguments = ["weft", "controller", "--listen", f"127.0.0.1:{port}", "--control", str(control), "--quiet"]
    return Process(name, [*arguments, "--forwarding", forwarding], port)


def offer(name: str, fabric: str) -> list[str]:
    """The load generator's arguments for a controller.

    A learning switch cannot handle loops: each of its switches stands alone, and a connection is a SYN from a new
    address to the switch's other host, and the answer.
    """
    if name == YARDSTICK:
        return ["--fabric", "alone:64", "--protocol", "tcp", "--fresh-addresses"]
    return ["--fabric", fabric, "--subflows", str(SUBFLOWS)]


def measure(
    names: list[str], fabric: str, rounds: int, connections: int, memory: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """All figures of the load. Raises `LoadError` if a controller or the load generator failed."""
    closed = closed_loop(names, fabric, rounds, connections, tell)
    result: dict[str, Any] = {"closed": closed}
    if WEFT in names:
        reached = closed[WEFT][str(IN_PROGRESS[-1])]["per_second"]["median"]
        result["open"] = open_loop(fabric, reached, connections, tell)
        if memory:
            result["memory"] = held(fabric, memory, tell)
    return result


def closed_loop(
    names: list[str], fabric: str, rounds: int, connections: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Connections per second with fixed numbers in progress, over all rounds."""
    runs: dict[str, dict[int, list[dict[str, Any]]]] = {name: {n: [] for n in IN_PROGRESS} for name in names}
    draw = random.Random(1)
    for turn in range(rounds):
        for name in draw.sample(names, len(names)):
            for in_progress in IN_PROGRESS:
                tell(f"round {turn + 1} of {rounds}: {name}, {in_progress} in progress")
                count = max(connections // 10, 100) if in_progress == 1 else connections
                arguments = ["--in-progress", str(in_progress), "--connections", str(count)]
                warm = ["--warm-up", str(count // 10), "--seed", str(turn + 1)]
                with start(name) as controller:
                    runs[name][in_progress].append(load(controller, *offer(name, fabric), *arguments, *warm))
    return {name: {str(n): summary(reports) for n, reports in of.items()} for name, of in runs.items()} | compared(runs)


def summary(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Summary over rounds: the spread of rates, the median of percentiles, the sum of failures."""
    per_second = spread([report["per_second"] for report in reports])
    cores = [report["controller"]["share_of_a_core"] for report in reports]
    kinds = [kind for kind in reports[0]["latency_ms"] if all(report["latency_ms"][kind] for report in reports)]
    return {
        "per_second": per_second.json(),
        "packet_ins_per_second": spread([packet_ins(report) for report in reports]).json(),
        "messages_per_second": spread([report["messages_per_second"] for report in reports]).json(),
        "messages_per_connection": spread([report["messages_per_connection"] for report in reports]).median,
        "packet_ins_per_connection": spread([packet_ins(report) / report["per_second"] for report in reports]).median,
        "latency_ms": {
            kind: {
                quantile: spread([report["latency_ms"][kind][quantile] for report in reports]).median
                for quantile in ("p50", "p90", "p99", "p999", "max")
            }
            for kind in kinds
        },
        "controller_share_of_a_core": spread(cores).median,
        "emulator_share_of_a_core": spread([report["emulator_share_of_a_core"] for report in reports]).median,
        "distinct_paths": spread([report["distinct_paths"] for report in reports]).median,
        "wrong": wrong(reports),
        "rounds": reports,
    }


def packet_ins(report: dict[str, Any]) -> float:
    """Packet-ins per second, excluding LLDP."""
    messages = report["messages"]
    return float((messages["packet_ins"] - messages["packet_ins_of_lldp"]) / report["seconds"])


def wrong(reports: list[dict[str, Any]]) -> dict[str, int]:
    """Failures by kind; zero counts are omitted."""
    of: dict[str, int] = {}
    for report in reports:
        counts = {"connections that failed": report["connections"]["failed"], **report["failures"]}
        counts |= {name: report["messages"][name] for name in ("refused", "looped", "misdirected")}
        for name, count in counts.items():
            of[name] = of.get(name, 0) + count
    return {name: count for name, count in of.items() if count}


def compared(runs: dict[str, dict[int, list[dict[str, Any]]]]) -> dict[str, Any]:
    """Rates relative to the baseline's, paired by round."""
    if YARDSTICK not in runs:
        return {}
    most = IN_PROGRESS[-1]
    base = runs[YARDSTICK][most]
    over: dict[str, Any] = {}
    for name, of in runs.items():
        figures = {
            "packet_ins": ratios([packet_ins(one) for one in of[most]], [packet_ins(one) for one in base]),
            "messages": ratios(
                [one["messages_per_second"] for one in of[most]], [one["messages_per_second"] for one in base]
            ),
        }
        over[name] = {what: of.json() for what, of in figures.items()}
    return {"of_the_yardstick": over}


def open_loop(fabric: str, reached: float, connections: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Latencies at fixed arrival rates."""
    result = {}
    for part in OFFERED:
        rate = part * reached
        tell(f"open loop: {rate:.0f} connections/s")
        arguments = ["--rate", f"{rate:.3f}", "--connections", str(connections), "--warm-up", str(connections // 10)]
        with start(WEFT) as controller:
            report = load(controller, *offer(WEFT, fabric), *arguments)
        result[f"{part:g}"] = {"rate": rate, "late_ms": report["late_ms"], **summary([report])}
    return result


def held(fabric: str, connections: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """The controller's memory and rate as the number of live connections grows to `connections`."""
    tell(f"memory: {connections:,} live connections")
    with start(WEFT) as controller:
        arguments = ["--in-progress", "64", "--connections", str(connections), "--give-up", "60"]
        return load(controller, *offer(WEFT, fabric), *arguments)
