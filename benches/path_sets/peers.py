"""Path sets computed with NetworkX: Algorithm 1 as published, and Yen's algorithm with its costs."""

import random
import signal
import time
from itertools import islice, pairwise

import networkx

Nodes = list[int]
SHARED = 1 << 20
"""Extra cost of a shared edge; no path has as many edges."""


def edges_of(path: Nodes) -> list[tuple[int, int]]:
    """The edges of a path, the same in either direction."""
    return [(min(a, b), max(a, b)) for a, b in pairwise(path)]


def keys(paths: list[Nodes]) -> list[tuple[int, int]]:
    """Algorithm 1's sort key of each path: edges shared with the first path, and length."""
    first = set(edges_of(paths[0]))
    return [(len(first.intersection(edges_of(path))), len(path) - 1) for path in paths]


def all_sorted(graph: networkx.Graph, start: int, end: int) -> list[Nodes]:
    """Algorithm 1: the shortest path, then all simple paths, sorted."""
    primary: Nodes = networkx.shortest_path(graph, start, end)
    others = [path for path in networkx.all_simple_paths(graph, start, end) if path != primary]
    by_key = dict(zip(map(tuple, others), keys([primary, *others])[1:], strict=True))
    return [primary, *sorted(others, key=lambda path: by_key[tuple(path)])]


class _GivenUpError(Exception):
    """The time limit was reached."""


def enumerated(graph: networkx.Graph, start: int, end: int, seconds: float) -> tuple[int, float, bool]:
    """The number of simple paths listed, the time taken, and whether they were all; stops after `seconds`.

    A signal enforces the limit: hours may pass between two paths.
    """

    def give_up(*_: object) -> None:
        raise _GivenUpError

    before = signal.signal(signal.SIGALRM, give_up)
    begin, found, whole = time.perf_counter(), 0, False
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        for _ in networkx.all_simple_paths(graph, start, end):
            found += 1
        whole = True
    except _GivenUpError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return found, time.perf_counter() - begin, whole


def estimate(graph: networkx.Graph, start: int, end: int, walks: int) -> float:
    """An estimate of the number of simple paths (Knuth, Mathematics of Computation 29, 1975).

    Random walks through the search tree of all paths, weighted by the number of choices; the mean over walks is
    unbiased, but mostly too low.
    """
    rng, total = random.Random(1), 0.0
    for _ in range(walks):
        node, seen, weight = start, {start}, 1.0
        while node != end:
            ways = [other for other in graph[node] if other not in seen]
            if not ways:
                weight = 0.0
                break
            weight *= len(ways)
            node = rng.choice(ways)
            seen.add(node)
        total += weight
    return total / walks


def yen(graph: networkx.Graph, start: int, end: int, count: int) -> list[Nodes]:
    """The shortest path, then the next ones by Yen's algorithm with Algorithm 1's costs."""
    primary: Nodes = networkx.shortest_path(graph, start, end)
    for a, b in graph.edges():
        graph[a][b]["cost"] = 1
    for a, b in pairwise(primary):
        graph[a][b]["cost"] += SHARED
    others = (path for path in networkx.shortest_simple_paths(graph, start, end, weight="cost") if path != primary)
    return [primary, *islice(others, count - 1)]
