"""Other ways to a path set, with NetworkX: Algorithm 1 as it is written, and Yen's algorithm with its costs."""

import random
import signal
import time
from itertools import islice, pairwise

import networkx

Nodes = list[int]
SHARED = 1 << 20
"""What a shared edge costs more than others: no path has as many edges."""


def edges_of(path: Nodes) -> list[tuple[int, int]]:
    """The edges of a path, the same in either direction."""
    return [(min(a, b), max(a, b)) for a, b in pairwise(path)]


def keys(paths: list[Nodes]) -> list[tuple[int, int]]:
    """What each path shares with the first, and its length: what Algorithm 1 sorts by."""
    first = set(edges_of(paths[0]))
    return [(len(first.intersection(edges_of(path))), len(path) - 1) for path in paths]


def all_sorted(graph: networkx.Graph, start: int, end: int) -> list[Nodes]:
    """Algorithm 1: the shortest path, then all simple paths, sorted."""
    primary: Nodes = networkx.shortest_path(graph, start, end)
    others = [path for path in networkx.all_simple_paths(graph, start, end) if path != primary]
    by_key = dict(zip(map(tuple, others), keys([primary, *others])[1:], strict=True))
    return [primary, *sorted(others, key=lambda path: by_key[tuple(path)])]


class _GivenUpError(Exception):
    """The time is over."""


def enumerated(graph: networkx.Graph, start: int, end: int, seconds: float) -> tuple[int, float, bool]:
    """How many simple paths were listed, in which time, and whether those were all; given up after `seconds`.

    The time is watched from outside: between two paths there may be hours.
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
    """About how many simple paths there are (Knuth, Mathematics of Computation 29, 1975).

    A random walk through the search for all paths, weighed by how many ways it had; the mean over walks is right on
    average, and mostly too low.
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
