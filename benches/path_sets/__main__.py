"""`python -m benches.path_sets`: takes the figures, shows them and writes them to a file."""

import json
import os
import random
import subprocess
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from benches.command import CONSOLE, Output, run, tables_console, telling, write
from benches.machine import describe, noise
from benches.path_sets import peers, show
from benches.path_sets.cases import ROOT, Case, drawn, fat_tree
from benches.ratio import ratios, spread
from weft import _weft

EXAMPLE = ROOT / "target/release/examples/path_sets"
ORDERS = ("paper", "disjoint")
COUNT = 8
WALKS = 20_000


class BenchError(Exception):
    """The benchmark failed."""


def native(case: Case, pairs: list[tuple[int, int]], passes: int, count: int = COUNT) -> dict[str, dict[str, float]]:
    """Figures of the Rust crate, by order: sets per second, and percentiles of the time per set."""
    graph = {"nodes": case.nodes, "edges": case.edges, "pairs": pairs, "passes": passes, "count": count}
    done = subprocess.run([EXAMPLE], input=json.dumps(graph), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{EXAMPLE.name}: {done.stderr.strip()}")
    answer: dict[str, dict[str, float]] = json.loads(done.stdout)
    return answer


def seconds_each(work: Callable[[int, int], object], pairs: list[tuple[int, int]]) -> float:
    """Mean time of `work` per pair."""
    begin = time.perf_counter()
    for start, end in pairs:
        work(start, end)
    return (time.perf_counter() - begin) / len(pairs)


def measure(case: Case, rounds: int, passes: int, sampled: int) -> dict[str, Any]:
    """Figures of a graph over all rounds: all pairs, and a sample of them against NetworkX."""
    graph, rng = case.networkx(), random.Random(1)
    sets: dict[str, dict[str, list[float]]] = {order: {} for order in ORDERS}
    weft, python, yen = [], [], []
    for _ in range(rounds):
        for order, row in native(case, case.pairs, passes).items():
            for key, value in row.items():
                sets[order].setdefault(key, []).append(value)
        pairs = rng.sample(case.pairs, sampled)
        weft.append(1 / native(case, pairs, 100)["paper"]["per_second"])
        for start, end in pairs:
            check(case, start, end, peers.yen(graph, start, end, COUNT))
        python.append(seconds_each(lambda start, end: ours(case, start, end), pairs))
        yen.append(seconds_each(lambda start, end: peers.yen(graph, start, end, COUNT), pairs))
    beside = {
        name: {"ratio": ratios(values, weft).json(), "ms": spread([1e3 * value for value in values]).json()}
        for name, values in (("yen", yen), ("python", python))
    }
    figures = {order: {key: spread(values).json() for key, values in row.items()} for order, row in sets.items()}
    return {"sets": figures, "beside": beside}


def ours(case: Case, start: int, end: int, count: int = COUNT) -> list[peers.Nodes]:
    """The paths of a set as node lists, computed through the Python API."""
    answer = _weft.path_set(case.nodes, case.edges, start, end, "paper", count)
    return [nodes for nodes, _ in json.loads(answer)]


def check(case: Case, start: int, end: int, theirs: list[peers.Nodes]) -> None:
    """Checks that NetworkX finds equally good paths; it may break ties differently.

    The choice of the first shortest path is such a tie and determines the edges that the others share with it,
    so only sets with the same first path can be compared.
    """
    mine = ours(case, start, end, len(theirs))
    if mine[0] == theirs[0] and peers.keys(mine) != peers.keys(theirs):
        raise BenchError(f"{case.name}, {start} to {end}: Weft {peers.keys(mine)}, NetworkX {peers.keys(theirs)}")


def small(rounds: int) -> dict[str, Any]:
    """Algorithm 1 as published, where feasible: all paths between two distant edge switches of a fat-tree k=4."""
    case = fat_tree(4)
    graph, (start, end) = case.networkx(), (0, 7)
    paths = peers.all_sorted(graph, start, end)
    check(case, start, end, paths)
    weft, naive = [], []
    for _ in range(rounds):
        weft.append(1 / native(case, [(start, end)], 20, len(paths))["paper"]["per_second"])
        naive.append(seconds_each(lambda start, end: peers.all_sorted(graph, start, end), [(start, end)]))
    ms = spread([1e3 * value for value in naive]).json()
    return {"name": case.name, "paths": len(paths), "ratio": ratios(naive, weft).json(), "ms": ms}


def given_up(case: Case, seconds: float) -> dict[str, Any]:
    """How many simple paths NetworkX lists within `seconds`, for the pair in the middle of the list."""
    start, end = case.pairs[len(case.pairs) // 2]
    paths, took, whole = peers.enumerated(case.networkx(), start, end, seconds)
    return {
        "paths": paths,
        "seconds": took,
        "all": whole,
        "estimate": peers.estimate(case.networkx(), start, end, WALKS),
    }


def pin() -> None:
    """Pins this process and its children to one core, at high priority if root."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        os.nice(-20)
    except PermissionError:
        CONSOLE.print("warning: not root, so other processes can preempt the benchmark")


def main(
    rounds: Annotated[int, typer.Option(min=1, help="rounds; each measures everything once")] = 9,
    seconds: Annotated[float, typer.Option(min=0.1, help="time limit for NetworkX's all_simple_paths")] = 60.0,
    quick: Annotated[bool, typer.Option("--quick", help="smoke test: two short rounds")] = False,
    output: Output = None,
) -> None:
    """Benchmark path sets against NetworkX in the same run (docs/path-sets.md)."""
    passes, sampled = 10, 20
    if quick:
        rounds, seconds, passes, sampled = 2, min(seconds, 1.0), 1, 2
    if not EXAMPLE.exists():
        CONSOLE.print(f"{EXAMPLE} is not built; run `make bench-paths`")
        raise typer.Exit(2)
    pin()
    cases = [fat_tree(8), drawn(200, 600)]
    document: dict[str, Any] = describe() | {"rounds": rounds, "count": COUNT}
    with telling() as tell, noise() as seen:
        document["cases"] = {}
        for case in cases:
            tell(f"{case.name}: path sets, and Yen's algorithm")
            document["cases"][case.name] = measure(case, rounds, passes, sampled)
        document["all_simple_paths"] = {}
        for case in cases:
            tell(f"{case.name}: all simple paths, at most {seconds:g} s")
            document["all_simple_paths"][case.name] = given_up(case, seconds)
        tell("all simple paths of a small fabric")
        document["small"] = small(rounds)
    document |= seen
    show.tables(document, tables_console(132))
    write(document, output)


if __name__ == "__main__":
    run(main, BenchError)
